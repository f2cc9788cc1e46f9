// The same work for a part of the threads, chosen by lane, by warp, and by a trip count per lane.
//
// Shows what a divergent branch costs: chosen by lane every warp takes the branch with some of its
// lanes, chosen by warp half of the warps take it with all of theirs. For n a multiple of 256, with
// w = n/32 warps, r rounds and 0 < a < 32 active lanes:
//   by_lane:  the branch runs w times, diverges w times; w·r loads with a lanes each
//   by_warp:  the branch runs w times, diverges never; w/2·r loads with 32 lanes each
//   by_trips: lane l loads l times: 31·w loads with 31, 30 … 1 lanes, 496·w lanes in all
//
// usage: divergence [n = 16384] [active lanes = 8] [rounds = 20]
#include "../common/common.h"

#include <vector>

__host__ __device__ inline float walk(const float *in, int n, int at, int rounds)
{
    float sum = 0;
    for (int round = 0; round < rounds; ++round) {
        sum += in[(at + 32 * round) % n];
    }
    return sum;
}

__global__ void by_lane(const float *in, float *out, int n, int active, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    if (lane < active) {
        out[i] = walk(in, n, i, rounds);
    }
}

__global__ void by_warp(const float *in, float *out, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int warp = threadIdx.x / 32;
    if (warp % 2 == 0) {
        out[i] = walk(in, n, i, rounds);
    }
}

__global__ void by_trips(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = walk(in, n, i, threadIdx.x % 32);
}

static bool run(int n, int active, int rounds)
{
    std::vector<float> in(n), out(n);
    Random random(13);
    for (float &value : in) {
        value = random.uniform();
    }
    float *d_in, *d_out;
    CUDA_CHECK(cudaMalloc(&d_in, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_out, n * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));

    const int threads = 256;
    bool good = true;
    for (int kernel = 0; kernel < 3; ++kernel) {
        CUDA_CHECK(cudaMemset(d_out, 0, n * sizeof(float)));
        if (kernel == 0) {
            by_lane<<<n / threads, threads>>>(d_in, d_out, n, active, rounds);
        } else if (kernel == 1) {
            by_warp<<<n / threads, threads>>>(d_in, d_out, n, rounds);
        } else {
            by_trips<<<n / threads, threads>>>(d_in, d_out, n);
        }
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
        std::vector<float> expected(n, 0.0f);
        for (int i = 0; i < n; ++i) {
            int lane = i % 32, trips = kernel == 2 ? lane : rounds;
            if (kernel == 2 || (kernel == 0 ? lane < active : i / 32 % 2 == 0)) {
                expected[i] = walk(in.data(), n, i, trips);
            }
        }
        good &= all_close("out", out.data(), expected.data(), n);
    }
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    return good;
}

int main(int argc, char **argv)
{
    int n = argument(argc, argv, 1, "n", 16384);
    int active = argument(argc, argv, 2, "active lanes", 8);
    int rounds = argument(argc, argv, 3, "rounds", 20);
    if (n % 256 != 0) {
        std::fprintf(stderr, "%s: n must be a multiple of 256\n", argv[0]);
        return 2;
    }
    return finish("divergence", run(n, active, rounds));
}
