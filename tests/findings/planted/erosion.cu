// Wears terrain down along columns of tiles. Planted: the tile's rows are 32 floats, and a warp walks down a column. Fixed: a row
// has one more.
#include <cstdio>
#include <vector>

constexpr int SIDE = 32;
#ifdef CURED
constexpr int PITCH = SIDE + 1;
#else
constexpr int PITCH = SIDE;
#endif

template <int Rounds>
__global__ void erode(const float *height, float *worn, int width) {
    __shared__ float terrain[SIDE * PITCH];
    int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE;
    for (int row = threadIdx.y; row < SIDE; row += blockDim.y) terrain[row * PITCH + threadIdx.x] = height[(y + row) * width + x];
    __syncthreads();
    float sum = 0;
    for (int round = 0; round < Rounds; ++round) {
        int column = (threadIdx.y + round * 8) % SIDE;
        sum += terrain[threadIdx.x * PITCH + column] * (round + 1); // PLANTED
    }
    worn[(y + threadIdx.y) * width + x] = sum;
}

int main() {
    const int width = 1024;
    std::vector<float> map(width * width, 3.5f);
    float *height, *worn;
    cudaMalloc(&height, map.size() * sizeof(float));
    cudaMalloc(&worn, map.size() * sizeof(float));
    cudaMemset(worn, 0, map.size() * sizeof(float));
    cudaMemcpy(height, map.data(), map.size() * sizeof(float), cudaMemcpyHostToDevice);
    erode<24><<<dim3(width / SIDE, width / SIDE), dim3(32, 8)>>>(height, worn, width);
    cudaMemcpy(map.data(), worn, map.size() * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%f\n", map[99]);
}
