#include "vectors.h"

long long expected_sum(int count) { return (long long)count * (count - 1) / 2; }
