// Series of which kernels take the end alone, a piece of each row, and an image of which they sample every eighth point.
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

const int series = 4096, days = 1024, window = 128;

__global__ void mean_of_window(const float *values, float *means) {
    const float *last = values + (blockIdx.x * blockDim.y + threadIdx.y) * days + days - window;
    float sum = 0;
    for (int day = threadIdx.x; day < window; day += 32) sum += last[day];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x == 0) means[blockIdx.x * blockDim.y + threadIdx.y] = sum / window;
}

__global__ void sample(const float *image, float *samples) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    samples[at] = image[32 * at];
}

int main(int, char **arguments) {
    std::vector<float> host(series * days, 1.0f);
    float *values, *means;
    cudaMalloc(&values, host.size() * sizeof(float));
    cudaMalloc(&means, host.size() * sizeof(float));
    if (!strcmp(arguments[1], "pieces")) {
        cudaMemcpy(values, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice); // A PIECE OF EACH ROW
        mean_of_window<<<series / 8, dim3(32, 8)>>>(values, means);
    } else {
        cudaMemcpy(values, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice); // SAMPLES
        sample<<<series * days / 32 / 256, 256>>>(values, means);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
