// Updates soil from the same weather stations in each step. Planted: the stations go to the device in every step. Fixed: once.
#include <cstdio>
#include <vector>

class Field {
public:
    explicit Field(int cells) : cells_(cells) {
        cudaMalloc(&moisture_, cells * sizeof(float));
        cudaMemset(moisture_, 0, cells * sizeof(float));
    }
    ~Field() { cudaFree(moisture_); }
    void step(const float *stations);
    float read(int cell) const {
        float value;
        cudaMemcpy(&value, moisture_ + cell, sizeof value, cudaMemcpyDeviceToHost);
        return value;
    }

private:
    float *moisture_;
    int cells_;
};

__global__ void soak(const float *stations, float *moisture, int cells) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cells) moisture[i] += 0.1f * stations[i];
}

void Field::step(const float *stations) { soak<<<cells_ / 256, 256>>>(stations, moisture_, cells_); }

int main() {
    const int cells = 1 << 18, steps = 12;
    std::vector<float> weather(cells, 0.5f);
    float *stations;
    cudaMalloc(&stations, cells * sizeof(float));
    Field field(cells);
#ifdef CURED
    cudaMemcpy(stations, weather.data(), cells * sizeof(float), cudaMemcpyHostToDevice);
#endif
    for (int step = 0; step < steps; ++step) {
#ifndef CURED
        cudaMemcpy(stations, weather.data(), cells * sizeof(float), cudaMemcpyHostToDevice); // PLANTED
#endif
        field.step(stations);
    }
    std::printf("%f\n", field.read(11));
    cudaFree(stations);
}
