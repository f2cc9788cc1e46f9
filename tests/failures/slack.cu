// Reads a little before and behind arrays and throws the values away, as image filters do at their borders. The first
// argument sets how far: 64 elements go unnoticed on a GPU, 100000000 do not, 0 is right.
#include <cstdio>
#include <cstdlib>

__global__ void borders(const int *values, int *out, int count, int off)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        int before = values[i - off]; // bad
        int behind = values[i + off];
        out[i] = (i >= off) * before + (i < count - off) * behind;
    }
}

int check(int count, int off)
{
    int *values, *out, *host = (int *)malloc(count * sizeof(int));
    // The first allocations of their kind: nothing of the program lies before them.
    cudaMalloc(&values, count * sizeof(int));
    cudaMalloc(&out, count * sizeof(int));
    for (int i = 0; i < count; i++) {
        host[i] = i;
    }
    cudaMemcpy(values, host, count * sizeof(int), cudaMemcpyHostToDevice);
    borders<<<(count + 127) / 128, 128>>>(values, out, count, off);
    cudaMemcpy(host, out, count * sizeof(int), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        wrong += host[i] != (i >= off) * (i - off) + (i < count - off) * (i + off);
    }
    free(host);
    return wrong;
}

int main(int argc, char **argv)
{
    int off = argc > 1 ? atoi(argv[1]) : 0;
    int wrong = check(1000, off) + check(300000, off);
    cudaError_t error = cudaGetLastError();
    printf("%s\n", error != cudaSuccess ? cudaGetErrorName(error) : wrong ? "WRONG" : "RIGHT");
    return 0;
}
