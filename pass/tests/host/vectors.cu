// What Thrust's vectors allocate has the vector's name, not that of a variable inside Thrust.
#include "cuda.h"

namespace thrust {
namespace detail {
template <class T> struct vector_base {
  T *memory = nullptr;
  __attribute__((noinline)) void resize(size_t n) {
    void *result;
    cudaMalloc(&result, n * sizeof(T));
    memory = (T *)result;
  }
  T *begin() { return memory; }
};
} // namespace detail
template <class T> struct device_vector : detail::vector_base<T> {
  __attribute__((noinline)) device_vector(size_t n) { this->resize(n); }
  ~device_vector();
};
} // namespace thrust

void use(float *);

void callers(size_t n) {
  thrust::device_vector<float> keys(n);
  thrust::device_vector<float> values(n);
  values.resize(2 * n);
  use(values.begin());
}

// CHECK-LABEL: define {{.*}} @_Z7callersm(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.keys)
// CHECK: call void @_ZN6thrust13device_vectorIfEC{{[12]}}Em(
// CHECK: call void @__warpline_name(ptr null)
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.values)
// CHECK: invoke void @_ZN6thrust13device_vectorIfEC{{[12]}}Em(
// CHECK: call void @__warpline_name(ptr null)
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.values)
// CHECK: invoke void @_ZN6thrust6detail11vector_baseIfE6resizeEm(
// CHECK: call void @__warpline_name(ptr null)
// CHECK-NOT: call void @__warpline_name(ptr nonnull @__warpline_text.result)
// CHECK-LABEL: define {{.*}} @_ZN6thrust13device_vectorIfEC
