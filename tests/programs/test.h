// What the feature programs share. Each checks one feature of the device or of the runtime API and
// prints `PASS name`; what is wrong goes to standard error.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

static int failures = 0;

#define CHECK(call)                                                                                   \
    do {                                                                                              \
        cudaError_t status_ = (call);                                                                 \
        if (status_ != cudaSuccess) {                                                                 \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                        \
                         cudaGetErrorName(status_));                                                  \
            std::exit(1);                                                                             \
        }                                                                                             \
    } while (0)

// The call must return exactly this error.
#define EXPECT_ERROR(call, error)                                                                     \
    do {                                                                                              \
        cudaError_t status_ = (call);                                                                 \
        if (status_ != (error)) {                                                                     \
            std::fprintf(stderr, "%s:%d: %s: got %s, expected %s\n", __FILE__, __LINE__, #call,       \
                         cudaGetErrorName(status_), cudaGetErrorName(error));                         \
            ++failures;                                                                               \
        }                                                                                             \
    } while (0)

#define EXPECT(condition)                                                                             \
    do {                                                                                              \
        if (!(condition)) {                                                                           \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);              \
            ++failures;                                                                               \
        }                                                                                             \
    } while (0)

inline void show(double value) { std::fprintf(stderr, "%.17g", value); }
inline void show(float value) { std::fprintf(stderr, "%.9g", value); }
inline void show(long long value) { std::fprintf(stderr, "%lld", value); }
inline void show(unsigned long long value) { std::fprintf(stderr, "%llu (0x%llx)", value, value); }
inline void show(long value) { show(static_cast<long long>(value)); }
inline void show(unsigned long value) { show(static_cast<unsigned long long>(value)); }
inline void show(int value) { show(static_cast<long long>(value)); }
inline void show(unsigned value) { show(static_cast<unsigned long long>(value)); }
inline void show(short value) { show(static_cast<long long>(value)); }
inline void show(unsigned short value) { show(static_cast<unsigned long long>(value)); }
inline void show(signed char value) { show(static_cast<long long>(value)); }
inline void show(unsigned char value) { show(static_cast<unsigned long long>(value)); }
inline void show(bool value) { show(static_cast<long long>(value)); }

template <typename T>
void expect_equal(const char *what, const T *results, const T *expected, size_t count)
{
    int told = 0;
    for (size_t i = 0; i < count; ++i) {
        if (!(results[i] == expected[i])) {
            ++failures;
            if (++told <= 4) {
                std::fprintf(stderr, "%s[%zu] is ", what, i);
                show(results[i]);
                std::fprintf(stderr, ", expected ");
                show(expected[i]);
                std::fprintf(stderr, "\n");
            }
        }
    }
}

template <typename T>
void expect_equal(const char *what, const std::vector<T> &results, const std::vector<T> &expected)
{
    EXPECT(results.size() == expected.size());
    expect_equal(what, results.data(), expected.data(), results.size());
}

template <typename T>
void expect_equal(const char *what, T result, T expected)
{
    expect_equal(what, &result, &expected, 1);
}

// An array in device memory.
template <typename T>
struct Device {
    T *pointer = nullptr;
    size_t count;

    explicit Device(size_t size) : count(size)
    {
        CHECK(cudaMalloc(&pointer, size * sizeof(T)));
        CHECK(cudaMemset(pointer, 0, size * sizeof(T)));
    }
    explicit Device(const std::vector<T> &values) : Device(values.size()) { write(values); }
    ~Device() { cudaFree(pointer); }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    operator T *() const { return pointer; }
    void write(const std::vector<T> &values)
    {
        CHECK(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    std::vector<T> read() const
    {
        std::vector<T> values(count);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }
};

inline int done(const char *name)
{
    CHECK(cudaDeviceSynchronize());
    if (failures > 0) {
        std::fprintf(stderr, "FAIL %s: %d wrong\n", name, failures);
        return 1;
    }
    std::printf("PASS %s\n", name);
    return 0;
}
