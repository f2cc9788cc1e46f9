// Rows that one kernel goes along and another has side by side (docs/design/findings.md); `// WORDS` mark lines.
#include <cstdio>

// A recursion along each thread's row, which begins with one element of it.
__global__ void recursion(float *field, int width) {
    float *c = field + size_t(blockIdx.x * blockDim.x + threadIdx.x) * width;
    float sum = c[width - 1];
    for (int k = 0; k < width - 1; ++k) c[k] = sum = 0.5f * c[k] + 0.25f * sum; // ALONG
}

__global__ void scale(float *field, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int turn = 0; turn < 16; ++turn) field[size_t(turn) * gridDim.x * blockDim.x + i] *= by;
}

int main() {
    const int rows = 1 << 12, width = 256;
    float *field;
    cudaMalloc(&field, sizeof(float) * rows * width);
    cudaMemset(field, 0, sizeof(float) * rows * width);
    recursion<<<rows / 128, 128>>>(field, width);
    for (int turn = 0; turn < 4; ++turn) scale<<<rows * width / 16 / 256, 256>>>(field, 0.5f);
    cudaDeviceSynchronize();
    std::printf("done\n");
}
