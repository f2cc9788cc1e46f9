// Every form of a hook on a GPU: pointers to several spaces in one request, stacks, constants, switches, calls, assembly,
// atomics, parted and missing lanes, barriers in loops, a ring that is full, and variables set before any launch.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                              \
    do {                                                                                         \
        cudaError_t code = (call);                                                               \
        if (code != cudaSuccess) {                                                               \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(code));            \
            std::exit(1);                                                                        \
        }                                                                                        \
    } while (0)

__constant__ float c_weights[64];
__device__ int d_total;
__device__ unsigned d_table[256];

__device__ __noinline__ float weighted(const float *values, int at, int depth) {
    float sum = values[at] * c_weights[at & 63];
    if (depth > 0) sum += weighted(values, (at * 7 + depth) & 255, depth - 1);
    return sum;
}

__global__ void spaces(float *out, const float *in, int n) {
    __shared__ float tile[96];
    float mine[8];
    const int lane = threadIdx.x & 31, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 8; k++) mine[k] = i + k;
    tile[threadIdx.x] = in[i % n];
    __syncthreads();
    // Lanes of one load in three spaces.
    const float *from = lane % 3 == 0 ? in + i % n : lane % 3 == 1 ? tile + (threadIdx.x ^ 1) % 96 : mine + (i & 7);
    out[i] = *from + mine[(i * 5) & 7];
}

__global__ void ways(int *out, const float *in, int n) {
    const int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int found = 0;
    switch (i % 7) {
        case 0: found = d_table[i & 255]; break;
        case 1: found = (int)weighted(in, i & 255, i % 3); break;
        case 2: found = atomicAdd(&d_total, 1) >= 0; break;
        case 3: for (int k = 0; k < i % 11; k++) found += d_table[(i * k) & 255]; break;
        case 5: asm volatile("ld.global.u32 %0, [%1];" : "=r"(found) : "l"(d_table + (i & 255))); break;
        default: found = __shfl_xor_sync(__activemask(), i, 1) & 1; break;
    }
    out[i] = found;
}

__global__ void rounds(int *data, int n) {
    extern __shared__ int tile[];
    tile[threadIdx.x] = data[threadIdx.x];
    for (int step = 1; step < blockDim.x; step *= 2) {
        __syncthreads();
        const int other = threadIdx.x >= step ? tile[threadIdx.x - step] : 0;
        __syncthreads();
        tile[threadIdx.x] += other;
    }
    if (threadIdx.x < n) data[threadIdx.x] = tile[threadIdx.x];
}

// One warp sends more than a ring holds.
__global__ void full(unsigned *data, unsigned n, int rounds) {
    unsigned at = threadIdx.x * 977;
    for (int k = 0; k < rounds; k++) at = data[at % n] + at * 1664525u + 1013904223u;
    data[threadIdx.x] = at;
}

int main() {
    const int n = 2000;
    float weights[64], host[n];
    unsigned table[256];
    for (int i = 0; i < 64; i++) weights[i] = i % 5;
    for (int i = 0; i < n; i++) host[i] = i % 17;
    for (int i = 0; i < 256; i++) table[i] = i * i;
    CHECK(cudaMemcpyToSymbol(c_weights, weights, sizeof weights));
    CHECK(cudaMemcpyToSymbol(d_table, table, sizeof table));
    float *in, *out;
    int *found, *sums;
    unsigned *data;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, 96 * 24 * sizeof(float)));
    CHECK(cudaMalloc(&found, n * sizeof(int)));
    CHECK(cudaMalloc(&data, 4096 * sizeof(unsigned)));
    CHECK(cudaMallocManaged(&sums, 512 * sizeof(int)));
    CHECK(cudaMemset(data, 1, 4096 * sizeof(unsigned)));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    for (int i = 0; i < 512; i++) sums[i] = i;
    spaces<<<24, 96>>>(out, in, n);
    ways<<<dim3(4, 3), dim3(20, 9)>>>(found, in, n);
    CHECK(cudaDeviceSynchronize());
    rounds<<<1, 500, 500 * sizeof(int)>>>(sums, 400);
    full<<<1, 32>>>(data, 4096, 9000);
    CHECK(cudaDeviceSynchronize());
    // Refused: they never were, and are in no trace.
    rounds<<<0, 500, 500 * sizeof(int)>>>(sums, 400);
    rounds<<<1, 2048>>>(sums, 400);
    rounds<<<1, 500, 1 << 20>>>(sums, 400);
    cudaGetLastError();
    int total = 0;
    CHECK(cudaMemcpyFromSymbol(&total, d_total, sizeof total));
    CHECK(cudaFree(in));
    const bool right = sums[10] == 55 && total == (n + 4) / 7;
    std::printf("%d %d\n", sums[10], total);
    return right ? 0 : 1;
}
