// Evaluates a polynomial of floats. Planted: the constants are doubles, and so is all arithmetic with them. Fixed: floats.
#include <cstdio>
#include <vector>

#ifdef CURED
#define C(x) x##f
#else
#define C(x) x
#endif

__global__ void polynomial(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int term = 0; term < 32; ++term) {
        sum = sum * x[i] * C(1.000123) + C(0.3333); // PLANTED
    }
    y[i] = sum;
}

int main() {
    const int n = 1 << 17;
    std::vector<float> host(n, 0.5f);
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    polynomial<<<n / 256, 256>>>(x, y, n);
    cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[0]);
    cudaFree(x);
    cudaFree(y);
}
