// Squares managed memory. Planted: the host reads the results before it has waited for the kernel. Fixed: it waits.
#include <cstdio>

__global__ void square(float *squares, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) squares[i] = float(i) * i;
}

int main() {
    const int n = 1 << 16;
    float *squares;
    cudaMallocManaged(&squares, n * sizeof(float));
    for (int i = 0; i < n; ++i) squares[i] = 0;
    square<<<n / 256, 256>>>(squares, n);
#ifdef CURED
    cudaDeviceSynchronize();
#endif
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += squares[i]; // PLANTED
    std::printf("%g\n", sum);
    cudaFree(squares);
}
