// Cases of a thirteenth round of public programs (docs/design/findings.md); `// WORDS` mark lines.
#include <cstdio>
#include <vector>

// Sums that stay in memory throughout a loop along rows: their stores lie side by side, and nothing is transposed.
__global__ void multiply(int n, const float *matrix, const float *vector, float *result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    result[i] = 0.0f;
    for (int j = 0; j < n; j++) {
        result[i] += matrix[i * n + j] * vector[j]; // ADDED UP
    }
}

// Points become columns.
__global__ void invert(const float *points, float *columns, int n, int features) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int k = 0; k < features; k++) columns[i + n * k] = points[i * features + k]; // COLUMNS
}

// All lanes read one point, and each its own, of the same array.
__global__ void distances(const float *places, float *sums, int chosen, int n, int dimensions) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < dimensions; k++) {
        float own = places[k * n + i];
        float other = places[k * n + chosen]; // CHOSEN
        sum += (own - other) * (own - other);
    }
    sums[i] = sum;
}

// One block goes over more than L1 holds again and again.
__global__ void sweeps(const float *values, float *result, int n, int times) {
    float sum = 0.0f;
    for (int t = 0; t < times; t++)
        for (int i = threadIdx.x; i < n; i += blockDim.x) sum = sum * 0.5f + values[i]; // AGAIN
    result[threadIdx.x] = sum;
}

// A few threads have work, as their flags say.
__global__ void expand(const int *flags, float *results, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && flags[i] != 0) { // FLAG
        float x = 1.0f + i;
        for (int k = 0; k < 200; k++) x = x * 0.9f + 1.0f / (1.0f + x * x);
        results[i] = x;
    }
}

// Bits of words that lanes share.
__global__ void set_bits(const int *places, unsigned *words, int n) {
    __shared__ unsigned own[64];
    if (threadIdx.x < 64) own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicOr(&own[places[i] >> 5], 1u << (places[i] & 31)); // BITS
    __syncthreads();
    if (threadIdx.x < 64) atomicOr(&words[threadIdx.x], own[threadIdx.x]);
}

// The first word of each thread's part is read before the loop over the others.
__global__ void pack(const unsigned *parts, unsigned *packed, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned *own = parts + i * length;
    unsigned rest = own[0]; // FIRST WORD
    for (int k = 1; k < length; k++) {
        unsigned word = own[k]; // OTHER WORDS
        rest = rest << 1 ^ word;
    }
    packed[i] = rest;
}

// The two sides store to the same arrays, and the compiler makes one store of two.
__global__ void gradient(int n, const int *signs, const float *left, const float *right, float *__restrict__ to_left, float *__restrict__ to_right) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float distance = -signs[i] * (left[i] - right[i]);
        if (distance < 0.0f) {
            to_left[i] = to_right[i] = 0.0f; // TWO ARRAYS
        } else {
            to_left[i] = -signs[i] * left[i];
            to_right[i] = signs[i] * left[i];
        }
    }
}

// Every 32nd element of a picture.
__global__ void sample(const float *picture, float *small, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) small[i] = picture[i * 32];
}

// Each thread has eight neighbouring words.
__global__ void add_words(const unsigned *words, unsigned *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (int k = 0; k < 8; k++) sum = sum * 31 + words[i * 8 + k]; // EIGHT WORDS
    sums[i] = sum;
}

__device__ __noinline__ void next_state(int *digits, int count) {
    for (int k = 0; k < count; k++)
        if (++digits[k] < 3) return;
        else digits[k] = 0;
}

// What the loop sets to zero another function changes.
__global__ void count_states(const int *data, int *found, int digits_of_all, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int digits[8] = {0};
    for (int k = 0; k < digits_of_all; k++) digits[k] = 0;
    int sum = 0;
    for (int t = 0; t < 27; t++) {
        next_state(digits, digits_of_all);
        for (int k = 0; k < digits_of_all; k++) sum += data[(i + k) % n] == digits[k]; // DIGITS
    }
    found[i] = sum;
}

struct Tick {
    long long time;
    double price;
    int volume, flags;
};

// Each thread goes over every eighth tick of its minute.
__global__ void highest(const Tick *ticks, const int *begins, double *prices, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double most = 0.0;
#pragma unroll 1
    for (int k = begins[i]; k < begins[i + 1]; k += 8) most = fmax(most, ticks[k].price); // TICKS
    prices[i] = most;
}

// Nine threads of each block finish what all of it has begun.
__global__ void finish(const float *in, float *out, int groups) {
    __shared__ float all[256];
    all[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < groups) { // NINE
        float sum = 0;
        for (int k = 0; k < 28; k++) sum += sqrtf(all[threadIdx.x * 28 + k]) + cosf(sum);
        out[blockIdx.x * groups + threadIdx.x] = sum;
    }
}

// Blocks 85 threads wide, whose warps begin within rows.
__global__ void brighten(const float *in, float *out, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * width + x] = in[y * width + x] * 1.5f; // WITHIN ROWS
}

// Blocks of 84 threads take 21 sectors of doubles in a row: their warps begin on sectors wherever the row does.
__global__ void darken(const double *in, double *out, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * width + x] = in[y * width + x] * 0.5; // ODD ROWS
}

// Blocks of 100 threads take 25 sectors of doubles, and all begin behind the first double.
__global__ void behind_the_first(const double *in, double *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i + 1] * 0.5; // BEHIND ONE
}

// Rows of a tile that are longer than a warp.
__global__ void rows_of_tile(const float *in, float *out, int width, int height) {
    const float *tile = in + blockIdx.x * width * height;
    for (int i = threadIdx.y; i < height; i += blockDim.y)
        for (int j = threadIdx.x; j < width; j += blockDim.x) { // TILE ROW
            float x = tile[i * width + j];
            for (int k = 0; k < 30; k++) x = x * 0.9f + 1.0f / (1.0f + x * x);
            out[(blockIdx.x * height + i) * width + j] = x;
        }
}

constexpr int SIZE = 256;

// A column of what `row_sums` goes through row by row.
__global__ void scale_column(float *table, int column, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    table[i * SIZE + column] *= factor; // COLUMN
}

__global__ void row_sums(const float *table, float *sums) {
    float sum = 0.0f;
    for (int i = 0; i < SIZE; i++) sum += table[i * SIZE + threadIdx.x];
    sums[threadIdx.x] = sum;
}

static float *upload(const std::vector<float> &values) {
    float *memory;
    cudaMalloc(&memory, values.size() * sizeof(float));
    cudaMemcpy(memory, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice); // FRESH
    return memory;
}

int main() {
    const int n = 1 << 14;
    std::vector<float> ones(SIZE * SIZE, 1.0f), zeros(n, 0.0f);
    float *matrix = upload(ones), *vector = upload(std::vector<float>(SIZE, 2.0f));
    float *first = upload(zeros), *second = upload(zeros), *third = upload(zeros);
    float *places_of_points = upload(std::vector<float>(1024 * 12, 1.0f));
    for (int i = 0; i < 2; i++) multiply<<<SIZE / 64, 64>>>(SIZE, matrix, vector, first);
    invert<<<n / 32 / 128, 128>>>(matrix, second, n / 32, 24);
    for (int i = 0; i < 4; i++) distances<<<8, 128>>>(places_of_points, third, i, 1024, 12);
    sweeps<<<1, 256>>>(matrix, first, SIZE * SIZE, 12);
    std::vector<int> flags(n), places(n);
    for (int i = 0; i < n; i++) flags[i] = i * 7919 % 8 < 2, places[i] = i * 7919 % 2048;
    int *d_flags, *d_places;
    unsigned *words, *packed;
    cudaMalloc(&d_flags, n * sizeof(int));
    cudaMemcpy(d_flags, flags.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    for (int i = 0; i < 4; i++) expand<<<n / 256, 256>>>(d_flags, second, n);
    for (int i = 0; i < n; i++) places[i] = i / 4 % 2048;
    cudaMalloc(&d_places, n * sizeof(int));
    cudaMemcpy(d_places, places.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&words, 64 * sizeof(unsigned));
    cudaMemset(words, 0, 64 * sizeof(unsigned));
    for (int i = 0; i < 8; i++) set_bits<<<4, 256>>>(d_places, words, n);
    cudaMalloc(&packed, 1024 * sizeof(unsigned));
    for (int i = 0; i < 4; i++) pack<<<8, 128>>>(reinterpret_cast<unsigned *>(matrix), packed, 64);
    for (int i = 0; i < SIZE; i++) scale_column<<<SIZE / 64, 64>>>(matrix, i, 1.5f);
    for (int i = 0; i < 8; i++) row_sums<<<1, SIZE>>>(matrix, third);
    std::vector<float> noise(n);
    for (int i = 0; i < n; i++) noise[i] = i % 2 ? 1.0f : -1.0f;
    float *left = upload(noise), *right = upload(zeros);
    cudaMemcpy(d_flags, std::vector<int>(n, 1).data(), n * sizeof(int), cudaMemcpyHostToDevice);
    for (int i = 0; i < 24; i++) gradient<<<n / 256, 256>>>(n, d_flags, left, right, second, third);
    for (int i = 0; i < 4; i++) add_words<<<8, 128>>>(reinterpret_cast<unsigned *>(matrix), packed);
    count_states<<<8, 128>>>(d_flags, reinterpret_cast<int *>(packed), 3, n);
    std::vector<int> begins(257);
    for (int i = 0; i < 257; i++) begins[i] = i * 64 + i * 7919 % 31;
    int *d_begins;
    Tick *ticks;
    double *prices;
    cudaMalloc(&d_begins, 257 * sizeof(int));
    cudaMemcpy(d_begins, begins.data(), 257 * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&ticks, (n + 64) * sizeof(Tick));
    cudaMemset(ticks, 0, (n + 64) * sizeof(Tick));
    cudaMalloc(&prices, 256 * sizeof(double));
    for (int i = 0; i < 40; i++) highest<<<2, 128>>>(ticks, d_begins, prices, 256);
    for (int i = 0; i < 20; i++) rows_of_tile<<<32, dim3(32, 4)>>>(first, second, 48, 10);
    for (int i = 0; i < 20; i++) finish<<<32, 256>>>(first, second, 9);
    for (int i = 0; i < 20; i++) brighten<<<dim3(4, 12), dim3(85, 3)>>>(first, second, 340);
    double *doubles, *halves;
    cudaMalloc(&doubles, 340 * 40 * sizeof(double));
    cudaMemset(doubles, 0, 340 * 40 * sizeof(double));
    cudaMalloc(&halves, 340 * 40 * sizeof(double));
    for (int i = 0; i < 20; i++) darken<<<dim3(4, 4), dim3(84, 8)>>>(doubles, halves, 337);
    for (int i = 0; i < 20; i++) behind_the_first<<<64, 100>>>(doubles, halves);
    const int samples = 4096;
    std::vector<float> pixels(samples * 32, 3.0f);
    float *picture;
    cudaMalloc(&picture, pixels.size() * sizeof(float));
    cudaMemcpy(picture, pixels.data(), pixels.size() * sizeof(float), cudaMemcpyHostToDevice); // SAMPLED
    sample<<<samples / 256, 256>>>(picture, third, samples);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
