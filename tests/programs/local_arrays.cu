// Arrays per thread, indexed by what is only known at run time: they stay in local memory.
#include "test.h"

__global__ void insertion_sort(const int *values, int *sorted, int per_thread)
{
    int mine[24];
    int base = threadIdx.x * per_thread;
    for (int i = 0; i < per_thread; ++i) {
        int value = values[base + i];
        int at = i;
        while (at > 0 && mine[at - 1] > value) {
            mine[at] = mine[at - 1];
            --at;
        }
        mine[at] = value;
    }
    for (int i = 0; i < per_thread; ++i) {
        sorted[base + i] = mine[i];
    }
}

struct Entry {
    char tag;
    double weight;
    short parts[3];
};

__global__ void structs(const int *order, double *results)
{
    Entry entries[6];
    for (int i = 0; i < 6; ++i) {
        entries[order[i]] = {static_cast<char>('a' + i), i + threadIdx.x * 0.5, {short(i), short(-i), short(threadIdx.x)}};
    }
    double sum = 0;
    for (int i = 0; i < 6; ++i) {
        const Entry &entry = entries[(i + threadIdx.x) % 6];
        sum = 3 * sum + entry.weight + entry.parts[(threadIdx.x + i) % 3] + (entry.tag - 'a');
    }
    results[threadIdx.x] = sum;
}

__device__ __noinline__ void fill(int *array, int n, int start)
{
    for (int i = 0; i < n; ++i) {
        array[i] = start + i;
    }
}

__device__ __noinline__ int pick(const int *array, int at)
{
    return array[at];
}

// Local arrays handed to functions, one of them within another's call.
__global__ void handed_on(const int *at, int *results)
{
    int first[16], second[8];
    fill(first, 16, threadIdx.x);
    fill(second, 8, 1000);
    fill(first + 4, 4, -100);
    int index = at[threadIdx.x];
    const int *chosen = index & 1 ? first : second;
    results[threadIdx.x] = pick(first, index) * 10000 + pick(chosen, index / 2);
}

// A table of flags that each thread fills with constants, which the compiler stores four bytes at a time.
__global__ void flags(const int *years, int *days, int n)
{
    bool leap[16];
    for (int i = 0; i < 16; ++i) leap[i] = i % 4 == 0;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < n) days[thread] = leap[years[thread]] ? 366 : 365;
}

int main()
{
    const int threads = 45, per_thread = 24;
    std::vector<int> values(threads * per_thread);
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<int>(i * 7919 % 1013);
    }
    std::vector<int> want = values;
    for (int i = 0; i < threads; ++i) {
        std::sort(want.begin() + i * per_thread, want.begin() + (i + 1) * per_thread);
    }
    Device<int> d_values(values), sorted(values.size());
    insertion_sort<<<1, threads>>>(d_values, sorted, per_thread);
    expect_equal("sorted", sorted.read(), want);

    std::vector<int> order{3, 0, 5, 1, 4, 2};
    Device<int> d_order(order);
    Device<double> sums(40);
    structs<<<1, 40>>>(d_order, sums);
    std::vector<double> want_sums(40);
    for (int thread = 0; thread < 40; ++thread) {
        Entry entries[6];
        for (int i = 0; i < 6; ++i) {
            entries[order[i]] = {static_cast<char>('a' + i), i + thread * 0.5, {short(i), short(-i), short(thread)}};
        }
        for (int i = 0; i < 6; ++i) {
            const Entry &entry = entries[(i + thread) % 6];
            want_sums[thread] = 3 * want_sums[thread] + entry.weight + entry.parts[(thread + i) % 3] + (entry.tag - 'a');
        }
    }
    expect_equal("structs", sums.read(), want_sums);

    std::vector<int> at(64), want_results(64);
    for (int i = 0; i < 64; ++i) {
        at[i] = (i * 11) % 16;
        auto first = [i](int k) { return k >= 4 && k < 8 ? -100 + k - 4 : i + k; };
        want_results[i] = first(at[i]) * 10000 + (at[i] & 1 ? first(at[i] / 2) : 1000 + at[i] / 2);
    }
    Device<int> d_at(at), results(64);
    handed_on<<<1, 64>>>(d_at, results);
    expect_equal("handed on", results.read(), want_results);

    std::vector<int> years(60), want_days(60);
    for (int i = 0; i < 60; ++i) {
        years[i] = i * 5 % 16;
        want_days[i] = years[i] % 4 == 0 ? 366 : 365;
    }
    Device<int> d_years(years), days(60);
    flags<<<2, 32>>>(d_years, days, 60);
    expect_equal("flags", days.read(), want_days);
    return done("local_arrays");
}
