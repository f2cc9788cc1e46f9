// Cases of a twentieth round (docs/design/findings.md); `// WORDS` mark lines. An argument runs a case alone.
#include <cstdio>
#include <cstring>
#include <vector>

// Several lanes take the same element, and the elements lie anywhere.
__global__ void shared_places(const float4 *places, const int *order, float *sums, int each) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 8; k++) {
        float4 place = places[order[(i / each * 8 + k) % 65536]]; // ELEMENTS OF SEVERAL LANES
        sum += place.x * place.w + place.y * place.z;
    }
    sums[i] = sum;
}

// Lanes of a row of the block share an element of their row of the array.
__global__ void one_of_each_row(const float *values, float *sums, int pitch) {
    int x = threadIdx.x, y = blockIdx.x * blockDim.y + threadIdx.y;
    sums[y * blockDim.x + x] = values[y * pitch] + x; // ONE OF EACH ROW
}

// A sorted list of the largest values; all of its functions become a part of the kernel.
class Largest {
public:
    __device__ Largest() {
#pragma unroll
        for (int k = 0; k < 6; k++) value_[k] = 0.0f, place_[k] = -1;
    }
    __device__ void insert(float value, int place) {
        int at = 5;
#pragma unroll 1
        while (at > 0 && value_[at - 1] < value) { // MOVED ON
            value_[at] = value_[at - 1]; // MOVED ON
            place_[at] = place_[at - 1]; // MOVED ON
            at--;
        }
        value_[at] = value;
        place_[at] = place;
    }
    __device__ float sum() const { return value_[0] + value_[5] + place_[2] + place_[3]; }

private:
    float value_[6];
    int place_[6];
};

__global__ void largest(const float *values, float *sums, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Largest best;
    for (int k = 0; k < count; k++) best.insert(values[(i + k * 977) & 65535], k);
    sums[i] = best.sum();
}

// Threads of a row of the picture, for columns of the filter.
__global__ void columns(const float *__restrict__ picture, float *__restrict__ out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
#pragma unroll
    for (int k = -6; k <= 6; k++) sum += picture[min(max(y + k, 0), height - 1) * width + x]; // ALONG A COLUMN
    out[y * width + x] = sum;
}

__global__ void pressures(const float *density, const float *energy, float *pressure, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) pressure[i] = density[i] * energy[i];
}

__global__ void speeds(const float *density, const float *pressure, float *speed, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) speed[i] = sqrtf(pressure[i] / density[i]); // BOTH LOAD
}

// A loop over one array finds what is looked up in another.
__global__ void looked_up(const int *found, int count, const int *partners, int *chosen) {
    for (int k = threadIdx.x; k < count; k += blockDim.x) {
        int at = found[blockIdx.x * count + k], partner = partners[at & 1023]; // LOOKED UP
        if (partner != at) chosen[at & 1023] = partner;
    }
}

__global__ void paired(int *partners) { partners[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x * 7; }

// A part that is used again for each frame, past which frames stream.
__global__ void corrected(const float2 *factors, const float *frames, float *results, int count, int size) {
    int first = blockIdx.x * size;
    for (int f = 0; f < count; f++) {
        for (int i = threadIdx.x; i < size; i += blockDim.x) {
            float2 factor = factors[first + i]; // AGAIN FOR EACH FRAME
            size_t at = size_t(f) * gridDim.x * size + first + i;
            results[at] = __ldcg(frames + at) * factor.x + factor.y;
        }
    }
}

// A region of rows that begins anywhere, in several arrays.
__global__ void difference(const float *one, const float *other, float *out, int pitch, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, at = blockIdx.y * pitch + x;
    if (x < width) out[at] = one[at] - other[at]; // A REGION
}

// A thread filters a row.
__global__ void filtered(const float *from, float *to, int length) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float kept = 0.0f;
    for (int k = 0; k < length; k++) {
        kept = 0.9f * kept + from[row * length + k]; // ROW TO ROW
        to[row * length + k] = kept;                 // ROW TO ROW
    }
}

struct Body {
    float x, y, z, mass, more[28];
};

// A few members of records that L2 does not hold, launch after launch.
__global__ void masses(const Body *bodies, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sums[i] += bodies[i].mass * bodies[i].x; // A FEW MEMBERS
}

struct Model {
    float *means, *weights;
};

// Small parts of a structure come back again and again.
void brought_back(const Model &model, float *means, float *weights) {
    cudaMemcpy(means, model.means, 400, cudaMemcpyDeviceToHost);     // A PART
    cudaMemcpy(weights, model.weights, 200, cudaMemcpyDeviceToHost); // A PART
}

__global__ void scored(Model model, float *scores) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    scores[i] = model.means[i % 100] * model.weights[i % 50];
}

// Frames of an odd size, several for a thread.
__global__ void frames(unsigned short *bytes, int frame, const float *factors, int pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 4;
    if (i >= pixels) return;
    float factor = factors[i];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        unsigned short *pixel = bytes + (first + k) * frame + 12 + i;
        *pixel = *pixel * factor; // SEVERAL FRAMES
    }
}

__constant__ unsigned table[256];

// Four lookups of one statement.
__global__ void mixed_words(const unsigned *words, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned w = words[i];
    for (int k = 0; k < 8; k++)
        w = table[w & 255] ^ table[w >> 8 & 255] ^ table[w >> 16 & 255] ^ table[w >> 24]; // FOUR LOOKUPS
    out[i] = w;
}

// Loads and stores of one statement.
__global__ void reflected(float *matrix, const float *vector, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    matrix[column * n + row] -= vector[row] * 2.0f; // IN PLACE
}

// Blocks of 8 x 8 words in shared memory: rows, then columns.
__global__ void transformed(const float *from, float *to) {
    __shared__ float tile[32 * 64];
    int t = threadIdx.x, block = t / 8 * 64;
    for (int r = 0; r < 8; r++) tile[block + r * 8 + t % 8] = from[(blockIdx.x * 8 + r) * 256 + t]; // BLOCKS
    __syncthreads();
    float v[8];
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = tile[block + t % 8 * 8 + k]; // A ROW EACH
#pragma unroll
    for (int k = 0; k < 8; k++) tile[block + t % 8 * 8 + k] = v[k] - v[7 - k]; // A ROW EACH
    __syncthreads();
    for (int r = 0; r < 8; r++) to[(blockIdx.x * 8 + r) * 256 + t] = tile[block + r * 8 + t % 8];
}

// What is found stands where it was, in memory that was cleared.
__global__ void peaks(const float *trace, float *found, float least) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = trace[i];
    if (value > least) found[i] = value; // WHERE IT WAS
}

__global__ void highest(const float *found, float *result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float best = found[i];
    for (int step = 16; step > 0; step /= 2) best = fmaxf(best, __shfl_xor_sync(~0u, best, step));
    if (threadIdx.x % 32 == 0) result[i / 32] = best;
}

// A few bytes of results for each launch.
__global__ void moments(const float *values, float2 *results, int each, int body) {
    float sum = 0.0f, squares = 0.0f;
    for (int k = threadIdx.x; k < each; k += 32) {
        float value = values[body * each + k];
        sum += value, squares += value * value;
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(~0u, sum, step);
        squares += __shfl_xor_sync(~0u, squares, step);
    }
    if (threadIdx.x == 0) results[body] = make_float2(sum, squares);
}

// A pointer moves on in a loop before something is looked up there.
__global__ void decoded(const unsigned short *codes, const int4 *book, int stride, int rows, int *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / 1024;
    while (row >= rows) book += stride, row -= rows;
    int4 entry = book[codes[i]]; // A CODE
    results[i] = entry.x + entry.y + entry.z + entry.w;
}

// Each thread counts where it has been, in a part of its own.
__global__ void wandered(const float *steps, unsigned *map, int count, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = 200.0f;
    for (int k = 0; k < count; k++) {
        x += steps[k * gridDim.x * blockDim.x + i];
        if (x >= 0.0f && x < size) map[i * size + int(x)]++; // A PLACE IN ITS PART
    }
}

// Sorted indices that leave elements out.
__global__ void picked(const float2 *values, const int *sorted, float *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 value = values[sorted[i]]; // IN ORDER
    results[i] = value.x * value.y;
}

// Keys by arithmetic in doubles.
__global__ void keys(int *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double s = 314159265.0 + 2.0 * i;
    for (int k = 0; k < 64; k++) s = s * 1220703125.0 - 70368744177664.0 * (long long)(s * 1220703125.0 / 70368744177664.0); // A GENERATOR
    results[i] = (int)(s / 1048576.0);
}

template <class T> T *fresh(size_t n) {
    T *memory;
    cudaMalloc(&memory, n * sizeof(T));
    return memory;
}

template <class T> T *filled(const std::vector<T> &values) {
    T *memory = fresh<T>(values.size());
    cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return memory;
}

template <class T> T *zeros(size_t n) {
    T *memory = fresh<T>(n);
    cudaMemset(memory, 0, n * sizeof(T));
    return memory;
}

unsigned mixed(unsigned i) {
    i *= 2654435761u;
    return (i ^ i >> 15) * 0x2c1b3c6du >> 7;
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
    if (runs("shared")) {
        shared_places<<<n / 256, 256>>>(zeros<float4>(n), filled(numbers(n, n)), fresh<float>(n), 3);
    }
    if (runs("row")) one_of_each_row<<<n / 256, dim3(8, 32)>>>(zeros<float>(n / 8 * 64), fresh<float>(n), 64);
    if (runs("largest")) {
        std::vector<float> values(n);
        for (int i = 0; i < n; i++) values[i] = mixed(i) % 1000;
        largest<<<n / 1024, 256>>>(filled(values), fresh<float>(n), 64);
    }
    if (runs("columns")) {
        int width = 4096, height = 256;
        columns<<<dim3(width / 1024, height), dim3(1024, 1)>>>(zeros<float>(width * height), fresh<float>(width * height), width, height);
    }
    if (runs("fused")) {
        int cells = 3 << 20;
        float *density = zeros<float>(cells), *energy = zeros<float>(cells), *pressure = fresh<float>(cells);
        pressures<<<cells / 256, 256>>>(density, energy, pressure, cells);
        speeds<<<cells / 256, 256>>>(density, pressure, fresh<float>(cells), cells);
    }
    if (runs("looked up")) {
        int *partners = fresh<int>(1024);
        paired<<<4, 256>>>(partners);
        looked_up<<<128, 256>>>(filled(numbers(128 * 4096, 1 << 20)), 4096, partners, fresh<int>(1024));
    }
    if (runs("frames")) {
        int blocks = 68, size = 7168, many = 10;
        corrected<<<blocks, 1024>>>(zeros<float2>(blocks * size), zeros<float>(blocks * size * many), fresh<float>(blocks * size * many), many, size);
    }
    if (runs("region")) {
        int pitch = 2048, rows = 512;
        float *one = zeros<float>(pitch * rows), *other = zeros<float>(pitch * rows), *out = fresh<float>(pitch * rows);
        difference<<<dim3(7, rows), 256>>>(one + 5, other + 5, out + 5, pitch, 1792);
    }
    if (runs("filtered")) filtered<<<64, 128>>>(zeros<float>(8192 * 128), fresh<float>(8192 * 128), 128);
    if (runs("masses")) {
        Body *bodies = zeros<Body>(3 * n);
        float *sums = zeros<float>(3 * n);
        for (int turn = 0; turn < 4; turn++) masses<<<3 * n / 256, 256>>>(bodies, sums, 3 * n);
    }
    if (runs("parts")) {
        Model model{zeros<float>(100), zeros<float>(50)};
        float means[100] = {1}, weights[50] = {1}, *scores = fresh<float>(n);
        for (int turn = 0; turn < 6; turn++) {
            scored<<<n / 256, 256>>>(model, scores);
            brought_back(model, means, weights);
        }
        printf("%g\n", means[0] + weights[0]);
    }
    if (runs("packets")) {
        int pixels = 65536, frame = pixels + 12;
        frames<<<dim3(pixels / 256, 4), 256>>>(zeros<unsigned short>(16 * frame + 16), frame, zeros<float>(pixels), pixels);
    }
    if (runs("lookups")) {
        std::vector<unsigned> values(256);
        for (int i = 0; i < 256; i++) values[i] = mixed(i) << 20 ^ mixed(i + 999);
        cudaMemcpyToSymbol(table, values.data(), 1024);
        std::vector<unsigned> words(n);
        for (int i = 0; i < n; i++) words[i] = mixed(i);
        mixed_words<<<n / 256, 256>>>(filled(words), fresh<unsigned>(n));
    }
    if (runs("reflected")) reflected<<<dim3(32, 512), dim3(32, 2)>>>(zeros<float>(1024 * 1024), zeros<float>(1024), 1024);
    if (runs("transformed")) transformed<<<64, 256>>>(zeros<float>(64 * 8 * 256), fresh<float>(64 * 8 * 256));
    if (runs("peaks")) {
        int samples = 1 << 21;
        std::vector<float> trace(samples);
        for (int i = 0; i < samples; i++) trace[i] = mixed(i) % 16;
        float *found = zeros<float>(samples);
        peaks<<<samples / 256, 256>>>(filled(trace), found, 14.5f);
        highest<<<samples / 256, 256>>>(found, fresh<float>(samples / 32));
    }
    if (runs("moments")) {
        float *values = zeros<float>(300 * 4096);
        float2 *results = fresh<float2>(300);
        for (int body = 0; body < 300; body++) moments<<<1, 32>>>(values, results, 4096, body); // A BODY EACH
    }
    if (runs("decoded")) {
        std::vector<unsigned short> codes(n);
        for (int i = 0; i < n; i++) codes[i] = mixed(i);
        decoded<<<n / 256, 256>>>(filled(codes), zeros<int4>(3 * 65536), 65536, 24, fresh<int>(n));
    }
    if (runs("wandered")) {
        int threads = 1 << 14, count = 32, size = 441;
        std::vector<float> steps(threads * count);
        for (size_t i = 0; i < steps.size(); i++) steps[i] = mixed(i) % 1024 / 256.0f - 1.9f;
        wandered<<<threads / 256, 256>>>(filled(steps), zeros<unsigned>(threads * size), count, size);
    }
    if (runs("picked")) {
        std::vector<int> sorted(n);
        for (int i = 0; i < n; i++) sorted[i] = i * 8 / 3 + mixed(i) % 2;
        picked<<<n / 256, 256>>>(zeros<float2>(n * 3), filled(sorted), fresh<float>(n));
    }
    if (runs("keys")) keys<<<n / 256, 256>>>(fresh<int>(n));
    cudaDeviceSynchronize();
    return 0;
}
