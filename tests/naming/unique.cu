// Neighbours that a library's blocks read and write in place are its own affair.
#include <thrust/device_vector.h>
#include <thrust/unique.h>
#include <cstdio>

int main() {
  const int n = 1 << 15;
  std::vector<int> host(n);
  for (int i = 0; i < n; i++)
    host[i] = i / 3;
  thrust::device_vector<int> values(host);
  auto end = thrust::unique(values.begin(), values.end());
  printf("%d\n", int(end - values.begin()));
}
