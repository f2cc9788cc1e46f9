// Looks tides up in a table. Planted: the table is in constant memory, and each lane reads another entry. Fixed: in
// global memory, where neighbouring lanes read neighbouring entries.
#include <cstdio>
#include <vector>

constexpr int ENTRIES = 4096;
__constant__ float tides[ENTRIES];

__global__ void level(const float *copy, float *water, int hours) {
    int hour = blockIdx.x * blockDim.x + threadIdx.x;
    if (hour >= hours) return;
    float sum = 0;
    for (int moon = 0; moon < 8; ++moon) {
        int phase = (hour + 29 * moon) % ENTRIES;
#ifdef CURED
        sum += copy[phase];
#else
        sum += tides[phase]; // PLANTED
#endif
    }
    water[hour] = sum;
}

int main() {
    const int hours = 1 << 17;
    std::vector<float> table(ENTRIES, 0.125f);
    float *copy, *water;
    cudaMalloc(&water, hours * sizeof(float));
#ifdef CURED
    cudaMalloc(&copy, ENTRIES * sizeof(float));
    cudaMemcpy(copy, table.data(), ENTRIES * sizeof(float), cudaMemcpyHostToDevice);
#else
    copy = nullptr;
    cudaMemcpyToSymbol(tides, table.data(), ENTRIES * sizeof(float));
#endif
    level<<<hours / 256, 256>>>(copy, water, hours);
    std::vector<float> result(hours);
    cudaMemcpy(result.data(), water, hours * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%f\n", result[9]);
    cudaFree(water);
}
