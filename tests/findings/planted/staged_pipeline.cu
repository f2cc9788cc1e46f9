// Two stages of a pipeline for two days of readings: calibrate, then smooth. Each stage takes and gives a vector of the host.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int readings = 1 << 18;

__global__ void calibrate(const float *raw, float *calibrated, float gain, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) calibrated[i] = gain * raw[i] - 0.5f;
}

__global__ void smooth(const float *calibrated, float *smoothed, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) smoothed[i] = 0.5f * (calibrated[i] + calibrated[i == 0 ? 0 : i - 1]);
}

static float *on_device() {
    float *memory;
    cudaMalloc(&memory, readings * sizeof(float));
    return memory;
}

static float *calibrated_on_device(const std::vector<float> &raw, float gain) {
    float *given = on_device(), *made = on_device();
    cudaMemcpy(given, raw.data(), readings * sizeof(float), cudaMemcpyHostToDevice);
    calibrate<<<readings / 256, 256>>>(given, made, gain, readings);
    cudaFree(given);
    return made;
}

static float last_smoothed(float *given) {
    float *made = on_device();
    smooth<<<readings / 256, 256>>>(given, made, readings);
    float last;
    cudaMemcpy(&last, made + readings - 1, sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(made);
    cudaFree(given);
    return last;
}

int main() {
    std::vector<float> raw(readings);
    float last = 0;
    for (int day = 0; day < 2; ++day) {
        for (int i = 0; i < readings; ++i) raw[i] = float((i * 31 + day * 17) % 1000);
        float *made = calibrated_on_device(raw, 1.0f + 0.01f * day);
#ifndef CURED
        std::vector<float> between(readings);
        cudaMemcpy(between.data(), made, readings * sizeof(float), cudaMemcpyDeviceToHost); // PLANTED
        cudaFree(made);
        made = on_device();
        cudaMemcpy(made, between.data(), readings * sizeof(float), cudaMemcpyHostToDevice);
#endif
        last += last_smoothed(made);
    }
    std::printf("%.2f\n", last);
}
