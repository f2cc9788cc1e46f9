// A derivative across layers, a thread to a point: no loop goes over the field, and five layers are more than L2 holds.
#include <cuda_runtime.h>

__global__ void derive(const float *field, float *out, int layer, int layers) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.y;
    if (at >= layer || z < 2 || z >= layers - 2) return;
    const float *here = field + z * layer + at;
    out[z * layer + at] = here[-2 * layer] - 8 * here[-layer] + 8 * here[layer] - here[2 * layer]; // LAYERS
}

int main() {
    const int layer = 640 * 640, layers = 20;
    float *field, *out;
    cudaMalloc(&field, layer * layers * sizeof(float));
    cudaMalloc(&out, layer * layers * sizeof(float));
    cudaMemset(field, 0, layer * layers * sizeof(float));
    derive<<<dim3(layer / 256, layers), 256>>>(field, out, layer, layers);
    return cudaDeviceSynchronize() != cudaSuccess;
}
