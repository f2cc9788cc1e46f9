// Transposes a matrix through shared memory. Planted: rows of the tile are 32 words long, so that a column lies in one bank.
// Fixed: 33 words.
#include <cstdio>
#include <vector>

#define TILE 32
#ifdef CURED
#define PITCH (TILE + 1)
#else
#define PITCH TILE
#endif

__global__ void transpose(const float *in, float *out, int n) {
    __shared__ float tile[TILE][PITCH];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int row = 0; row < TILE; row += 8) tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int row = 0; row < TILE; row += 8) out[(y + row) * n + x] = tile[threadIdx.x][threadIdx.y + row]; // PLANTED
}

int main() {
    const int n = 1024;
    std::vector<float> host(n * n, 1.0f);
    float *in, *out;
    cudaMalloc(&in, n * n * sizeof(float));
    cudaMalloc(&out, n * n * sizeof(float));
    cudaMemcpy(in, host.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
    transpose<<<dim3(n / TILE, n / TILE), dim3(TILE, 8)>>>(in, out, n);
    cudaMemcpy(host.data(), out, n * n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[1]);
    cudaFree(in);
    cudaFree(out);
}
