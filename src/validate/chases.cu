// The pointer chases of `warpline validate`: one thread follows indices through an array, as in DELTA (Zhang and
// Shcherbakov, MEMSYS 2020), and the clock is read before and behind its last loads.
//
// usage: chases PLAN RESULT
//   PLAN    a line per chase: bytes of the array, stride in bytes, loads before the clock is read, loads that are
//           timed, 1 to go past level 1 (else 0)
//   RESULT  a line per chase: cycles of the timed loads
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                                            \
    do {                                                                                            \
        cudaError_t code = (call);                                                                  \
        if (code != cudaSuccess) {                                                                  \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(code));      \
            std::exit(1);                                                                           \
        }                                                                                           \
    } while (0)

struct Result {
    long long cycles;
    unsigned last;
};

template <bool PAST_LEVEL_1>
__device__ unsigned follow(const unsigned *next, unsigned at, long long loads)
{
    for (long long i = 0; i < loads; ++i) {
        at = PAST_LEVEL_1 ? __ldcg(next + at) : next[at];
    }
    return at;
}

// Each load needs the one before it, so at most one is still under way when the clock is read.
template <bool PAST_LEVEL_1>
__global__ void chase(const unsigned *next, long long before, long long timed, Result *result)
{
    unsigned at = follow<PAST_LEVEL_1>(next, 0, before);
    long long begin = clock64();
    at = follow<PAST_LEVEL_1>(next, at, timed);
    result->cycles = clock64() - begin;
    result->last = at;
}

struct Chase {
    long long bytes, stride, before, timed;
    int past_level_1;
};

static std::vector<Chase> read_plan(const char *path)
{
    std::FILE *file = std::fopen(path, "r");
    if (!file) {
        std::perror(path);
        std::exit(1);
    }
    std::vector<Chase> plan;
    Chase c;
    while (std::fscanf(file, "%lld %lld %lld %lld %d", &c.bytes, &c.stride, &c.before, &c.timed, &c.past_level_1) == 5) {
        plan.push_back(c);
    }
    std::fclose(file);
    return plan;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: chases PLAN RESULT\n");
        return 2;
    }
    std::vector<Chase> plan = read_plan(argv[1]);
    std::FILE *out = std::fopen(argv[2], "w");
    if (!out) {
        std::perror(argv[2]);
        return 1;
    }
    // All of the array that shared memory and level 1 divide is for level 1.
    CUDA_CHECK(cudaFuncSetAttribute(chase<false>, cudaFuncAttributePreferredSharedMemoryCarveout, 0));
    Result *d_result;
    CUDA_CHECK(cudaMalloc(&d_result, sizeof(Result)));
    std::vector<unsigned> next;
    for (const Chase &c : plan) {
        const size_t count = c.bytes / sizeof(unsigned), step = c.stride / sizeof(unsigned);
        next.assign(count, 0);
        for (size_t i = 0; i < count; i += step) {
            next[i] = unsigned((i + step) % count);
        }
        unsigned *d_next;
        CUDA_CHECK(cudaMalloc(&d_next, c.bytes));
        CUDA_CHECK(cudaMemcpy(d_next, next.data(), c.bytes, cudaMemcpyHostToDevice));
        if (c.past_level_1) {
            chase<true><<<1, 1>>>(d_next, c.before, c.timed, d_result);
        } else {
            chase<false><<<1, 1>>>(d_next, c.before, c.timed, d_result);
        }
        CUDA_CHECK(cudaGetLastError());
        Result result;
        CUDA_CHECK(cudaMemcpy(&result, d_result, sizeof result, cudaMemcpyDeviceToHost));
        CUDA_CHECK(cudaFree(d_next));
        const size_t expected = (unsigned long long)(c.before + c.timed) * step % count;
        if (result.last != expected) {
            std::fprintf(stderr, "chase of %lld bytes ended at %u, not at %zu\n", c.bytes, result.last, expected);
            return 1;
        }
        std::fprintf(out, "%lld\n", result.cycles);
    }
    CUDA_CHECK(cudaFree(d_result));
    return std::fclose(out) == 0 ? 0 : 1;
}
