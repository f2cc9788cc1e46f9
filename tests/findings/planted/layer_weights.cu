// Trains a small layer for many steps. Planted: its weights come to the host after each step and go back as they are. Fixed: they
// stay on the device.
#include <cstdio>
#include <vector>

__global__ void step(float *weights, const float *inputs, int n) {
    int i = threadIdx.x;
    float sum = 0;
    for (int row = 0; row < 64; ++row) sum += inputs[row * n + i];
    weights[i] += 0.001f * (sum - weights[i]);
}

int main() {
    const int n = 256, steps = 100;
    std::vector<float> weights(n, 0.5f), inputs(64 * n, 0.25f);
    float *d_weights, *d_inputs;
    cudaMalloc(&d_weights, n * sizeof(float));
    cudaMalloc(&d_inputs, inputs.size() * sizeof(float));
    cudaMemcpy(d_inputs, inputs.data(), inputs.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weights, weights.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    for (int i = 0; i < steps; ++i) {
#ifndef CURED
        if (i > 0) cudaMemcpy(d_weights, weights.data(), n * sizeof(float), cudaMemcpyHostToDevice); // PLANTED
#endif
        step<<<1, n>>>(d_weights, d_inputs, n);
#ifndef CURED
        cudaMemcpy(weights.data(), d_weights, n * sizeof(float), cudaMemcpyDeviceToHost); // PLANTED
#endif
    }
    cudaMemcpy(weights.data(), d_weights, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", weights[3]);
    cudaFree(d_weights);
    cudaFree(d_inputs);
}
