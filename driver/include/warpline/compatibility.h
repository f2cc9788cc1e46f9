// Included before every CUDA source. Provides declarations that nvcc's own headers contain but clang's do not, and
// declarations that programs for older CUDA releases expect. Everything here has its original meaning.
#ifndef WARPLINE_COMPATIBILITY_H
#define WARPLINE_COMPATIBILITY_H
#pragma GCC system_header

#if defined(__cplusplus) && defined(__CUDACC__)

// nvcc's own headers include these headers, so programs do not include them.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// clang's device forms of new and delete; without them, destructors of virtual classes use the host's forms.
#include <new>

#include <cuda_runtime.h>

// nvcc's macro has a value, which sources test with `#if __CUDACC__`; clang's macro is empty.
#undef __CUDACC__
#define __CUDACC__ 1

// clang supports managed variables only in HIP. The pass gives host code access to the variables in this section.
#undef __managed__
#define __managed__ __device__ __attribute__((section("warpline.managed")))

// clang does not have this attribute. The pass reads this annotation.
#undef __maxnreg__
#ifdef __CUDA_ARCH__
#define __maxnreg__(count) __attribute__((annotate("warpline.maxnreg", count)))
#else
#define __maxnreg__(count)
#endif

// clang parses CUDA's attribute for clusters and ignores it. The pass reads this annotation instead.
#undef __cluster_dims__
#ifdef __CUDA_ARCH__
#define WARPLINE_CLUSTER(x, y, z, ...)                                                                                 \
  __attribute__((annotate("warpline.cluster", (unsigned)(x), (unsigned)(y), (unsigned)(z))))
#define __cluster_dims__(...) WARPLINE_CLUSTER(__VA_ARGS__, 1, 1)
#else
#define __cluster_dims__(...)
#endif

// clang's headers declare these functions for devices but do not define them.
static __device__ inline double nan(const char *tag) { return __nv_nan((const signed char *)tag); }
static __device__ inline float nanf(const char *tag) { return __nv_nanf((const signed char *)tag); }

#include <warpline/atomics.h>
#include <warpline/cached_accesses.h>

// The class of an object, for constant expressions that use `this` to name a static member.
template <class T> struct warpline_class;
template <class T> struct warpline_class<T &> {
  using type = T;
};

// The text of inline assembly with constant operands.
#if __cplusplus >= 201402L
template <unsigned long N> struct warpline_text {
  char letters[N];
  unsigned long count;
  constexpr unsigned long size() const { return count; }
  constexpr const char *data() const { return letters; }
};
template <class... Parts> constexpr unsigned long warpline_text_size() {
  const unsigned long sizes[] = {sizeof(Parts)...};
  unsigned long sum = 0;
  for (unsigned long size : sizes)
    sum += size;
  return sum;
}
template <class... Parts>
constexpr warpline_text<warpline_text_size<Parts...>()> warpline_asm_text(const Parts &...parts) {
  warpline_text<warpline_text_size<Parts...>()> text{};
  const char *all[] = {parts...};
  for (const char *part : all)
    while (*part)
      text.letters[text.count++] = *part++;
  return text;
}
#endif

// nvcc's type traits for extended lambdas, which are plain lambdas in clang.
#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false

// nvcc defines its version on the command line.
#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)
#define __CUDACC_VER_BUILD__ 0
#endif

// Names that CUDA 12 and 13 removed; their successors have the same meaning.
#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaThreadExit cudaDeviceReset
#define cudaThreadSetLimit cudaDeviceSetLimit
#define cudaThreadGetLimit cudaDeviceGetLimit
#define cudaThreadSetCacheConfig cudaDeviceSetCacheConfig
#define cudaThreadGetCacheConfig cudaDeviceGetCacheConfig

// CUDA 12 removed `texture<…>`. It is only defined for sources that use it, because others may use the name for
// something else.
#ifdef WARPLINE_TEXTURE_REFERENCES
#include <warpline/texture_references.h>
#endif

// min and max without `std::` in host code.
#define WARPLINE_MIN_MAX(T)                                                                                            \
  static inline __host__ T min(T a, T b) { return b < a ? b : a; }                                                     \
  static inline __host__ T max(T a, T b) { return a < b ? b : a; }
WARPLINE_MIN_MAX(int)
WARPLINE_MIN_MAX(unsigned int)
WARPLINE_MIN_MAX(long)
WARPLINE_MIN_MAX(unsigned long)
WARPLINE_MIN_MAX(long long)
WARPLINE_MIN_MAX(unsigned long long)
#undef WARPLINE_MIN_MAX

// Mixed arguments, with the result types of nvcc's overloads.
#define WARPLINE_MIXED(R, A, B)                                                                                        \
  static inline __host__ R min(A a, B b) { return (R)b < (R)a ? (R)b : (R)a; }                                         \
  static inline __host__ R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }
WARPLINE_MIXED(unsigned int, int, unsigned int)
WARPLINE_MIXED(unsigned int, unsigned int, int)
WARPLINE_MIXED(unsigned long, long, unsigned long)
WARPLINE_MIXED(unsigned long, unsigned long, long)
WARPLINE_MIXED(unsigned long long, long long, unsigned long long)
WARPLINE_MIXED(unsigned long long, unsigned long long, long long)
#undef WARPLINE_MIXED

// NaN is never the result if the other argument is a number, as with fmin and fmax.
static inline __host__ float min(float a, float b) { return fminf(a, b); }
static inline __host__ float max(float a, float b) { return fmaxf(a, b); }
static inline __host__ double min(double a, double b) { return fmin(a, b); }
static inline __host__ double max(double a, double b) { return fmax(a, b); }
static inline __host__ double min(float a, double b) { return fmin(a, b); }
static inline __host__ double max(float a, double b) { return fmax(a, b); }
static inline __host__ double min(double a, float b) { return fmin(a, b); }
static inline __host__ double max(double a, float b) { return fmax(a, b); }

#if CUDART_VERSION >= 13000

// Before CUDA 13, these functions had a device number instead of a location.
static inline __host__ cudaMemLocation warpline_location(int device) {
  cudaMemLocation location = {};
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}
static inline __host__ cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device,
                                                        cudaStream_t stream = 0) {
  return ::cudaMemPrefetchAsync(pointer, bytes, warpline_location(device), 0u, stream);
}
static inline __host__ cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice,
                                                 int device) {
  return ::cudaMemAdvise(pointer, bytes, advice, warpline_location(device));
}

// Before CUDA 13, the edges of graphs had no data.
static inline __host__ cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                            const cudaGraphNode_t *to, size_t count) {
  return ::cudaGraphAddDependencies(graph, from, to, (const cudaGraphEdgeData *)nullptr, count);
}
static inline __host__ cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                               const cudaGraphNode_t *to, size_t count) {
  return ::cudaGraphRemoveDependencies(graph, from, to, (const cudaGraphEdgeData *)nullptr, count);
}
static inline __host__ cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                                     size_t *count) {
  return ::cudaGraphGetEdges(graph, from, to, (cudaGraphEdgeData *)nullptr, count);
}
static inline __host__ cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *before,
                                                                size_t *count) {
  return ::cudaGraphNodeGetDependencies(node, before, (cudaGraphEdgeData *)nullptr, count);
}
static inline __host__ cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus *status,
                                                               unsigned long long *id = nullptr,
                                                               cudaGraph_t *graph = nullptr,
                                                               const cudaGraphNode_t **before = nullptr,
                                                               size_t *count = nullptr) {
  return ::cudaStreamGetCaptureInfo(stream, status, id, graph, before, (const cudaGraphEdgeData **)nullptr, count);
}

// Members of cudaDeviceProp that CUDA 13 removed. They are queried one by one, as NVIDIA's release notes recommend.
struct warpline_device_properties : cudaDeviceProp {
  int clockRate;
  int deviceOverlap;
  int kernelExecTimeoutEnabled;
  int computeMode;
  int memoryClockRate;
  int singleToDoublePrecisionPerfRatio;
  int cooperativeMultiDeviceLaunch;
};
static inline __host__ cudaError_t cudaGetDeviceProperties(warpline_device_properties *properties, int device) {
  cudaError_t error = ::cudaGetDeviceProperties(static_cast<cudaDeviceProp *>(properties), device);
  if (error != cudaSuccess)
    return error;
  struct {
    int *member;
    cudaDeviceAttr attribute;
  } const dropped[] = {
      {&properties->clockRate, cudaDevAttrClockRate},
      {&properties->deviceOverlap, cudaDevAttrGpuOverlap},
      {&properties->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout},
      {&properties->computeMode, cudaDevAttrComputeMode},
      {&properties->memoryClockRate, cudaDevAttrMemoryClockRate},
      {&properties->singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio},
  };
  properties->cooperativeMultiDeviceLaunch = 0;
  for (auto &entry : dropped)
    if (error == cudaSuccess)
      error = cudaDeviceGetAttribute(entry.member, entry.attribute, device);
  return error;
}
#define cudaDeviceProp warpline_device_properties

#endif // CUDART_VERSION >= 13000

#endif // __cplusplus && __CUDACC__

#endif
