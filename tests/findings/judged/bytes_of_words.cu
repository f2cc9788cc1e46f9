// Each thread takes all bytes of four words, one by one, and stops early where the data says: its accesses are not made equally often.
#include <cuda_runtime.h>

__global__ void sums(const int *words, int *out, int count) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    int sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if ((at + k) % 37 == 36) break;
        const signed char *bytes = reinterpret_cast<const signed char *>(&words[4 * at + k]);
        sum += bytes[0] + bytes[1] * 3 + bytes[2] * 5 + bytes[3] * 7; // BYTE BY BYTE
    }
    out[at] = sum;
}

int main() {
    const int count = 1 << 18;
    int *words, *out;
    cudaMalloc(&words, 4 * count * sizeof(int));
    cudaMalloc(&out, count * sizeof(int));
    cudaMemset(words, 1, 4 * count * sizeof(int));
    sums<<<count / 256, 256>>>(words, out, count);
    return cudaDeviceSynchronize() != cudaSuccess;
}
