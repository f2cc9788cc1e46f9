// The two kernels of docs/cases/block-shapes.md over block shapes, on a GPU: each shape's shortest time, or one launch of each
// for a profiler to count.
//
// usage: block_shapes long_range NX NY NZ REPEAT 32x4x2,...
//        block_shapes stream_collide N N N REPEAT 32x4x1,...
// REPEAT 0 launches each shape once and times nothing.
#define main long_range_main
#include "../../examples/long_range_stencil/long_range_stencil.cu"
#undef main
#define main stream_collide_main
#include "../../examples/lattice_boltzmann/lattice_boltzmann.cu"
#undef main

#include <algorithm>
#include <cstring>

// Values that a time step leaves finite; which they are does not change an address.
__global__ void fill(double *values, size_t count)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) {
        values[i] = 0.05 + 0.0001 * double(i % 97);
    }
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        std::fprintf(stderr, "usage: block_shapes long_range|stream_collide NX NY NZ REPEAT SHAPES\n");
        return 2;
    }
    bool stencil = std::strcmp(argv[1], "long_range") == 0;
    int nx = std::atoi(argv[2]), ny = std::atoi(argv[3]), nz = std::atoi(argv[4]), repeat = std::atoi(argv[5]);
    size_t count = size_t(nx) * ny * nz * (stencil ? 1 : DIRECTIONS);
    double *in, *out;
    CUDA_CHECK(cudaMalloc(&in, count * sizeof(double)));
    CUDA_CHECK(cudaMalloc(&out, count * sizeof(double)));
    fill<<<1024, 256>>>(in, count);
    CUDA_CHECK(cudaMemset(out, 0, count * sizeof(double)));
    Weights weights = {-3.0, {0.6, -0.15, 0.06, -0.01}};
    cudaEvent_t begin, end;
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    for (char *shape = std::strtok(argv[6], ","); shape; shape = std::strtok(nullptr, ",")) {
        unsigned x, y, z;
        if (std::sscanf(shape, "%ux%ux%u", &x, &y, &z) != 3 || x == 0 || y == 0 || z == 0) {
            std::fprintf(stderr, "block_shapes: %s is no shape\n", shape);
            return 2;
        }
        dim3 block(x, y, z), grid((nx + x - 1) / x, (ny + y - 1) / y, (nz + z - 1) / z);
        auto launch = [&] {
            if (stencil) {
                long_range<<<grid, block>>>(in, out, nx, ny, nz, weights);
            } else {
                stream_collide<<<grid, block>>>(in, out, nx, 1.2);
            }
        };
        launch();
        if (cudaError_t refused = cudaGetLastError(); refused == cudaErrorLaunchOutOfResources) {
            // 68 registers leave no room for 1024 threads.
            std::fprintf(stderr, "block_shapes: %s: %s\n", shape, cudaGetErrorString(refused));
            continue;
        }
        float best = 0;
        for (int round = 0; round < repeat; ++round) {
            CUDA_CHECK(cudaEventRecord(begin));
            launch();
            CUDA_CHECK(cudaEventRecord(end));
            CUDA_CHECK(cudaEventSynchronize(end));
            float now;
            CUDA_CHECK(cudaEventElapsedTime(&now, begin, end));
            best = round == 0 ? now : std::min(best, now);
        }
        CUDA_CHECK(cudaGetLastError());
        std::printf("%s\t%.4f\n", shape, best);
        std::fflush(stdout);
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    std::puts("block_shapes: ok");
    return 0;
}
