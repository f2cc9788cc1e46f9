// Operations in code for a GPU: scalars and vectors of all widths, fused products with each sign, parted lanes, shared
// and constant memory, functions, and a loop over barriers. tests/end_to_end/emulated_gpu.rs compares the values.
#include <cstdio>
#include <cuda_fp16.h>

__constant__ double c_factors[4] = {0.5, -3.0, 0.0, 1e300};
// One for each warp: the previous values do not depend on the order of warps.
__device__ unsigned long long d_sums[9];

__device__ __noinline__ long long mixed(long long left, int right) {
    return right % 3 == 0 ? left * right - 5 : left / (right + 1) + (left ^ right);
}

__global__ void scalars(const double *x, double *y, long long *n, unsigned char *bytes, float z) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = x[i];
    y[i] = v * c_factors[i & 3] + 1.0;
    if (i & 1) y[i] -= v * v;
    float f = (float)v;
    y[i] += z - f * f;
    n[i] = mixed(n[i], i);
    bytes[i] = (unsigned char)(bytes[i] + (v > 3.0) + (fminf(f, 2.0f) == 2.0f));
    if (i % 5 == 0) atomicAdd(&d_sums[i / 32], (unsigned long long)n[i]);
    if (i % 7 == 0) atomicCAS((unsigned *)&n[i], 4u, 9u);
    y[i] += sqrt(fabs(v)) + __popc(i);
}

__global__ void vectors(const float4 *x, float4 *y, __half2 *h, int n) {
    __shared__ float4 tile[64];
    int t = threadIdx.x;
    tile[t] = x[blockIdx.x * blockDim.x + t];
    for (int step = 1; step < n; step *= 2) {
        __syncthreads();
        float4 other = tile[(t + step) & 63];
        __syncthreads();
        tile[t].x += other.y * 2.0f;
        tile[t].w = fmaf(other.z, other.w, -tile[t].w);
    }
    int i = blockIdx.x * blockDim.x + t;
    y[i] = tile[t];
    h[i] = __hfma2(h[i], __float2half2_rn(2.0f), h[i]);
}

int main() {
    const int count = 96 * 3;
    double hx[count];
    long long hn[count];
    for (int i = 0; i < count; i++) {
        hx[i] = 0.25 * i - 7;
        hn[i] = 1000000007ll * i - 3;
    }
    double *x, *y;
    long long *n;
    unsigned char *bytes;
    float4 *a, *b;
    __half2 *h;
    cudaMalloc(&x, sizeof hx);
    cudaMalloc(&y, sizeof hx);
    cudaMalloc(&n, sizeof hn);
    cudaMalloc(&bytes, count);
    cudaMalloc(&a, 128 * sizeof *a);
    cudaMalloc(&b, 128 * sizeof *b);
    cudaMalloc(&h, 128 * sizeof *h);
    cudaMemcpy(x, hx, sizeof hx, cudaMemcpyHostToDevice);
    cudaMemcpy(n, hn, sizeof hn, cudaMemcpyHostToDevice);
    cudaMemset(bytes, 3, count);
    cudaMemcpy(a, hx, 128 * sizeof *a, cudaMemcpyHostToDevice);
    cudaMemset(h, 0x3c, 128 * sizeof *h);
    scalars<<<3, 96>>>(x, y, n, bytes, 1.5f);
    vectors<<<2, 64>>>(a, b, h, 8);
    cudaError_t code = cudaDeviceSynchronize();
    printf("%s operations\n", code == cudaSuccess ? "PASS" : "FAIL");
    return code != cudaSuccess;
}
