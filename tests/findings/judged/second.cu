// Small cases whose findings were wrong, or missing, when a second set of planted programs was tried. Lines are found by the words
// behind `//`.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

struct View {
    float *data;
    int rows, cols;
};

__global__ void row_sums(View m, float *sums) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < m.cols; c++) sum += m.data[row * m.cols + c]; // MEMBER
    sums[row] = sum;
}

__global__ void planes(float *u, int ny, int nz) {
    int i = threadIdx.x, j = threadIdx.y, k = blockIdx.x;
    u[(i * ny + j) * nz + k] = 1.0f; // PRODUCT
}

__global__ void gray(const unsigned char *rgb, unsigned char *result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    result[i] = (rgb[3 * i] + rgb[3 * i + 1] + rgb[3 * i + 2]) / 3; // CHANNELS
}

__global__ void smooth(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 4 || i >= n - 4) return;
    float sum = 0;
#pragma unroll
    for (int k = -4; k <= 4; k++) sum += in[i + k]; // NEIGHBOURS
    out[i] = sum;
}

__global__ void sparse(const int *begin, const int *columns, const float *x, float *y) {
    int row = blockIdx.x, lane = threadIdx.x;
    float sum = 0;
    for (int k = begin[row] + lane; k < begin[row + 1]; k += 32) sum += x[columns[k]]; // SPARSE ROW
    y[row * 32 + lane] = sum;
}

__global__ void colours(float3 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = make_float3(i, 1, 2); // THREE FLOATS
}

__global__ void private_bins(const unsigned char *data, unsigned *result, int n) {
    __shared__ unsigned bins[64 * 32];
    unsigned *own = bins + threadIdx.x * 32;
    for (int i = threadIdx.x; i < n; i += 64) own[data[i] & 31]++; // OWN BINS
    __syncthreads();
    unsigned sum = 0;
    for (int i = 0; i < 32; i++) sum += bins[i * 64 + threadIdx.x];
    result[threadIdx.x] = sum;
}

template <int K> __global__ void best_of(const float *data, float *out, int n, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float best[K];
    for (int k = 0; k < K; k++) best[k] = -1e30f;
    for (int i = 0; i < n; i++) {
        float v = data[i * rows + row];
        if (v <= best[K - 1]) continue;
        int p = K - 1;
        while (p > 0 && best[p - 1] < v) best[p] = best[p - 1], --p; // TAKEN APART
        best[p] = v;                                                // TAKEN APART
    }
    for (int k = 0; k < K; k++) out[k * rows + row] = best[k];
}

__global__ void guarded(const int *flags, int *hits, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (flags[i] > 3) hits[i] = flags[i]; // SHORT GUARD
}

__global__ void scaled(const double *in, double *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2.0 * in[i]; // ONE PRODUCT
}

__global__ void warp_sums(const float *in, float *total, int n) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum); // PER WARP
}

__global__ void product(const float *a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 0;
    for (int j = 0; j < n; j++) y[i] += a[j * n + i] * x[j]; // ACCUMULATED
}

__global__ void product_in_register(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 0;
    for (int j = 0; j < n; j++) y[i] += a[j * n + i] * x[j]; // IN A REGISTER
}

__global__ void step(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + 1.0f;
}

struct Release {
    void operator()(float *memory) const { cudaFree(memory); }
};
using Memory = std::unique_ptr<float, Release>;

Memory reserve(size_t n) {
    float *raw = nullptr;
    cudaMalloc(&raw, n * sizeof(float)); // HELPER
    return Memory(raw);
}

float partial_sum(const float *data) {
    float *partial, result;
    cudaMalloc(&partial, 256); // UNROLLED CHURN
    step<<<1, 64>>>(data, partial);
    cudaMemcpy(&result, partial, sizeof result, cudaMemcpyDeviceToHost);
    cudaFree(partial);
    return result;
}

int main() {
    const int n = 1 << 17;
    std::vector<float> host(n, 1.0f);
    float *data, *other;
    cudaMalloc(&data, n * sizeof(float));
    cudaMalloc(&other, n * sizeof(float));
    cudaMemcpy(data, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    row_sums<<<8, 64>>>({data, 512, 256}, other);
    planes<<<64, dim3(32, 8)>>>(data, 8, 64);
    gray<<<64, 256>>>((unsigned char *)data, (unsigned char *)other);
    smooth<<<n / 256, 256>>>(data, other, n);

    std::vector<int> begin(257), columns(256 * 64);
    for (int i = 0; i <= 256; i++) begin[i] = i * 63;
    for (int i = 0; i < 256 * 64; i++) columns[i] = i % 16001;
    int *begins, *indices;
    cudaMalloc(&begins, begin.size() * sizeof(int));
    cudaMalloc(&indices, columns.size() * sizeof(int));
    cudaMemcpy(begins, begin.data(), begin.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(indices, columns.data(), columns.size() * sizeof(int), cudaMemcpyHostToDevice);
    sparse<<<256, 32>>>(begins, indices, data, other);

    colours<<<64, 256>>>((float3 *)other);
    unsigned *counts;
    cudaMalloc(&counts, 64 * sizeof(unsigned));
    private_bins<<<1, 64>>>((unsigned char *)data, counts, 4096);
    for (int i = 0; i < n; i++) host[i] = i * 37 % 101 + i / 4096;
    cudaMemcpy(data, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    best_of<16><<<16, 64>>>(data, other, 32, 1024);
    guarded<<<n / 256, 256>>>((int *)data, (int *)other, n);
    scaled<<<n / 2 / 256, 256>>>((double *)data, (double *)other);
    warp_sums<<<64, 256>>>(data, other, n);
    product<<<1, 256>>>(data, other, other + 1024, 256);
    product_in_register<<<1, 256>>>(data, other, other + 1024, 256);

    // The trip counts are constants: each turn has a call path of its own after unrolling.
    float total = 0;
    for (int i = 0; i < 12; i++) total += partial_sum(data);
    for (int i = 0; i < 12; i++) {
        cudaMemcpy(data, host.data(), n * sizeof(float), cudaMemcpyHostToDevice); // BACK AND FORTH
        step<<<n / 256, 256>>>(data, other);
        std::swap(data, other);
        cudaMemcpy(host.data(), data, n * sizeof(float), cudaMemcpyDeviceToHost);
    }
    std::vector<std::vector<float>> rows(300, std::vector<float>(512, 2.0f));
    for (int i = 0; i < 300; i++) rows[i][0] = i;
    float *matrix;
    cudaMalloc(&matrix, 300 * 512 * sizeof(float));
    for (int i = 0; i < 300; i++) cudaMemcpy(matrix + i * 512, rows[i].data(), 2048, cudaMemcpyHostToDevice); // ROWS
    step<<<600, 256>>>(matrix, matrix);

    float *pageable = (float *)malloc(n * 8 * sizeof(float)), *far;
    cudaMalloc(&far, n * 8 * sizeof(float));
    for (int i = 0; i < n * 8; i++) pageable[i] = i;
    cudaMemcpyAsync(far, pageable, n * 8 * sizeof(float), cudaMemcpyHostToDevice, 0); // NOT PINNED
    step<<<n * 8 / 256, 256>>>(far, far);

    Memory workspace = reserve(n * 4); // FOR WHOM
    float *mapped, *reached;
    cudaHostAlloc(&mapped, n * 4 * sizeof(float), cudaHostAllocMapped);
    for (int i = 0; i < n * 4; i++) mapped[i] = i;
    cudaHostGetDevicePointer(&reached, mapped, 0);
    for (int i = 0; i < 3; i++) smooth<<<n * 2 / 256, 256>>>(reached, far, n * 2);
    cudaDeviceSynchronize();
    std::printf("%g\n", total + pageable[3]);
}
