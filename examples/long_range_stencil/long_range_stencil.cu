// A three-dimensional star stencil of range 4 (25 points) in double precision, for `warpline predict`: its time depends on
// the shape of a block alone, which can be given here to compare.
//
// Each update loads 25 neighbouring values, of which a block of any shape finds most in L1, and stores one. With W the warps
// that have a point to update, each of the 25 loads and the store make W requests.
//
// usage: long_range_stencil [nx = 96] [ny = 64] [nz = 48] [block x = 32] [block y = 4] [block z = 2]
#include "../common/common.h"

#include <vector>

constexpr int RANGE = 4;

// Weights of the centre and of the six neighbours at each distance.
struct Weights {
    double centre;
    double far[RANGE];
};

__global__ void long_range(const double *__restrict__ in, double *__restrict__ out, int nx, int ny, int nz,
                           Weights weights)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < RANGE || y < RANGE || z < RANGE || x >= nx - RANGE || y >= ny - RANGE || z >= nz - RANGE) {
        return;
    }
    size_t row = nx, plane = size_t(nx) * ny;
    size_t at = z * plane + y * row + x;
    double sum = weights.centre * in[at];
#pragma unroll
    for (int far = 1; far <= RANGE; ++far) {
        double around = in[at - far] + in[at + far] + in[at - far * row] + in[at + far * row] +
                        in[at - far * plane] + in[at + far * plane];
        sum += weights.far[far - 1] * around;
    }
    out[at] = sum;
}

int main(int argc, char **argv)
{
    int nx = argument(argc, argv, 1, "nx", 96, 2 * RANGE + 1);
    int ny = argument(argc, argv, 2, "ny", 64, 2 * RANGE + 1);
    int nz = argument(argc, argv, 3, "nz", 48, 2 * RANGE + 1);
    dim3 block(argument(argc, argv, 4, "block x", 32), argument(argc, argv, 5, "block y", 4),
               argument(argc, argv, 6, "block z", 2));
    size_t count = size_t(nx) * ny * nz;

    Random random(25);
    std::vector<double> in(count), out(count, 0.0);
    for (double &value : in) {
        value = random.uniform();
    }
    Weights weights = {-3.0, {0.6, -0.15, 0.06, -0.01}};

    double *d_in, *d_out;
    CUDA_CHECK(cudaMalloc(&d_in, count * sizeof(double)));
    CUDA_CHECK(cudaMalloc(&d_out, count * sizeof(double)));
    CUDA_CHECK(cudaMemcpy(d_in, in.data(), count * sizeof(double), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_out, 0, count * sizeof(double)));
    auto blocks = [](int points, unsigned size) { return (points + size - 1) / size; };
    long_range<<<dim3(blocks(nx, block.x), blocks(ny, block.y), blocks(nz, block.z)), block>>>(d_in, d_out, nx, ny,
                                                                                                nz, weights);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out.data(), d_out, count * sizeof(double), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));

    long row = nx, plane = long(nx) * ny;
    for (int z = 0; z < nz; ++z) {
        for (int y = 0; y < ny; ++y) {
            for (int x = 0; x < nx; ++x) {
                long at = z * plane + y * row + x;
                bool inside = x >= RANGE && y >= RANGE && z >= RANGE && x < nx - RANGE && y < ny - RANGE &&
                              z < nz - RANGE;
                double want = inside ? weights.centre * in[at] : 0.0;
                for (int far = 1; inside && far <= RANGE; ++far) {
                    want += weights.far[far - 1] *
                            (in[at - far] + in[at + far] + in[at - far * row] + in[at + far * row] +
                             in[at - far * plane] + in[at + far * plane]);
                }
                if (std::fabs(out[at] - want) > 1e-12) {
                    std::fprintf(stderr, "long_range_stencil: (%d, %d, %d) is %g, not %g\n", x, y, z, out[at], want);
                    return 1;
                }
            }
        }
    }
    std::puts("long_range_stencil: ok");
    return 0;
}
