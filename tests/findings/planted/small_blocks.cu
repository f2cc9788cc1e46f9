// Blurs an image. Planted: blocks of 4 x 4 threads fill half a warp and split each request into four rows. Fixed: 32 x 8.
#include <cstdio>
#include <vector>

__global__ void blur(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    float sum = in[y * width + x] + in[y * width + x - 1] + in[y * width + x + 1]; // PLANTED
    out[y * width + x] = sum / 3.0f;                                                // PLANTED
}

int main() {
    const int n = 512;
    std::vector<float> host(n * n, 3.0f);
    float *in, *out;
    cudaMalloc(&in, n * n * sizeof(float));
    cudaMalloc(&out, n * n * sizeof(float));
    cudaMemcpy(in, host.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
#ifdef CURED
    dim3 block(32, 8);
#else
    dim3 block(4, 4);
#endif
    dim3 grid(n / block.x, n / block.y);
    blur<<<grid, block>>>(in, out, n, n); // PLANTED
    cudaMemcpy(host.data(), out, n * n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[n + 5]);
    cudaFree(in);
    cudaFree(out);
}
