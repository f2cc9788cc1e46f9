// A derivative across layers, a thread to a point: no loop goes over the field, and five layers are more than L2 holds. And a copy that is made
// again and again, as a benchmark does.
#include <cuda_runtime.h>

__global__ void derive(const float *field, float *out, int layer, int layers) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.y;
    if (at >= layer || z < 2 || z >= layers - 2) return;
    const float *here = field + z * layer + at;
    out[z * layer + at] = here[-2 * layer] - 8 * here[-layer] + 8 * here[layer] - here[2 * layer]; // LAYERS
}

__global__ void copy(const float *from, float *to, int count) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) to[at] = from[at]; // THE SAME AGAIN
}

static void again() {
    const int count = 4 << 20;
    float *from, *to;
    cudaMalloc(&from, count * sizeof(float));
    cudaMalloc(&to, count * sizeof(float));
    cudaMemset(from, 0, count * sizeof(float));
    for (int turn = 0; turn < 6; turn++) copy<<<count / 256, 256>>>(from, to, count);
}

int main(int count, char **) {
    if (count > 1) {
        again();
        return cudaDeviceSynchronize() != cudaSuccess;
    }
    const int layer = 640 * 640, layers = 20;
    float *field, *out;
    cudaMalloc(&field, layer * layers * sizeof(float));
    cudaMalloc(&out, layer * layers * sizeof(float));
    cudaMemset(field, 0, layer * layers * sizeof(float));
    derive<<<dim3(layer / 256, layers), 256>>>(field, out, layer, layers);
    return cudaDeviceSynchronize() != cudaSuccess;
}
