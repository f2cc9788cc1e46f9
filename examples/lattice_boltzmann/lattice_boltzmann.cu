// One time step of a D3Q15 lattice-Boltzmann method in double precision, pulled from the neighbours, with the 15
// distributions of a direction side by side (structure of arrays), for `warpline predict`: 15 loads and 15 stores per cell, none of
// which a block reuses but at the edges of sectors.
//
// With W the warps that have an inner cell, each of the 15 loads and 15 stores makes W requests.
//
// usage: lattice_boltzmann [n = 48] [block x = 32] [block y = 4] [block z = 1]
#include "../common/common.h"

#include <vector>

constexpr int DIRECTIONS = 15;

// The rest direction, six along the axes and eight along the diagonals.
__host__ __device__ constexpr int step(int direction, int axis)
{
    constexpr int steps[DIRECTIONS][3] = {{0, 0, 0},  {1, 0, 0},   {-1, 0, 0}, {0, 1, 0},   {0, -1, 0},
                                          {0, 0, 1},  {0, 0, -1},  {1, 1, 1},  {-1, -1, -1}, {1, 1, -1},
                                          {-1, -1, 1}, {1, -1, 1}, {-1, 1, -1}, {-1, 1, 1},  {1, -1, -1}};
    return steps[direction][axis];
}

__host__ __device__ constexpr double weight(int direction)
{
    return direction == 0 ? 2.0 / 9 : direction < 7 ? 1.0 / 9 : 1.0 / 72;
}

// Relaxes a cell's distributions towards their equilibrium (Bhatnagar, Gross and Krook).
__host__ __device__ inline void collide(double *f, double omega)
{
    double density = 0, flow[3] = {0, 0, 0};
#pragma unroll
    for (int direction = 0; direction < DIRECTIONS; ++direction) {
        density += f[direction];
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            flow[axis] += f[direction] * step(direction, axis);
        }
    }
    double square = 0;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
        flow[axis] /= density;
        square += flow[axis] * flow[axis];
    }
#pragma unroll
    for (int direction = 0; direction < DIRECTIONS; ++direction) {
        double along = 0;
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            along += flow[axis] * step(direction, axis);
        }
        double equilibrium = weight(direction) * density * (1 + 3 * along + 4.5 * along * along - 1.5 * square);
        f[direction] += omega * (equilibrium - f[direction]);
    }
}

__global__ void stream_collide(const double *__restrict__ source, double *__restrict__ target, int n, double omega)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) {
        return;
    }
    long cells = long(n) * n * n;
    long at = (long(z) * n + y) * n + x;
    double f[DIRECTIONS];
#pragma unroll
    for (int direction = 0; direction < DIRECTIONS; ++direction) {
        long from = (long(z - step(direction, 2)) * n + y - step(direction, 1)) * n + x - step(direction, 0);
        f[direction] = source[direction * cells + from];
    }
    collide(f, omega);
#pragma unroll
    for (int direction = 0; direction < DIRECTIONS; ++direction) {
        target[direction * cells + at] = f[direction];
    }
}

int main(int argc, char **argv)
{
    int n = argument(argc, argv, 1, "n", 48, 3);
    dim3 block(argument(argc, argv, 2, "block x", 32), argument(argc, argv, 3, "block y", 4),
               argument(argc, argv, 4, "block z", 1));
    long cells = long(n) * n * n;
    const double omega = 1.2;

    Random random(15);
    std::vector<double> source(DIRECTIONS * cells), target(DIRECTIONS * cells, 0.0);
    for (long i = 0; i < DIRECTIONS * cells; ++i) {
        source[i] = weight(int(i / cells)) * (1.0 + 0.1 * random.uniform());
    }
    double *d_source, *d_target;
    size_t bytes = source.size() * sizeof(double);
    CUDA_CHECK(cudaMalloc(&d_source, bytes));
    CUDA_CHECK(cudaMalloc(&d_target, bytes));
    CUDA_CHECK(cudaMemcpy(d_source, source.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_target, 0, bytes));
    auto blocks = [n](unsigned size) { return (n + size - 1) / size; };
    stream_collide<<<dim3(blocks(block.x), blocks(block.y), blocks(block.z)), block>>>(d_source, d_target, n, omega);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(target.data(), d_target, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_source));
    CUDA_CHECK(cudaFree(d_target));

    for (int z = 1; z < n - 1; ++z) {
        for (int y = 1; y < n - 1; ++y) {
            for (int x = 1; x < n - 1; ++x) {
                double f[DIRECTIONS];
                for (int direction = 0; direction < DIRECTIONS; ++direction) {
                    long before = (long(z - step(direction, 2)) * n + y - step(direction, 1)) * n + x - step(direction, 0);
                    f[direction] = source[direction * cells + before];
                }
                collide(f, omega);
                for (int direction = 0; direction < DIRECTIONS; ++direction) {
                    double got = target[direction * cells + (long(z) * n + y) * n + x];
                    if (std::fabs(got - f[direction]) > 1e-12) {
                        std::fprintf(stderr, "lattice_boltzmann: direction %d of (%d, %d, %d) is %g, not %g\n",
                                     direction, x, y, z, got, f[direction]);
                        return 1;
                    }
                }
            }
        }
    }
    std::puts("lattice_boltzmann: ok");
    return 0;
}
