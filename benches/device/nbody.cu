// Forces between 4096 bodies, all pairs.
#include "bench.h"

static const int N = 4096;

#ifdef __CUDACC__
__global__ void forces(int n, const float *px, const float *py, const float *pz, float *ax)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = px[i], y = py[i], z = pz[i], sum = 0;
        for (int j = 0; j < n; ++j) {
            float dx = px[j] - x, dy = py[j] - y, dz = pz[j] - z;
            float square = dx * dx + dy * dy + dz * dz + 0.01f;
            float inverse = 1.0f / sqrtf(square);
            sum += dx * inverse * inverse * inverse;
        }
        ax[i] = sum;
    }
}
#else
__attribute__((noinline)) static void forces(int n, const float *px, const float *py, const float *pz, float *ax)
{
    for (int i = 0; i < n; ++i) {
        float x = px[i], y = py[i], z = pz[i], sum = 0;
        for (int j = 0; j < n; ++j) {
            float dx = px[j] - x, dy = py[j] - y, dz = pz[j] - z;
            float square = dx * dx + dy * dy + dz * dz + 0.01f;
            float inverse = 1.0f / sqrtf(square);
            sum += dx * inverse * inverse * inverse;
        }
        ax[i] = sum;
    }
}
#endif

int main(int argc, char **argv)
{
    std::vector<float> x(N), y(N), z(N), a(N);
    for (int i = 0; i < N; ++i) {
        x[i] = number(3 * i);
        y[i] = number(3 * i + 1);
        z[i] = number(3 * i + 2);
    }
#ifdef __CUDACC__
    float *dx = on_device(x), *dy = on_device(y), *dz = on_device(z), *da = on_device(a);
    measure(rounds(argc, argv), [&] {
        forces<<<N / 128, 128>>>(N, dx, dy, dz, da);
        need(cudaDeviceSynchronize());
    });
    to_host(a, da);
#else
    measure(rounds(argc, argv), [&] { forces(N, x.data(), y.data(), z.data(), a.data()); });
#endif
    checksum(a);
}
