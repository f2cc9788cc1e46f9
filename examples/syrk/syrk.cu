// C = alpha·A·Aᵀ + beta·C, the symmetric rank-k update, one thread per element of C.
//
// Shows two reads of one matrix that behave oppositely: the row of the output row is the same for
// the whole warp, the row of the output column differs from lane to lane. For n a multiple of 32
// and m of at least 8:
//   left:  n·n/32 · m requests of 1 sector;  right: as many, of 32 sectors (ideal 4)
//   C: n·n/32 loads and as many stores of 4 sectors
//
// usage: syrk [n = 128] [m = n]
#include "../common/common.h"

#include <vector>

__global__ void syrk(const float *a, float *c, int n, int m, float alpha, float beta)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) {
        float sum = 0;
        for (int k = 0; k < m; ++k) {
            float left = a[i * m + k];
            float right = a[j * m + k];
            sum += left * right;
        }
        c[i * n + j] = alpha * sum + beta * c[i * n + j];
    }
}

static std::vector<float> update_on_host(const std::vector<float> &a, const std::vector<float> &c, int n, int m,
                                         float alpha, float beta)
{
    std::vector<float> result(c.size());
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            float sum = 0;
            for (int k = 0; k < m; ++k) {
                sum += a[static_cast<size_t>(i) * m + k] * a[static_cast<size_t>(j) * m + k];
            }
            size_t at = static_cast<size_t>(i) * n + j;
            result[at] = alpha * sum + beta * c[at];
        }
    }
    return result;
}

static void update_on_device(const std::vector<float> &a, std::vector<float> &c, int n, int m, float alpha, float beta)
{
    float *d_a = nullptr, *d_c = nullptr;
    CUDA_CHECK(cudaMalloc(&d_a, a.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_c, c.size() * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_c, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice));
    dim3 block(32, 8);
    dim3 grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
    syrk<<<grid, block>>>(d_a, d_c, n, m, alpha, beta);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(c.data(), d_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_a));
    CUDA_CHECK(cudaFree(d_c));
}

int main(int argc, char **argv)
{
    int n = argument(argc, argv, 1, "n", 128);
    int m = argument(argc, argv, 2, "m", n);
    const float alpha = 0.75f, beta = 1.25f;
    std::vector<float> a(static_cast<size_t>(n) * m), c(static_cast<size_t>(n) * n);
    Random random(5);
    for (float &value : a) {
        value = random.uniform();
    }
    for (float &value : c) {
        value = random.uniform();
    }
    std::vector<float> expected = update_on_host(a, c, n, m, alpha, beta);
    update_on_device(a, c, n, m, alpha, beta);
    return finish("syrk", all_close("c", c.data(), expected.data(), c.size()));
}
