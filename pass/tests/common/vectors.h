// Stands for the toolkit's vector operators and read-only loads.
#pragma once
#include "cuda.h"
__device__ static inline float __ldg(const float *address) { return __nvvm_ldg_f(address); }
__device__ static inline float4 operator*(const float4 &left, float right) {
  return float4{left.x * right, left.y * right, left.z * right, left.w * right};
}
