// A value that lane 0 alone sets, and all take from it: how warps take places of a list. The other lanes' arguments are
// undefined, and unused.
#include "test.h"

__device__ int next;

__device__ int from_first(int value) { return __shfl_sync(0xffffffffu, value, 0); }

__global__ void take(int *taken, int places)
{
    const int lane = threadIdx.x % 32;
    int place;
    if (lane == 0) place = atomicAdd(&next, 1);
    place = __shfl_sync(0xffffffffu, place, 0);
    while (place < places) {
        if (lane == 0) atomicAdd(&taken[place], 1);
        if (lane == 0) place = atomicAdd(&next, 1);
        place = from_first(place);
    }
}

// The same by a function of the program's own, for 64 bits and within a divergent branch.
__global__ void spread(const double *in, double *out)
{
    double value;
    if (threadIdx.x % 32 == 0) value = in[threadIdx.x / 32];
    if (threadIdx.x < 48) {
        unsigned lanes = threadIdx.x < 32 ? 0xffffffffu : 0xffffu;
        out[threadIdx.x] = __shfl_sync(lanes, value, 0);
    }
}

int main()
{
    const int places = 1000;
    Device<int> taken(std::vector<int>(places, 0));
    take<<<4, 96>>>(taken, places);
    for (int times : taken.read()) expect_equal("times that a place is taken", times, 1);
    int end = 0;
    CHECK(cudaMemcpyFromSymbol(&end, next, sizeof end));
    expect_equal("reserved places", end, places + 4 * 3);

    Device<double> in(std::vector<double>{1.5, 2.5}), out(64);
    spread<<<1, 64>>>(in, out);
    auto found = out.read();
    for (int i = 0; i < 48; ++i) expect_equal("spread", found[i], i < 32 ? 1.5 : 2.5);
    return done("undefined_arguments");
}
