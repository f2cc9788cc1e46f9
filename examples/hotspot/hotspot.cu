// Heat on a chip: a five-point stencil on a square grid, each block with a 16 × 16 tile and its rim
// in shared memory, several steps with the two temperature grids changing places.
//
// Shows a stencil as it is usually written, with the divergent loads of the rim. The edge of the grid keeps
// the temperature of its nearest cell. For n a multiple of 16, with w = n·n/32 warps per step:
//   centre, power, store of the result: w requests per step of 4 sectors (two half rows)
//   north and south rim: one warp of the eight of a block, 16 lanes, 2 sectors
//   west and east rim: all warps, 2 lanes, 2 sectors
//
// usage: hotspot [n = 256] [steps = 4]
#include "../common/common.h"

#include <algorithm>
#include <utility>
#include <vector>

constexpr int TILE = 16;

struct Coefficients {
    float step, x, y, z, ambient;
};

__global__ void hotspot_step(const float *temperature, const float *power, float *result, int n, Coefficients k)
{
    __shared__ float tile[TILE + 2][TILE + 2];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * TILE + tx;
    int y = blockIdx.y * TILE + ty;
    int column = min(x, n - 1), row = min(y, n - 1);

    tile[ty + 1][tx + 1] = temperature[row * n + column];
    if (ty == 0) {
        tile[0][tx + 1] = temperature[max(row - 1, 0) * n + column];
    }
    if (tx == 0) {
        tile[ty + 1][0] = temperature[row * n + max(column - 1, 0)];
    }
    if (ty == TILE - 1) {
        tile[TILE + 1][tx + 1] = temperature[min(row + 1, n - 1) * n + column];
    }
    if (tx == TILE - 1) {
        tile[ty + 1][TILE + 1] = temperature[row * n + min(column + 1, n - 1)];
    }
    __syncthreads();

    if (x < n && y < n) {
        float centre = tile[ty + 1][tx + 1];
        float vertical = tile[ty][tx + 1] + tile[ty + 2][tx + 1] - 2.0f * centre;
        float horizontal = tile[ty + 1][tx] + tile[ty + 1][tx + 2] - 2.0f * centre;
        float heat = power[y * n + x];
        result[y * n + x] =
            centre + k.step * (heat + vertical * k.y + horizontal * k.x + (k.ambient - centre) * k.z);
    }
}

static void step_on_host(const std::vector<float> &from, const std::vector<float> &power, std::vector<float> &to, int n,
                         const Coefficients &k)
{
    auto at = [&](int y, int x) {
        return from[static_cast<size_t>(std::clamp(y, 0, n - 1)) * n + std::clamp(x, 0, n - 1)];
    };
    for (int y = 0; y < n; ++y) {
        for (int x = 0; x < n; ++x) {
            float centre = at(y, x);
            float vertical = at(y - 1, x) + at(y + 1, x) - 2.0f * centre;
            float horizontal = at(y, x - 1) + at(y, x + 1) - 2.0f * centre;
            size_t cell = static_cast<size_t>(y) * n + x;
            to[cell] =
                centre + k.step * (power[cell] + vertical * k.y + horizontal * k.x + (k.ambient - centre) * k.z);
        }
    }
}

static std::vector<float> simulate(const std::vector<float> &temperature, const std::vector<float> &power, int n,
                                   int steps, const Coefficients &k)
{
    size_t bytes = temperature.size() * sizeof(float);
    float *d_temperature[2], *d_power;
    CUDA_CHECK(cudaMalloc(&d_temperature[0], bytes));
    CUDA_CHECK(cudaMalloc(&d_temperature[1], bytes));
    CUDA_CHECK(cudaMalloc(&d_power, bytes));
    CUDA_CHECK(cudaMemcpy(d_temperature[0], temperature.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_power, power.data(), bytes, cudaMemcpyHostToDevice));

    dim3 block(TILE, TILE);
    dim3 grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    int source = 0;
    for (int step = 0; step < steps; ++step) {
        hotspot_step<<<grid, block>>>(d_temperature[source], d_power, d_temperature[1 - source], n, k);
        CUDA_CHECK(cudaGetLastError());
        source = 1 - source;
    }

    std::vector<float> result(temperature.size());
    CUDA_CHECK(cudaMemcpy(result.data(), d_temperature[source], bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_temperature[0]));
    CUDA_CHECK(cudaFree(d_temperature[1]));
    CUDA_CHECK(cudaFree(d_power));
    return result;
}

int main(int argc, char **argv)
{
    int n = argument(argc, argv, 1, "n", 256);
    int steps = argument(argc, argv, 2, "steps", 4);
    const Coefficients k{0.1f, 0.8f, 0.9f, 0.05f, 80.0f};
    std::vector<float> temperature(static_cast<size_t>(n) * n), power(temperature.size());
    Random random(9);
    for (size_t i = 0; i < temperature.size(); ++i) {
        temperature[i] = 320.0f + 20.0f * random.uniform();
        power[i] = random.uniform();
    }
    std::vector<float> result = simulate(temperature, power, n, steps, k);

    std::vector<float> expected = temperature, next(expected.size());
    for (int step = 0; step < steps; ++step) {
        step_on_host(expected, power, next, n, k);
        std::swap(expected, next);
    }
    return finish("hotspot", all_close("temperature", result.data(), expected.data(), expected.size()));
}
