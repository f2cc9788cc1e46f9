// Cases of a twelfth round of public programs (docs/design/findings.md); `// WORDS` mark lines.
#include <cstdio>
#include <cub/block/block_reduce.cuh>
#include <cub/thread/thread_operators.cuh>
#include <cub/util_type.cuh>
#include <vector>

// Warps of a block count in the same bins, each by a load and a store of its own.
__global__ void count(const int *kinds, int *bins, int n) {
    int *own = bins + blockIdx.x * 64;
    for (int i = threadIdx.x; i < n; i += blockDim.x) own[kinds[i]]++; // UPDATE
}

// Each thread takes all of a key of ten bytes, a byte at a time.
__global__ void mix_keys(const unsigned char *keys, unsigned *mixed, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char *key = keys + 10 * i;
    unsigned sum = key[0]; // KEY
    sum = sum * 31 + key[1];
    sum = sum * 31 + key[2];
    sum = sum * 31 + key[3];
    sum = sum * 31 + key[4];
    sum = sum * 31 + key[5];
    sum = sum * 31 + key[6];
    sum = sum * 31 + key[7];
    sum = sum * 31 + key[8];
    sum = sum * 31 + key[9];
    mixed[i] = sum;
}

struct Particle {
    float x, y, z, mass;
    int cell, kind, age, id;
};

// Each thread has four neighbouring particles.
__global__ void weigh(const Particle *particles, float *weights, int n) {
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
        int i = blockIdx.x * 4 * blockDim.x + threadIdx.x * 4 + k;
        if (i < n) sum += particles[i].mass; // ITEMS
    }
    weights[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// The last step of a counting sort.
__global__ void place(const int *keys, const int *begins, const int *ranks, int *sorted, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sorted[begins[keys[i]] + ranks[i]] = keys[i]; // SORTED
}

// As many iterations as a number has bits.
__global__ void bits(const unsigned *numbers, int *counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = numbers[i];
    int count = 0;
    for (; x; count++) x &= x - 1; // BITS
    counts[i] = count;
}

// A block of 128 threads has 100 elements.
__global__ void pairs(const float *places, float *forces) {
    const float *own = places + blockIdx.x * 100;
    float force = 0;
    if (threadIdx.x < 100) { // HUNDRED
        float x = own[threadIdx.x];
        for (int j = 0; j < 100; ++j) force += 1.0f / (1.0f + (x - own[j]) * (x - own[j]));
        forces[blockIdx.x * 100 + threadIdx.x] = force;
    }
}

// A table that happens to be small.
__global__ void search(const float *steps, const float *values, int *found, int steps_of_all, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = values[i];
    int last = 0;
    for (int k = 0; k < steps_of_all; ++k) last += steps[k] < value; // STEPS
    found[i] = last;
}

// A block sorts the part whose begin and end data says.
__global__ void halves(const float *values, float *out, const int2 *parts) {
    int2 part = parts[blockIdx.x];
    for (int i = part.x + threadIdx.x; i < part.y; i += blockDim.x) out[i] = 2 * values[i]; // PART
}

// A scan up a tree of pairs; the optimiser puts the stores of both sides behind the branch.
__global__ void scan(const float *in, float *out) {
    __shared__ float sums[512];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    sums[2 * t] = in[2 * i];
    sums[2 * t + 1] = in[2 * i + 1];
    __syncthreads();
    for (int step = 1; step < 512; step *= 2) {
        float even = sums[2 * t], odd = sums[2 * t + 1];
        if (2 * t >= step) even = sums[2 * t - step] + sums[2 * t], odd = sums[2 * t + 1 - step] + sums[2 * t + 1];
        __syncthreads();
        sums[2 * t] = even;
        sums[2 * t + 1] = odd;
        __syncthreads();
    }
    if (t == 0) {
        out[2 * i] = 0;
        out[2 * i + 1] = sums[2 * t];
    } else {
        out[2 * i] = sums[2 * t - 1]; // BOTH SIDES
        out[2 * i + 1] = sums[2 * t]; // BOTH SIDES
    }
}

// The letters of a code, which each thread writes down for itself.
__global__ void encode(const unsigned char *bytes, unsigned char *text, int n) {
    const unsigned char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) text[i] = letters[bytes[i] % 64]; // LETTERS
}

// The mean of each element's neighbours.
__global__ void smooth(const float *in, float *out, int width, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < width; ++k)
        if (i + k - width / 2 >= 0 && i + k - width / 2 < n) sum += in[i + k - width / 2]; // WINDOW
    out[i] = sum / width;
}

// A block's largest value, by an algorithm of CUB.
__global__ void largest(const float *in, float *out) {
    typedef cub::BlockReduce<cub::KeyValuePair<int, float>, 256> Reduce;
    __shared__ typename Reduce::TempStorage temp;
    cub::KeyValuePair<int, float> own(threadIdx.x, in[blockIdx.x * 256 + threadIdx.x]);
    own = Reduce(temp).Reduce(own, cub::ArgMax()); // LARGEST
    if (threadIdx.x == 0) out[blockIdx.x] = own.value;
}

// Six threads of a whole grid have something to do.
__global__ void add_arrays(const float *arrays, float *sums, int arrays_of_all, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < arrays_of_all) { // FEW
        float sum = 0;
        for (int k = 0; k < length; ++k) sum += sqrtf(arrays[i * length + k]);
        sums[i] = sum;
    }
}

// Each thread keeps a stack of what rises, over a series of its own.
__global__ void rises(const float *series, const int *begins, float *stacks, int *depths, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float *stack = stacks + begins[i];
    int top = -1;
    for (int k = begins[i]; k < begins[i + 1]; ++k) {
        float value = series[k]; // ALONG
        while (top >= 0 && stack[top] > value) --top; // STACK
        stack[++top] = value;
    }
    depths[i] = top;
}

int main() {
    const int n = 1 << 16;
    std::vector<int> kinds(n), begins(256), ranks(n), times(256);
    std::vector<unsigned> numbers(n);
    std::vector<int2> parts(64);
    for (int i = 0; i < n; ++i) kinds[i] = i * 7919 % 61, numbers[i] = i * 2654435761u;
    std::vector<int> keys(n);
    for (int i = 0; i < n; ++i) keys[i] = (i * 2654435761u) >> 24, ranks[i] = times[keys[i]]++;
    for (int i = 1; i < 256; ++i) begins[i] = begins[i - 1] + times[i - 1];
    for (int i = 0; i < 64; ++i) parts[i] = {i * 1000 + i * 37 % 11, (i + 1) * 1000};
    int *d_kinds, *bins, *d_keys, *d_begins, *d_ranks, *sorted, *counts, *found;
    unsigned *d_numbers, *mixed;
    unsigned char *bytes;
    float *rows, *weights, *forces, *steps, *values;
    Particle *particles;
    int2 *d_parts;
    cudaMalloc(&d_kinds, n * sizeof(int));
    cudaMemcpy(d_kinds, kinds.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&bins, 16 * 64 * sizeof(int));
    cudaMemset(bins, 0, 16 * 64 * sizeof(int));
    count<<<16, 256>>>(d_kinds, bins, 2048);
    cudaMalloc(&rows, 256 * 100 * sizeof(float));
    cudaMemset(rows, 0, 256 * 100 * sizeof(float));
    cudaMalloc(&bytes, 10 * n);
    cudaMemset(bytes, 1, 10 * n);
    cudaMalloc(&mixed, n * sizeof(unsigned));
    mix_keys<<<n / 256, 256>>>(bytes, mixed, n);
    cudaMalloc(&particles, n * sizeof(Particle));
    cudaMemset(particles, 0, n * sizeof(Particle));
    cudaMalloc(&weights, n / 4 * sizeof(float));
    weigh<<<n / 1024, 256>>>(particles, weights, n);
    cudaMalloc(&d_keys, n * sizeof(int));
    cudaMemcpy(d_keys, keys.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_begins, 256 * sizeof(int));
    cudaMemcpy(d_begins, begins.data(), 256 * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_ranks, n * sizeof(int));
    cudaMemcpy(d_ranks, ranks.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&sorted, n * sizeof(int));
    place<<<n / 256, 256>>>(d_keys, d_begins, d_ranks, sorted, n);
    cudaMalloc(&d_numbers, n * sizeof(unsigned));
    cudaMemcpy(d_numbers, numbers.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
    cudaMalloc(&counts, n * sizeof(int));
    for (int i = 0; i < 4; ++i) bits<<<n / 256, 256>>>(d_numbers, counts, n);
    cudaMalloc(&forces, 256 * 100 * sizeof(float));
    for (int i = 0; i < 4; ++i) pairs<<<256, 128>>>(rows, forces);
    cudaMalloc(&steps, 200 * sizeof(float));
    cudaMemset(steps, 0, 200 * sizeof(float));
    cudaMalloc(&values, n * sizeof(float));
    cudaMemset(values, 0, n * sizeof(float));
    cudaMalloc(&found, n * sizeof(int));
    search<<<n / 256, 256>>>(steps, values, found, 200, n);
    cudaMalloc(&d_parts, 64 * sizeof(int2));
    cudaMemcpy(d_parts, parts.data(), 64 * sizeof(int2), cudaMemcpyHostToDevice);
    for (int i = 0; i < 20; ++i) halves<<<64, 128>>>(values, reinterpret_cast<float *>(sorted), d_parts);
    for (int i = 0; i < 4; ++i) scan<<<n / 512, 256>>>(values, reinterpret_cast<float *>(sorted));
    encode<<<n / 256, 256>>>(bytes, reinterpret_cast<unsigned char *>(sorted), n);
    smooth<<<n / 256, 256>>>(values, reinterpret_cast<float *>(sorted), 7, n);
    largest<<<n / 256, 256>>>(values, reinterpret_cast<float *>(sorted));
    for (int i = 0; i < 10; ++i) add_arrays<<<64, 256>>>(values, reinterpret_cast<float *>(sorted), 6, 10000);
    std::vector<int> series(513);
    std::vector<float> heights(n);
    for (int i = 0; i < 513; ++i) series[i] = i * 120 + i * i % 7;
    for (int i = 0; i < n; ++i) heights[i] = i * 7919 % 1009;
    cudaMemcpy(values, heights.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    int *d_series, *depths;
    float *stacks;
    cudaMalloc(&d_series, 513 * sizeof(int));
    cudaMemcpy(d_series, series.data(), 513 * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&stacks, n * sizeof(float));
    cudaMalloc(&depths, 512 * sizeof(int));
    rises<<<4, 128>>>(values, d_series, stacks, depths, 512);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
