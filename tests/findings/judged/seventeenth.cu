// Cases of the eighteenth round's last reader.
#include <cuda_runtime.h>

// One attempt in each turn, of which nobody asks what came of it.
__global__ void attempts(int *turn) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 64; i++) atomicCAS(turn, thread - 1, thread); // NOT REPEATED
}

// Planes of channels, to channels side by side.
__global__ void permute(const float *planes, float *packed, int channels, int points) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int picture = i / (channels * points), channel = i / points % channels, point = i % points;
    packed[(picture * points + point) * channels + channel] = planes[i]; // PERMUTED
}

int main() {
    const int channels = 64, points = 4096, pictures = 16, all = channels * points * pictures;
    int *turn;
    float *planes, *packed;
    cudaMalloc(&turn, sizeof(int));
    cudaMalloc(&planes, all * sizeof(float));
    cudaMalloc(&packed, all * sizeof(float));
    cudaMemset(turn, 0, sizeof(int));
    cudaMemset(planes, 0, all * sizeof(float));
    attempts<<<64, 256>>>(turn);
    permute<<<all / 256, 256>>>(planes, packed, channels, points);
    cudaDeviceSynchronize();
    return 0;
}
