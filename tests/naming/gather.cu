// What the user gives to a library is found at the line that calls it.
#include <thrust/device_vector.h>
#include <thrust/gather.h>
#include <cstdio>

int main() {
  const int n = 1 << 14;
  std::vector<int> order(n);
  for (int i = 0; i < n; i++)
    order[i] = (i * 7919) % n;
  thrust::device_vector<int> index(order);
  thrust::device_vector<float> values(n, 1.0f), sorted(n);
  for (int turn = 0; turn < 4; turn++)
    thrust::gather(index.begin(), index.end(), values.begin(), sorted.begin()); // PLANTED
  printf("%g\n", float(sorted[5]));
}
