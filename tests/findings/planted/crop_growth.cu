// Grows crops of two kinds. Planted: neighbouring threads have different kinds, and each kind has a long calculation of its own.
// Fixed: the kind depends on the warp.
#include <cstdio>
#include <vector>

__device__ float wheat(float rain) {
    float yield = rain;
    for (int day = 0; day < 60; ++day) yield = yield * 0.99f + __sinf(yield) * 0.125f;
    return yield;
}

__device__ float maize(float rain) {
    float yield = rain + 1.0f;
    for (int day = 0; day < 60; ++day) yield = yield * 0.98f + __cosf(yield) * 0.25f;
    return yield;
}

__global__ void season(const float *rain, float *harvest, int fields) {
    int field = blockIdx.x * blockDim.x + threadIdx.x;
    if (field >= fields) return;
#ifdef CURED
    bool sown_wheat = (field / 32) % 2 == 0;
#else
    bool sown_wheat = field % 2 == 0;
#endif
    if (sown_wheat) // PLANTED
        harvest[field] = wheat(rain[field]);
    else
        harvest[field] = maize(rain[field]);
}

int main() {
    const int fields = 1 << 17;
    std::vector<float> weather(fields, 0.75f);
    float *rain, *harvest;
    cudaMalloc(&rain, fields * sizeof(float));
    cudaMalloc(&harvest, fields * sizeof(float));
    cudaMemcpy(rain, weather.data(), fields * sizeof(float), cudaMemcpyHostToDevice);
    season<<<fields / 256, 256>>>(rain, harvest, fields);
    cudaMemcpy(weather.data(), harvest, fields * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%f\n", weather[3]);
}
