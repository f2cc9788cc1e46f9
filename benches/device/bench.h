// Code that all speed programs share. Each program is one source for two compilers: CUDA through Warpline, and plain
// C++ of the same algorithm (without __CUDACC__), in the form that a programmer would write for one host thread.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

// Deterministic numbers in [0, 1).
inline float number(unsigned index)
{
    unsigned x = index * 2654435761u + 12345u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return static_cast<float>(x >> 8) / 16777216.0f;
}

// Returns the processor time of all threads of this process. It contains neither the time of other programs nor of
// waiting threads.
inline double processor_seconds()
{
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Runs `work` the given number of times, and prints the shortest processor time of one run in seconds.
template <class Work>
void measure(int rounds, Work work)
{
    double best = 1e30;
    for (int round = 0; round < rounds; ++round) {
        const double start = processor_seconds();
        work();
        const double taken = processor_seconds() - start;
        best = taken < best ? taken : best;
    }
    std::printf("seconds %.6f\n", best);
}

inline int rounds(int argc, char **argv)
{
    return argc > 1 ? std::atoi(argv[1]) : 3;
}

// Prints the sum of the results' magnitudes, so that two builds can be compared.
inline void checksum(const std::vector<float> &values)
{
    double sum = 0;
    for (float value : values) {
        sum += std::fabs(value);
    }
    std::printf("checksum %.6e\n", sum);
}

#ifdef __CUDACC__
inline void need(cudaError_t error)
{
    if (error != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
        std::exit(1);
    }
}

template <class T>
T *on_device(const std::vector<T> &values)
{
    T *place = nullptr;
    need(cudaMalloc(&place, values.size() * sizeof(T)));
    need(cudaMemcpy(place, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return place;
}

template <class T>
void to_host(std::vector<T> &values, const T *place)
{
    need(cudaMemcpy(values.data(), place, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
}
#endif
