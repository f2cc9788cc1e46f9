// Texture references, which CUDA 12 removed, implemented with texture objects. On the device, a reference contains the
// handle of an object; clang gives variables of such a type this form. Binding creates the object and writes its handle
// to the reference.
#ifndef WARPLINE_TEXTURE_REFERENCES_H
#define WARPLINE_TEXTURE_REFERENCES_H
#pragma GCC system_header

#include <limits.h>

struct textureReference {
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
  int sRGB;
  unsigned int maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias;
  float minMipmapLevelClamp;
  float maxMipmapLevelClamp;
  int disableTrilinearOptimization;
  // The read mode with which the reference was declared, the object to which it is bound, and the distance of the
  // memory from the start of the object.
  cudaTextureReadMode warpline_read_mode;
  mutable cudaTextureObject_t warpline_object;
  mutable size_t warpline_offset;
};

template <class T, int dimensions = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : textureReference {
  __host__ texture(int norm = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
                   cudaTextureAddressMode address = cudaAddressModeClamp)
      : texture(norm, filter, address, cudaCreateChannelDesc<T>()) {}
  __host__ texture(int norm, cudaTextureFilterMode filter, cudaTextureAddressMode address,
                   cudaChannelFormatDesc desc)
      : textureReference() {
    normalized = norm;
    filterMode = filter;
    addressMode[0] = addressMode[1] = addressMode[2] = address;
    channelDesc = desc;
    warpline_read_mode = mode;
  }
};

// Makes a reference read through an object; implemented in the runtime.
extern "C" cudaError_t __warpline_bind_texture(const void *reference, cudaTextureObject_t object);

static inline __host__ cudaError_t cudaUnbindTexture(const textureReference *reference) {
  cudaError_t error = __warpline_bind_texture(reference, 0);
  if (error == cudaSuccess && reference->warpline_object)
    error = cudaDestroyTextureObject(reference->warpline_object);
  reference->warpline_object = 0;
  return error;
}

static inline __host__ cudaError_t warpline_bind(const textureReference *reference, const cudaResourceDesc &resource) {
  cudaTextureDesc desc = {};
  for (int i = 0; i < 3; ++i)
    desc.addressMode[i] = reference->addressMode[i];
  desc.filterMode = reference->filterMode;
  desc.readMode = reference->warpline_read_mode;
  desc.sRGB = reference->sRGB;
  desc.normalizedCoords = reference->normalized;
  desc.maxAnisotropy = reference->maxAnisotropy;
  cudaTextureObject_t object = 0;
  cudaError_t error = cudaUnbindTexture(reference);
  if (error == cudaSuccess)
    error = cudaCreateTextureObject(&object, &resource, &desc, nullptr);
  if (error == cudaSuccess)
    error = __warpline_bind_texture(reference, object);
  reference->warpline_object = object;
  return error;
}

// The texture's memory starts at a multiple of the texture alignment; the caller must add the rest.
static inline __host__ cudaError_t warpline_align(const textureReference *reference, size_t *offset,
                                                  const void *&pointer, size_t unit) {
  size_t rest = reinterpret_cast<size_t>(pointer) % 512;
  if (rest && (!offset || rest % unit))
    return cudaErrorInvalidValue;
  reference->warpline_offset = rest;
  if (offset)
    *offset = rest;
  pointer = static_cast<const char *>(pointer) - rest;
  return cudaSuccess;
}

static inline __host__ cudaError_t cudaBindTexture(size_t *offset, const textureReference *reference,
                                                   const void *pointer, const cudaChannelFormatDesc *desc,
                                                   size_t size = UINT_MAX) {
  size_t unit = (desc->x + desc->y + desc->z + desc->w) / 8;
  cudaError_t error = warpline_align(reference, offset, pointer, unit ? unit : 1);
  if (error != cudaSuccess)
    return error;
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = const_cast<void *>(pointer);
  resource.res.linear.desc = *desc;
  resource.res.linear.sizeInBytes = size == UINT_MAX ? size : size + reference->warpline_offset;
  return warpline_bind(reference, resource);
}

static inline __host__ cudaError_t cudaBindTexture2D(size_t *offset, const textureReference *reference,
                                                     const void *pointer, const cudaChannelFormatDesc *desc,
                                                     size_t width, size_t height, size_t pitch) {
  cudaError_t error = warpline_align(reference, offset, pointer, 1);
  if (error != cudaSuccess)
    return error;
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = const_cast<void *>(pointer);
  resource.res.pitch2D.desc = *desc;
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  return warpline_bind(reference, resource);
}

static inline __host__ cudaError_t cudaBindTextureToArray(const textureReference *reference, cudaArray_const_t array,
                                                          const cudaChannelFormatDesc *) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = const_cast<cudaArray_t>(array);
  return warpline_bind(reference, resource);
}

// The same functions with the reference itself as the argument.
template <class T, int d, cudaTextureReadMode m>
static inline __host__ cudaError_t cudaUnbindTexture(const texture<T, d, m> &reference) {
  return cudaUnbindTexture(static_cast<const textureReference *>(&reference));
}
template <class T, int d, cudaTextureReadMode m>
static inline __host__ cudaError_t cudaBindTexture(size_t *offset, const texture<T, d, m> &reference,
                                                   const void *pointer, const cudaChannelFormatDesc &desc,
                                                   size_t size = UINT_MAX) {
  return cudaBindTexture(offset, static_cast<const textureReference *>(&reference), pointer, &desc, size);
}
template <class T, int d, cudaTextureReadMode m>
static inline __host__ cudaError_t cudaBindTexture(size_t *offset, const texture<T, d, m> &reference,
                                                   const void *pointer, size_t size = UINT_MAX) {
  return cudaBindTexture(offset, reference, pointer, reference.channelDesc, size);
}
template <class T, int d, cudaTextureReadMode m>
static inline __host__ cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, d, m> &reference,
                                                     const void *pointer, const cudaChannelFormatDesc &desc,
                                                     size_t width, size_t height, size_t pitch) {
  return cudaBindTexture2D(offset, static_cast<const textureReference *>(&reference), pointer, &desc, width, height,
                           pitch);
}
template <class T, int d, cudaTextureReadMode m>
static inline __host__ cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, d, m> &reference,
                                                     const void *pointer, size_t width, size_t height,
                                                     size_t pitch) {
  return cudaBindTexture2D(offset, reference, pointer, reference.channelDesc, width, height, pitch);
}
template <class T, int d, cudaTextureReadMode m>
static inline __host__ cudaError_t cudaBindTextureToArray(const texture<T, d, m> &reference, cudaArray_const_t array,
                                                          const cudaChannelFormatDesc &desc) {
  return cudaBindTextureToArray(static_cast<const textureReference *>(&reference), array, &desc);
}
template <class T, int d, cudaTextureReadMode m>
static inline __host__ cudaError_t cudaBindTextureToArray(const texture<T, d, m> &reference, cudaArray_const_t array) {
  return cudaBindTextureToArray(reference, array, reference.channelDesc);
}
template <class T, int d, cudaTextureReadMode m>
static inline __host__ cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const texture<T, d, m> &reference) {
  *offset = reference.warpline_offset;
  return cudaSuccess;
}
static inline __host__ cudaError_t cudaGetTextureReference(const textureReference **reference, const void *symbol) {
  *reference = static_cast<const textureReference *>(symbol);
  return cudaSuccess;
}

// The type that a fetch returns: the texels themselves, or the same number of floats.
template <class T, cudaTextureReadMode mode> struct warpline_texel {
  typedef T type;
};
#define WARPLINE_NORMALIZED(T)                                                                                         \
  template <> struct warpline_texel<T, cudaReadModeNormalizedFloat> {                                                  \
    typedef float type;                                                                                                \
  };
#define WARPLINE_NORMALIZED_VECTORS(T)                                                                                 \
  template <> struct warpline_texel<T##1, cudaReadModeNormalizedFloat> {                                               \
    typedef float1 type;                                                                                               \
  };                                                                                                                   \
  template <> struct warpline_texel<T##2, cudaReadModeNormalizedFloat> {                                               \
    typedef float2 type;                                                                                               \
  };                                                                                                                   \
  template <> struct warpline_texel<T##4, cudaReadModeNormalizedFloat> {                                               \
    typedef float4 type;                                                                                               \
  };
WARPLINE_NORMALIZED(char)
WARPLINE_NORMALIZED(signed char)
WARPLINE_NORMALIZED(unsigned char)
WARPLINE_NORMALIZED(short)
WARPLINE_NORMALIZED(unsigned short)
WARPLINE_NORMALIZED_VECTORS(char)
WARPLINE_NORMALIZED_VECTORS(uchar)
WARPLINE_NORMALIZED_VECTORS(short)
WARPLINE_NORMALIZED_VECTORS(ushort)
#undef WARPLINE_NORMALIZED
#undef WARPLINE_NORMALIZED_VECTORS

#if defined(__CUDA__) && defined(__clang__)
template <class T> static __device__ __forceinline__ cudaTextureObject_t warpline_object_of(T reference) {
  cudaTextureObject_t object;
  asm("mov.b64 %0, %1;" : "=l"(object) : "l"(reference));
  return object;
}

// A fetch from a reference of this shape is a fetch from its object.
#define WARPLINE_PARENTHESES(...) __VA_ARGS__
#define WARPLINE_FETCH(name, shape, parameters, arguments)                                                             \
  template <class T, cudaTextureReadMode mode>                                                                         \
  static __device__ __forceinline__ typename warpline_texel<T, mode>::type name(texture<T, shape, mode> reference,     \
                                                                                WARPLINE_PARENTHESES parameters) {     \
    return ::name<typename warpline_texel<T, mode>::type>(warpline_object_of(reference),                               \
                                                          WARPLINE_PARENTHESES arguments);                             \
  }
WARPLINE_FETCH(tex1Dfetch, cudaTextureType1D, (int x), (x))
WARPLINE_FETCH(tex1D, cudaTextureType1D, (float x), (x))
WARPLINE_FETCH(tex2D, cudaTextureType2D, (float x, float y), (x, y))
WARPLINE_FETCH(tex3D, cudaTextureType3D, (float x, float y, float z), (x, y, z))
WARPLINE_FETCH(tex1DLayered, cudaTextureType1DLayered, (float x, int layer), (x, layer))
WARPLINE_FETCH(tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer), (x, y, layer))
WARPLINE_FETCH(texCubemap, cudaTextureTypeCubemap, (float x, float y, float z), (x, y, z))
WARPLINE_FETCH(texCubemapLayered, cudaTextureTypeCubemapLayered, (float x, float y, float z, int layer),
               (x, y, z, layer))
WARPLINE_FETCH(tex1DLod, cudaTextureType1D, (float x, float level), (x, level))
WARPLINE_FETCH(tex2DLod, cudaTextureType2D, (float x, float y, float level), (x, y, level))
WARPLINE_FETCH(tex3DLod, cudaTextureType3D, (float x, float y, float z, float level), (x, y, z, level))
WARPLINE_FETCH(tex2DGrad, cudaTextureType2D, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy))
WARPLINE_FETCH(tex2Dgather, cudaTextureType2D, (float x, float y, int component = 0), (x, y, component))
#undef WARPLINE_FETCH
#undef WARPLINE_PARENTHESES
#endif

#endif
