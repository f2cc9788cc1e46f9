// The other half of sum.cu when built with relocatable device code.
__device__ int combined;

__device__ long long combine(long long a, long long b) {
  atomicAdd(&combined, 1);
  return a + b;
}
