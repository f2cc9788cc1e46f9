// y[i·s] = a·x[i·s] + y[i·s], with a stride of s floats between neighbouring elements.
//
// Shows how the sectors of a request grow with the stride. For n a multiple of 32:
//   requests of each of the three accesses: n / 32
//   sectors per request: min(32, 4·s); ideal sectors per request: 4
//
// usage: saxpy [n = 262144] [stride = 1]
#include "../common/common.h"

#include <vector>

__global__ void saxpy(int n, int stride, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        size_t k = static_cast<size_t>(i) * stride;
        y[k] = a * x[k] + y[k];
    }
}

static bool run(int n, int stride)
{
    const float a = 2.5f;
    size_t count = static_cast<size_t>(n) * stride;
    std::vector<float> x(count), y(count), expected(count);
    Random random(1);
    for (size_t i = 0; i < count; ++i) {
        x[i] = random.uniform();
        y[i] = random.uniform();
        expected[i] = i % stride == 0 ? a * x[i] + y[i] : y[i];
    }

    float *d_x, *d_y;
    CUDA_CHECK(cudaMalloc(&d_x, count * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_y, count * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_x, x.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_y, y.data(), count * sizeof(float), cudaMemcpyHostToDevice));

    const int threads = 256;
    saxpy<<<(n + threads - 1) / threads, threads>>>(n, stride, a, d_x, d_y);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());

    CUDA_CHECK(cudaMemcpy(y.data(), d_y, count * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_x));
    CUDA_CHECK(cudaFree(d_y));
    return all_close("y", y.data(), expected.data(), count);
}

int main(int argc, char **argv)
{
    int n = argument(argc, argv, 1, "n", 1 << 18);
    int stride = argument(argc, argv, 2, "stride", 1);
    return finish("saxpy", run(n, stride));
}
