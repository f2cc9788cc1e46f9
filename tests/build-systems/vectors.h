// What the parts of the project offer each other.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
// Sum of the first `count` whole numbers, as the host computes it.
long long expected_sum(int count);
#ifdef __cplusplus
}

// Fills `count` device integers with 0, 1, 2, …
void fill(int *values, int count);
// Doubles `count` device integers.
void twice(int *values, int count);
// Sum of `count` device integers.
long long sum(const int *values, int count);
#endif
