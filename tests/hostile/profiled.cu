// Two kernels whose addresses have expressions, a gather, a barrier, atomics and a copy: the profile that `hostile_documents` changes.
#include <cstdio>
__global__ void scale(float *out, const float *in, int n, int pitch)
{
    __shared__ float tile[64];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= n) return;
    tile[threadIdx.x] = in[y * pitch + x];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 4; ++i) sum += in[(y * pitch + x * 2 + i) % (n * 2)];
    out[y * pitch + x] = sum + tile[(threadIdx.x * 2) % 64];
}
__global__ void gather(float *out, const int *index, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&out[index[i] & 63], in[i]);
}
int main()
{
    float *a, *b; int *c;
    cudaMalloc(&a, 4096 * 4); cudaMalloc(&b, 4096 * 4); cudaMalloc(&c, 4096 * 4);
    int host[512]; for (int i = 0; i < 512; ++i) host[i] = i * 37;
    cudaMemcpy(c, host, sizeof host, cudaMemcpyHostToDevice);
    scale<<<dim3(4, 4), 64>>>(a, b, 200, 256);
    gather<<<4, 64>>>(a, c, b, 250);
    scale<<<dim3(2, 4), 64>>>(a, b, 100, 256);
    puts(cudaDeviceSynchronize() == cudaSuccess ? "ok" : "failed");
}
