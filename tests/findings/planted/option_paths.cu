// Prices Asian options by simulated paths. Planted: each thread writes its path into a row of its own. Fixed: a column of its own.
#include <cstdio>
#include <vector>

struct Market {
    float spot, drift, volatility;
};

__device__ float next_normal(unsigned &state) {
    float sum = 0;
    for (int i = 0; i < 4; ++i) {
        state = state * 1664525u + 1013904223u;
        sum += (state >> 8) * (1.0f / 16777216.0f);
    }
    return (sum - 2.0f) * 1.7320508f;
}

__global__ void simulate(float *paths, Market market, int count, int steps) {
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= count) return;
    unsigned state = 977u * path + 1u;
    float price = market.spot;
    for (int step = 0; step < steps; ++step) {
        price *= 1.0f + market.drift + market.volatility * next_normal(state);
#ifdef CURED
        paths[(size_t)step * count + path] = price;
#else
        paths[(size_t)path * steps + step] = price; // PLANTED
#endif
    }
}

int main() {
    const int count = 1 << 15, steps = 64;
    float *paths;
    cudaMalloc(&paths, sizeof(float) * count * steps);
    simulate<<<count / 256, 256>>>(paths, Market{100.0f, 0.0001f, 0.01f}, count, steps);
    std::vector<float> prices((size_t)count * steps);
    cudaMemcpy(prices.data(), paths, sizeof(float) * count * steps, cudaMemcpyDeviceToHost);
    std::printf("%f\n", prices[12345]);
    cudaFree(paths);
}
