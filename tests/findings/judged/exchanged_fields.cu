// A step over three fields whose blocks are laid out with threadIdx.y along the rows: one exchange of the indices cures all accesses.
#include <cuda_runtime.h>

struct Field {
    float *values;
    int pitch;
    __device__ float &at(int x, int y) const { return values[y * pitch + x]; }
};

__global__ void curl(Field h, Field ex, Field ey) {
    int x = blockIdx.x * blockDim.y + threadIdx.y, y = blockIdx.y * blockDim.x + threadIdx.x;
    if (x + 1 < h.pitch && y + 1 < h.pitch) h.at(x, y) += 0.5f * (ex.at(x, y + 1) - ex.at(x, y) - ey.at(x + 1, y) + ey.at(x, y)); // CURL
}

int main() {
    const int size = 2048;
    Field fields[3];
    for (Field &field : fields) {
        cudaMalloc(&field.values, size * size * sizeof(float));
        cudaMemset(field.values, 0, size * size * sizeof(float));
        field.pitch = size;
    }
    curl<<<dim3(size / 16, size / 16), dim3(16, 16)>>>(fields[0], fields[1], fields[2]);
    return cudaDeviceSynchronize() != cudaSuccess;
}
