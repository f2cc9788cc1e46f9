// A blur along rows by blocks of 16 x 16 threads, out of a tile in shared memory. Planted: both rows of a warp meet in the same
// banks, as rows of the tile are 64 words long. Fixed: 80 words.
#include <cstdio>
#include <vector>

#ifdef CURED
#define LENGTH 80
#else
#define LENGTH 64
#endif

__global__ void blur(const float *in, float *out, int width) {
    __shared__ float tile[16][LENGTH];
    int row = blockIdx.y * 16 + threadIdx.y;
    int column = blockIdx.x * 48;
    for (int part = 0; part < 4; part++) {
        tile[threadIdx.y][part * 16 + threadIdx.x] = in[row * width + column + part * 16 + threadIdx.x]; // PLANTED
    }
    __syncthreads();
    for (int part = 0; part < 3; part++) {
        float sum = 0;
        for (int tap = 0; tap <= 16; tap++) {
            sum += tile[threadIdx.y][part * 16 + threadIdx.x + tap]; // PLANTED
        }
        out[row * width + column + part * 16 + threadIdx.x] = sum / 17.0f;
    }
}

int main() {
    const int width = 48 * 16 + 16, height = 512;
    std::vector<float> host(width * height, 3.0f);
    float *in, *out;
    cudaMalloc(&in, width * height * sizeof(float));
    cudaMalloc(&out, width * height * sizeof(float));
    cudaMemcpy(in, host.data(), width * height * sizeof(float), cudaMemcpyHostToDevice);
    blur<<<dim3(16, height / 16), dim3(16, 16)>>>(in, out, width);
    cudaMemcpy(host.data(), out, width * height * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[5]);
    cudaFree(in);
    cudaFree(out);
}
