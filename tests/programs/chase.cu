// DELTA's pointer chase (Zhang and Shcherbakov, MEMSYS 2020): one thread walks an array of `n` integers with stride `s`,
// `m` loads long, past level 1 if requested.
// usage: chase [n = 4096] [s = 16] [m = 4096] [past level 1 = 0]
#include "test.h"

__global__ void chase(const int *next, int m, int *last)
{
    int at = 0;
    for (int step = 0; step < m; ++step) {
        at = next[at];
    }
    *last = at;
}

__global__ void chase_past_level_1(const int *next, int m, int *last)
{
    int at = 0;
    for (int step = 0; step < m; ++step) {
        at = __ldcg(next + at);
    }
    *last = at;
}

int main(int argc, char **argv)
{
    auto number = [&](int index, int value) { return argc > index ? std::atoi(argv[index]) : value; };
    const int n = number(1, 4096), s = number(2, 16), m = number(3, 4096);
    std::vector<int> next(n);
    for (int i = 0; i < n; ++i) {
        next[i] = (i + s) % n;
    }
    Device<int> d_next(next), last(1);
    if (number(4, 0)) {
        chase_past_level_1<<<1, 1>>>(d_next, m, last);
    } else {
        chase<<<1, 1>>>(d_next, m, last);
    }
    expect_equal("last", last.read(), std::vector<int>{int((long long)m * s % n)});
    return done("chase");
}
