// Cases of a nineteenth round (docs/design/findings.md); `// WORDS` mark lines. An argument runs a case alone.
#include <cstdio>
#include <cstring>
#include <vector>

// The first half of each few elements meets the second half, in place.
__global__ void exchanged(int *values, int length, int direction) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int part = i / length, half = length / 2;
    if (i < part * length + half) { // FIRST HALF OF EACH
        int here = values[i], there = values[i + half];
        bool rises = part / direction % 2 == 0;
        if (here > there == rises) {
            values[i] = there;        // SWAPPED HERE
            values[i + half] = here;  // SWAPPED THERE
        }
    }
}

// Rows of a small matrix that loaded numbers choose.
__global__ void chosen_rows(const float *matrix, const int *rows, float *sums, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int c = 0; c < columns; c++) sum += matrix[rows[i] * columns + c]; // ALONG A CHOSEN ROW
    sums[i] = sum;
}

// A window over the next elements, by a distance that the host gives.
__global__ void windows(const float *values, float *sums, int length, int distance) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 1; k < length; k++) sum = sum * 0.5f + values[i + k * distance]; // SLIDES
    sums[i] = sum;
}

// Rows with a border on both sides.
__global__ void inner(const float *__restrict__ from, float *__restrict__ to, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, at = blockIdx.y * (width + 2) + x;
    if (x <= width) to[at] = from[at] * 0.5f; // BEHIND A BORDER
}

// One lane of eight writes what they have together.
__global__ void leaders(const float *values, float *logs, const int *wanted, int each) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = values[i];
    for (int step = 4; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (wanted != nullptr && i % each == 0) { // ONE OF EIGHT
        float exact = logf(sum + 1.0f) + expf(-sum);
        logs[i / each] = exact / (1.0f + sum);
    }
}

// Which sum a thread has to make depends on its number.
__global__ void cases(const float *values, float *results, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, kind = i % size / 4;
    float sum = 0.0f;
    if (kind == 0) { // FIRST CASE
#pragma unroll 1
        for (int k = 0; k < 40; k++) sum += values[k] * (i + k);
    }
    if (kind == 1) { // SECOND CASE
#pragma unroll 1
        for (int k = 0; k < 40; k++) sum += values[2 * k] * values[i % 64 + k];
    }
    if (kind == 2) { // THIRD CASE
#pragma unroll 1
        for (int k = 0; k < 40; k++) sum += values[3 * k] - values[i % 32 + k];
    }
    results[i] = sum;
}

// Each thread reads a stream of its own, by as many bytes as it says.
__global__ void streams(const unsigned char *bytes, const int *begins, int *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, begin = begins[i], at = 0, sum = 0;
    for (int k = 0; k < 64; k++) {
        int length = bytes[begin + at] & 3; // ALONG A STREAM
        sum = sum * 31 + length;
        at += 1 + length;
    }
    sums[i] = sum;
}

struct Picture {
    const float *pixels;
    int width, height;
    __device__ float at(int x, int y) const {
        x = min(max(x, 0), width - 1);
        y = min(max(y, 0), height - 1);
        return pixels[y * width + x]; // HELD WITHIN
    }
};

// A block is a column.
__global__ void blurred(Picture picture, float *results) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = -1; k <= 1; k++) sum += picture.at(x + k, y) + picture.at(x, y + k);
    results[y * picture.width + x] = sum; // BY COLUMNS
}

// One member stays what it was.
__global__ void brighter(float4 *pixels, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 p = pixels[i];
    pixels[i] = make_float4(p.x * factor, p.y * factor, p.z * factor, p.w); // ALL BUT ONE
}

// Arrays of constant indices, of which a function has the address.
__device__ __noinline__ void advanced(const float *slopes, float *state, float step) {
#pragma unroll
    for (int k = 0; k < 4; k++) state[k] = state[k] * 0.99f + slopes[k] * step;
}

__global__ void integrated(float *results, float step, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float place[4], speed[4];
    for (int k = 0; k < 4; k++) place[k] = i + k;
    for (int turn = 0; turn < turns; turn++) {
#pragma unroll
        for (int k = 0; k < 4; k++) speed[k] = place[3 - k] * 0.5f; // HANDED ON
        advanced(speed, place, step);
    }
    results[i] = place[0] + place[1] + place[2] + place[3];
}

// How far lanes are apart is loaded.
__global__ void unpacked(const int *bits, const int *values, int *results) {
    __shared__ int parts[1024];
    int each = *bits, sum = 0;
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) parts[k] = values[k];
    __syncthreads();
    int begin = threadIdx.x * 32 / each;
    for (int k = 0; k < 100; k++) sum += parts[(begin + k) & 1023]; // LOADED DISTANCE
    results[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

struct Entry {
    float2 value[3][3];
};

// A table of a few structures.
__global__ void looked_up(const Entry *table, float *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 3; k++) sum += table[i % 36 / 9].value[k][i % 3].x; // FEW STRUCTURES
    results[i] = sum;
}

__global__ void checked(const int *values, int *wrong) {
    if (values[threadIdx.x] != 0) atomicAdd(wrong, 1);
}

__global__ void polynomial(const float *a, const float *b, const float *c, float *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    results[i] = a[i % 4] * b[i % 4] + c[i % 4] * i;
}

// Rings of a square, turned by a quarter.
__global__ void turned(float *square, int n) {
    int ring = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = ring; k < n - 1 - ring; k++) {
        float kept = square[ring * n + k];                                                  // RING
        square[ring * n + k] = square[(n - 1 - k) * n + ring];                              // RING
        square[(n - 1 - k) * n + ring] = square[(n - 1 - ring) * n + n - 1 - k];            // RING
        square[(n - 1 - ring) * n + n - 1 - k] = square[k * n + n - 1 - ring];              // RING
        square[k * n + n - 1 - ring] = kept;                                                // RING
    }
}

// Every second thread, every fourth one, ...
__global__ void summed(const float *values, float *sums) {
    __shared__ double parts[256];
    int t = threadIdx.x;
    parts[t] = values[blockIdx.x * 256 + t];
    for (int step = 1; step < 256; step *= 2) {
        __syncthreads();
        if (t % (2 * step) == 0) parts[t] += parts[t + step]; // EVERY SECOND THREAD
    }
    if (t == 0) sums[blockIdx.x] = parts[0];
}

struct Lamp {
    float x, y, z, reach, red, green, blue, unused;
};

// All threads go through the lamps.
__global__ void lit(const Lamp *lamps, int count, float *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < count; k++) {
        sum += (lamps[k].x - i) * lamps[k].y + lamps[k].z; // A LAMP
        sum += lamps[k].reach * lamps[k].red;              // A LAMP
        sum += lamps[k].green + lamps[k].blue;             // A LAMP
    }
    results[i] = sum;
}

// Neighbouring elements belong to the same row.
__global__ void row_sums(const float *values, const int *rows, float *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&sums[rows[i]], values[i]); // ROWS IN ORDER
}

// Each warp of a block updates the same words, as many as a launch has.
__global__ void counted(int *words, int count) {
    if (threadIdx.x % 32 < count) atomicAdd(&words[threadIdx.x % 32], 1); // A WORD EACH
}

template <class T> T *fresh(size_t n) {
    T *memory;
    cudaMalloc(&memory, n * sizeof(T));
    cudaMemset(memory, 0, n * sizeof(T));
    return memory;
}

template <class T> T *filled(const std::vector<T> &values) {
    T *memory = fresh<T>(values.size());
    cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return memory;
}

unsigned mixed(unsigned i) {
    return i * 2654435761u >> 7;
}

std::vector<int> numbers(int n, int below) {
    std::vector<int> all(n);
    for (int i = 0; i < n; i++) all[i] = mixed(i) % below;
    return all;
}

int main(int count, char **arguments) {
    const char *only = count > 1 ? arguments[1] : "";
    auto runs = [&](const char *name) { return !strcmp(only, name); };
    const int n = 1 << 16;
    if (runs("halves")) {
        int *values = filled(numbers(n, 1 << 20));
        for (int length = 128; length > 1; length /= 2) exchanged<<<n / 256, 256>>>(values, length, 64);
    }
    if (runs("rows")) chosen_rows<<<n / 256, 256>>>(fresh<float>(1024), filled(numbers(n, 32)), fresh<float>(n), 32);
    if (runs("windows")) windows<<<n / 256, 256>>>(fresh<float>(n + 64), fresh<float>(n), 8, 1);
    if (runs("inner")) inner<<<dim3(4, 512), 256>>>(fresh<float>(1026 * 512), fresh<float>(1026 * 512), 1024);
    if (runs("leaders")) leaders<<<n / 256, 256>>>(fresh<float>(n), fresh<float>(n / 8), fresh<int>(1), 8);
    if (runs("cases")) cases<<<n / 256, 256>>>(fresh<float>(256), fresh<float>(n), 12);
    if (runs("streams")) {
        std::vector<int> begins(n);
        for (int i = 0; i < n; i++) begins[i] = mixed(i) % (1 << 20);
        std::vector<unsigned char> bytes((1 << 20) + 256);
        for (size_t i = 0; i < bytes.size(); i++) bytes[i] = mixed(i);
        streams<<<n / 256, 256>>>(filled(bytes), filled(begins), fresh<int>(n));
    }
    if (runs("columns")) {
        Picture picture{fresh<float>(768 * 512), 768, 512};
        blurred<<<dim3(768, 4), dim3(1, 128)>>>(picture, fresh<float>(768 * 512));
    }
    if (runs("brighter")) brighter<<<n / 256, 256>>>(fresh<float4>(n), 2.0f);
    if (runs("integrated")) integrated<<<n / 256, 256>>>(fresh<float>(n), 0.01f, 20);
    if (runs("unpacked")) unpacked<<<64, 128>>>(filled(std::vector<int>{10}), filled(numbers(1024, 100)), fresh<int>(64 * 128));
    if (runs("table")) looked_up<<<n / 288, 288>>>(fresh<Entry>(4), fresh<float>(n));
    if (runs("flag")) {
        int *values = fresh<int>(256), *wrong = fresh<int>(4), errors[4], sum = 0;
        for (int turn = 0; turn < 40; turn++) {
            checked<<<1, 256>>>(values, wrong);
            cudaMemcpy(errors, wrong, sizeof errors, cudaMemcpyDeviceToHost); // A FLAG
            sum += errors[0];
        }
        printf("%d\n", sum);
    }
    if (runs("coefficients")) {
        float *a = fresh<float>(4), *b = fresh<float>(4), *c = fresh<float>(4), *results = fresh<float>(n), zeros[4] = {1, 2, 3, 4};
        for (int turn = 0; turn < 40; turn++) {
            cudaMemcpy(a, zeros, sizeof zeros, cudaMemcpyHostToDevice); // COEFFICIENTS
            cudaMemcpy(b, zeros, sizeof zeros, cudaMemcpyHostToDevice); // COEFFICIENTS
            cudaMemcpy(c, zeros, sizeof zeros, cudaMemcpyHostToDevice); // COEFFICIENTS
            polynomial<<<n / 256, 256>>>(a, b, c, results);
        }
    }
    if (runs("turned")) turned<<<2, 64>>>(fresh<float>(256 * 256), 256);
    if (runs("summed")) summed<<<512, 256>>>(fresh<float>(512 * 256), fresh<float>(512));
    if (runs("lit")) lit<<<n / 256, 256>>>(fresh<Lamp>(96), 96, fresh<float>(n));
    if (runs("sorted")) {
        std::vector<int> rows(1 << 20);
        for (size_t i = 0; i < rows.size(); i++) rows[i] = i / 24;
        row_sums<<<4096, 256>>>(fresh<float>(1 << 20), filled(rows), fresh<float>(1 << 16));
    }
    if (runs("turns"))
        for (int turn = 0; turn < 6; turn++) counted<<<2048, 256>>>(fresh<int>(128), 32 >> turn);
    cudaDeviceSynchronize();
    return 0;
}
