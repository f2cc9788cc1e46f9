// Adds up forces between bonded beads. Planted: bonds join beads anywhere in memory. Fixed: beads are numbered along the chain.
#include <cstdio>
#include <numeric>
#include <vector>

__global__ void bonds(const float *bead, const int *first, const int *second, float *force, int count) {
    int bond = blockIdx.x * blockDim.x + threadIdx.x;
    if (bond >= count) return;
    float apart = bead[second[bond]] - bead[first[bond]]; // PLANTED
    force[bond] = -0.5f * apart;
}

int main() {
    const int beads = 1 << 20, count = beads - 1;
    std::vector<int> chain(beads);
    std::iota(chain.begin(), chain.end(), 0);
#ifndef CURED
    unsigned state = 3;
    for (int i = beads - 1; i > 0; --i) {
        state = state * 1664525u + 1013904223u;
        std::swap(chain[i], chain[(state >> 4) % (i + 1)]);
    }
#endif
    std::vector<float> positions(beads, 1.0f);
    float *bead, *force;
    int *first, *second;
    cudaMalloc(&bead, beads * sizeof(float));
    cudaMalloc(&force, beads * sizeof(float));
    cudaMalloc(&first, beads * sizeof(int));
    cudaMalloc(&second, beads * sizeof(int));
    cudaMemcpy(bead, positions.data(), beads * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(first, chain.data(), count * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(second, chain.data() + 1, count * sizeof(int), cudaMemcpyHostToDevice);
    bonds<<<beads / 256, 256>>>(bead, first, second, force, count);
    cudaMemcpy(positions.data(), force, count * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%f\n", positions[5]);
}
