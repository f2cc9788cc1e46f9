// What the compiler makes globals of: constant arrays in kernels, switch tables, strings.
#include "test.h"

__host__ __device__ int by_table(int i)
{
    const int primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
    return primes[i & 15];
}

__host__ __device__ int by_switch(int i)
{
    switch (i) {
    case 0: return 31;
    case 1: return -4;
    case 2: return 159;
    case 3: return 26;
    case 4: return 53;
    case 5: return 58;
    case 6: return 97;
    case 7: return 93;
    default: return 0;
    }
}

__host__ __device__ double by_struct_table(int i)
{
    static constexpr struct {
        char tag;
        double weight;
    } table[] = {{'a', 0.5}, {'b', 1.5}, {'c', 2.25}, {'d', 8.125}, {'e', -1.0}};
    return table[i % 5].weight * table[(i + 1) % 5].tag;
}

__device__ int length(const char *text)
{
    int n = 0;
    while (text[n]) {
        ++n;
    }
    return n;
}

__global__ void look_up(int *numbers, double *weights, int *lengths)
{
    int i = threadIdx.x;
    numbers[i] = by_table(i * 7) + by_switch(i % 11);
    weights[i] = by_struct_table(i);
    const char *words[] = {"zero", "one", "two", "three", "a longer one"};
    lengths[i] = length(words[i % 5]);
}

int main()
{
    const int n = 60;
    std::vector<int> want(n), want_lengths(n);
    std::vector<double> want_weights(n);
    const int lengths[] = {4, 3, 3, 5, 12};
    for (int i = 0; i < n; ++i) {
        want[i] = by_table(i * 7) + by_switch(i % 11);
        want_weights[i] = by_struct_table(i);
        want_lengths[i] = lengths[i % 5];
    }
    Device<int> numbers(n), d_lengths(n);
    Device<double> weights(n);
    look_up<<<1, n>>>(numbers, weights, d_lengths);
    expect_equal("numbers", numbers.read(), want);
    expect_equal("weights", weights.read(), want_weights);
    expect_equal("lengths", d_lengths.read(), want_lengths);
    return done("compiler_globals");
}
