// Operations whose operands and results are known: tests/end_to_end/operations.rs computes them again.
#include <cstdio>

__global__ void mix(const float *x, const int *n, float *y, int *m, unsigned *sum, float scale) {
    int i = threadIdx.x;
    y[i] = scale * x[i] + 1.0f;
    y[i + 64] = x[i] / scale;
    m[i] = n[i] * n[i + 64];
    if (n[i] < 20) {
        m[i + 64] = (int)x[i];
    }
    atomicAdd(sum, (unsigned)n[i]);
}

int main() {
    float *x, *y, hx[64];
    int *n, *m, hn[128];
    unsigned *sum, total = 0;
    for (int i = 0; i < 64; i++) {
        hx[i] = 0.5f * i;
        hn[i] = i;
        hn[i + 64] = 100 - i;
    }
    cudaMalloc(&x, sizeof hx);
    cudaMalloc(&y, 2 * sizeof hx);
    cudaMalloc(&n, sizeof hn);
    cudaMalloc(&m, sizeof hn);
    cudaMalloc(&sum, 4);
    cudaMemset(sum, 0, 4);
    cudaMemcpy(x, hx, sizeof hx, cudaMemcpyHostToDevice);
    cudaMemcpy(n, hn, sizeof hn, cudaMemcpyHostToDevice);
    mix<<<1, 64>>>(x, n, y, m, sum, 4.0f);
    cudaMemcpy(&total, sum, 4, cudaMemcpyDeviceToHost);
    printf("%s\n", total == 63 * 64 / 2 ? "PASS values" : "FAIL values");
    return 0;
}
