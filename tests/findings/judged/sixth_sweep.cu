// A kernel that sweeps one buffer three times, and then another one (docs/design/findings.md); `// WORDS` mark lines.
#include <cstdio>

__global__ void add(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] += in[i]; // SWEPT
}

int main() {
    const int n = 1 << 21;
    float *out;
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(out, 0, n * sizeof(float));
    for (int buffer = 0; buffer < 2; ++buffer) {
        float *in;
        cudaMalloc(&in, n * sizeof(float));
        cudaMemset(in, 0, n * sizeof(float));
        for (int turn = 0; turn < 3; ++turn) add<<<n / 256, 256>>>(in, out);
        cudaDeviceSynchronize();
        cudaFree(in);
    }
    std::printf("done\n");
}
