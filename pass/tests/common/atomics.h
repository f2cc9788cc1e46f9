// Stands for the toolkit's header: its lines are not the user's.
#pragma once
__device__ static inline int atomicAdd(int *address, int value) {
  return __nvvm_atom_add_gen_i(address, value);
}
__device__ static inline float atomicAdd(float *address, float value) {
  return __nvvm_atom_add_gen_f(address, value);
}
__device__ static inline unsigned long compareAndSwap(unsigned long *address, unsigned long old, unsigned long value) {
  return __nvvm_atom_cas_gen_l((long *)address, (long)old, (long)value);
}
