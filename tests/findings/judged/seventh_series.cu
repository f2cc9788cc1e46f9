// A function that few lanes return from at once (docs/design/findings.md); `// WORDS` mark lines.
#include <cstdio>
#include <vector>

__device__ float series(unsigned n) {
    if (n == 0) return 0; // ZERO
    float x = 0;
#pragma unroll
    for (int k = 1; k < 64; ++k) x = x * (n + 0.5f * k) + 1.0f / k;
    return x;
}

__global__ void sums(const unsigned *numbers, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int turn = 0; turn < 8; ++turn) sum += series(numbers[i] * (turn + 1));
    out[i] = sum;
}

int main() {
    const int n = 1 << 18;
    unsigned *numbers;
    float *out;
    cudaMalloc(&numbers, sizeof(unsigned) * n);
    cudaMalloc(&out, sizeof(float) * n);
    std::vector<unsigned> values(n);
    for (int i = 0; i < n; ++i) values[i] = i * 7 % 12;
    cudaMemcpy(numbers, values.data(), sizeof(unsigned) * n, cudaMemcpyHostToDevice);
    sums<<<n / 256, 256>>>(numbers, out);
    cudaDeviceSynchronize();
    std::printf("done\n");
}
