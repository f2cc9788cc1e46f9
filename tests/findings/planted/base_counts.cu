// Counts the bases of a genome. Planted: every thread adds to one of four counters in global memory. Fixed: each thread
// counts a piece alone, a warp adds up, and one lane per warp and base updates the counter of its block.
#include <cstdio>
#include <vector>

class Genome {
public:
    explicit Genome(int length) : length_(length) {
        std::vector<char> text(length);
        unsigned state = 5;
        for (char &base : text) {
            state = state * 1664525u + 1013904223u;
            base = "ACGT"[state >> 30];
        }
        cudaMalloc(&bases_, length);
        cudaMemcpy(bases_, text.data(), length, cudaMemcpyHostToDevice);
    }
    ~Genome() { cudaFree(bases_); }
    const char *bases() const { return bases_; }
    int length() const { return length_; }

private:
    char *bases_;
    int length_;
};

__device__ int code(char base) { return base == 'A' ? 0 : base == 'C' ? 1 : base == 'G' ? 2 : 3; }

__global__ void census(const char *bases, int length, int *census) {
#ifdef CURED
    int found[4] = {0, 0, 0, 0};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) {
        int base = code(bases[i]);
        for (int k = 0; k < 4; ++k) found[k] += base == k;
    }
    for (int k = 0; k < 4; ++k) {
        int sum = found[k];
        for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
        if (threadIdx.x % 32 == 0) atomicAdd(&census[k], sum);
    }
#else
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) atomicAdd(&census[code(bases[i])], 1); // PLANTED
#endif
}

int main() {
    Genome genome(1 << 20);
    int *counts, host[4];
    cudaMalloc(&counts, sizeof host);
    cudaMemset(counts, 0, sizeof host);
#ifdef CURED
    census<<<272, 256>>>(genome.bases(), genome.length(), counts);
#else
    census<<<genome.length() / 256, 256>>>(genome.bases(), genome.length(), counts);
#endif
    cudaMemcpy(host, counts, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]);
    cudaFree(counts);
}
