// What the examples share: error checks, arguments, reproducible random numbers, comparison of
// results and timing with events.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                              \
    do {                                                                                              \
        cudaError_t status_ = (call);                                                                 \
        if (status_ != cudaSuccess) {                                                                 \
            std::fprintf(stderr, "%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call,                   \
                         cudaGetErrorString(status_), cudaGetErrorName(status_));                     \
            std::exit(EXIT_FAILURE);                                                                  \
        }                                                                                             \
    } while (0)

// The `index`-th argument as a number of at least `least`, or `fallback` when it was not given.
inline int argument(int argc, char **argv, int index, const char *name, int fallback, int least = 1)
{
    if (index >= argc) {
        return fallback;
    }
    char *end = nullptr;
    long value = std::strtol(argv[index], &end, 10);
    if (*argv[index] == '\0' || *end != '\0' || value < least || value > (1L << 30)) {
        std::fprintf(stderr, "%s: %s must be a whole number from %d on, not '%s'\n", argv[0], name, least,
                     argv[index]);
        std::exit(2);
    }
    return static_cast<int>(value);
}

// A generator that gives the same numbers everywhere (SplitMix64).
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}

    uint64_t next()
    {
        state_ += 0x9e3779b97f4a7c15ull;
        uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }

    // From 0 to `bound` - 1.
    uint32_t below(uint32_t bound) { return static_cast<uint32_t>((next() >> 32) * bound >> 32); }

    // From 0 to 1.
    float uniform() { return static_cast<float>(next() >> 40) * (1.0f / 16777216.0f); }

private:
    uint64_t state_;
};

// Compares `count` results with the expected ones, prints the first that is off by more than
// `tolerance` (relative, and absolute below 1), and returns whether all are right.
inline bool all_close(const char *what, const float *results, const float *expected, size_t count,
                      float tolerance = 1e-4f)
{
    for (size_t i = 0; i < count; ++i) {
        float scale = std::fmax(1.0f, std::fabs(expected[i]));
        if (!(std::fabs(results[i] - expected[i]) <= tolerance * scale)) {
            std::fprintf(stderr, "%s[%zu] is %.9g, expected %.9g\n", what, i, results[i], expected[i]);
            return false;
        }
    }
    return true;
}

// The same for values that must agree exactly.
template <typename T>
bool all_equal(const char *what, const T *results, const T *expected, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (results[i] != expected[i]) {
            std::fprintf(stderr, "%s[%zu] is %lld, expected %lld\n", what, i, static_cast<long long>(results[i]),
                         static_cast<long long>(expected[i]));
            return false;
        }
    }
    return true;
}

// Ends the program's output; returns its exit status.
inline int finish(const char *program, bool good)
{
    std::printf("%s: %s\n", program, good ? "ok" : "WRONG RESULT");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

// Milliseconds between two points of the default stream.
class Timer {
public:
    Timer()
    {
        CUDA_CHECK(cudaEventCreate(&start_));
        CUDA_CHECK(cudaEventCreate(&stop_));
        CUDA_CHECK(cudaEventRecord(start_));
    }

    ~Timer()
    {
        cudaEventDestroy(start_);
        cudaEventDestroy(stop_);
    }

    Timer(const Timer &) = delete;
    Timer &operator=(const Timer &) = delete;

    float stop()
    {
        float milliseconds = 0;
        CUDA_CHECK(cudaEventRecord(stop_));
        CUDA_CHECK(cudaEventSynchronize(stop_));
        CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start_, stop_));
        return milliseconds;
    }

private:
    cudaEvent_t start_, stop_;
};
