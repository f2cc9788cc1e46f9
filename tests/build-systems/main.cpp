#include "check.h"
#include "vectors.h"

int main() {
  const int count = 10000;
  int *values;
  check(cudaMalloc(reinterpret_cast<void **>(&values), count * sizeof *values));
  fill(values, count);
  twice(values, count);
  long long found = sum(values, count), expected = 2 * expected_sum(count);
  check(cudaFree(values));
  std::printf("%lld\n", found);
  return found == expected ? 0 : 1;
}
