// Declares cuBLAS, for programs whose shared header includes it, and may create a handle, but that compute nothing with
// it. Handles, their settings and copies are implemented here. The other functions have no library, so a call is an
// undefined symbol of the link, whose message names the function. The names and values are those of cuBLAS. If the
// toolkit has its own header, that header is used.
#if defined(__has_include_next)
#if __has_include_next(<cublas_v2.h>)
#define WARPLINE_CUBLAS_IS_THERE
#endif
#endif

#ifdef WARPLINE_CUBLAS_IS_THERE
#include_next <cublas_v2.h>
#elif !defined(CUBLAS_V2_H_)
#define CUBLAS_V2_H_
#define CUBLAS_API_H_
#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION 130000
#define CUBLASAPI
#define CUBLASWINAPI

#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <library_types.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum {
  CUBLAS_FILL_MODE_LOWER = 0,
  CUBLAS_FILL_MODE_UPPER = 1,
  CUBLAS_FILL_MODE_FULL = 2
} cublasFillMode_t;
typedef enum {
  CUBLAS_DIAG_NON_UNIT = 0,
  CUBLAS_DIAG_UNIT = 1
} cublasDiagType_t;
typedef enum {
  CUBLAS_SIDE_LEFT = 0,
  CUBLAS_SIDE_RIGHT = 1
} cublasSideMode_t;
typedef enum {
  CUBLAS_OP_N = 0,
  CUBLAS_OP_T = 1,
  CUBLAS_OP_C = 2,
  CUBLAS_OP_HERMITAN = 2,
  CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum {
  CUBLAS_POINTER_MODE_HOST = 0,
  CUBLAS_POINTER_MODE_DEVICE = 1
} cublasPointerMode_t;
typedef enum {
  CUBLAS_ATOMICS_NOT_ALLOWED = 0,
  CUBLAS_ATOMICS_ALLOWED = 1
} cublasAtomicsMode_t;
typedef enum {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_ALGO0 = 0,
  CUBLAS_GEMM_ALGO1 = 1,
  CUBLAS_GEMM_ALGO2 = 2,
  CUBLAS_GEMM_ALGO3 = 3,
  CUBLAS_GEMM_ALGO4 = 4,
  CUBLAS_GEMM_ALGO5 = 5,
  CUBLAS_GEMM_ALGO6 = 6,
  CUBLAS_GEMM_ALGO7 = 7,
  CUBLAS_GEMM_ALGO8 = 8,
  CUBLAS_GEMM_ALGO9 = 9,
  CUBLAS_GEMM_ALGO10 = 10,
  CUBLAS_GEMM_ALGO11 = 11,
  CUBLAS_GEMM_ALGO12 = 12,
  CUBLAS_GEMM_ALGO13 = 13,
  CUBLAS_GEMM_ALGO14 = 14,
  CUBLAS_GEMM_ALGO15 = 15,
  CUBLAS_GEMM_ALGO16 = 16,
  CUBLAS_GEMM_ALGO17 = 17,
  CUBLAS_GEMM_ALGO18 = 18,
  CUBLAS_GEMM_ALGO19 = 19,
  CUBLAS_GEMM_ALGO20 = 20,
  CUBLAS_GEMM_ALGO21 = 21,
  CUBLAS_GEMM_ALGO22 = 22,
  CUBLAS_GEMM_ALGO23 = 23,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
  CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
  CUBLAS_GEMM_ALGO1_TENSOR_OP = 101,
  CUBLAS_GEMM_ALGO2_TENSOR_OP = 102,
  CUBLAS_GEMM_ALGO3_TENSOR_OP = 103,
  CUBLAS_GEMM_ALGO4_TENSOR_OP = 104,
  CUBLAS_GEMM_ALGO5_TENSOR_OP = 105,
  CUBLAS_GEMM_ALGO6_TENSOR_OP = 106,
  CUBLAS_GEMM_ALGO7_TENSOR_OP = 107,
  CUBLAS_GEMM_ALGO8_TENSOR_OP = 108,
  CUBLAS_GEMM_ALGO9_TENSOR_OP = 109,
  CUBLAS_GEMM_ALGO10_TENSOR_OP = 110,
  CUBLAS_GEMM_ALGO11_TENSOR_OP = 111,
  CUBLAS_GEMM_ALGO12_TENSOR_OP = 112,
  CUBLAS_GEMM_ALGO13_TENSOR_OP = 113,
  CUBLAS_GEMM_ALGO14_TENSOR_OP = 114,
  CUBLAS_GEMM_ALGO15_TENSOR_OP = 115
} cublasGemmAlgo_t;
typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;
struct cublasContext {
  cudaStream_t stream;
  cublasPointerMode_t pointers;
  cublasAtomicsMode_t atomics;
  cublasMath_t math;
};
typedef struct cublasContext *cublasHandle_t;

#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasGetVersion cublasGetVersion_v2
#define cublasSetStream cublasSetStream_v2
#define cublasGetStream cublasGetStream_v2
#define cublasSetWorkspace cublasSetWorkspace_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasGetPointerMode cublasGetPointerMode_v2

static inline cublasStatus_t cublasCreate_v2(cublasHandle_t *handle) {
  if (!handle)
    return CUBLAS_STATUS_INVALID_VALUE;
  *handle = (cublasHandle_t)calloc(1, sizeof(struct cublasContext));
  return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}
static inline cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  if (!handle)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  free(handle);
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version) {
  (void)handle;
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t size) {
  (void)workspace;
  (void)size;
  return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
#define WARPLINE_CUBLAS_SETTING(set, get, type, member)                                                                \
  static inline cublasStatus_t set(cublasHandle_t handle, type value) {                                                \
    if (!handle)                                                                                                       \
      return CUBLAS_STATUS_NOT_INITIALIZED;                                                                            \
    handle->member = value;                                                                                            \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  static inline cublasStatus_t get(cublasHandle_t handle, type *value) {                                               \
    if (!handle)                                                                                                       \
      return CUBLAS_STATUS_NOT_INITIALIZED;                                                                            \
    *value = handle->member;                                                                                           \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }
WARPLINE_CUBLAS_SETTING(cublasSetStream_v2, cublasGetStream_v2, cudaStream_t, stream)
WARPLINE_CUBLAS_SETTING(cublasSetPointerMode_v2, cublasGetPointerMode_v2, cublasPointerMode_t, pointers)
WARPLINE_CUBLAS_SETTING(cublasSetAtomicsMode, cublasGetAtomicsMode, cublasAtomicsMode_t, atomics)
WARPLINE_CUBLAS_SETTING(cublasSetMathMode, cublasGetMathMode, cublasMath_t, math)
#undef WARPLINE_CUBLAS_SETTING

static inline const char *cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
  case CUBLAS_STATUS_SUCCESS:
    return "CUBLAS_STATUS_SUCCESS";
  case CUBLAS_STATUS_NOT_INITIALIZED:
    return "CUBLAS_STATUS_NOT_INITIALIZED";
  case CUBLAS_STATUS_ALLOC_FAILED:
    return "CUBLAS_STATUS_ALLOC_FAILED";
  case CUBLAS_STATUS_INVALID_VALUE:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case CUBLAS_STATUS_MAPPING_ERROR:
    return "CUBLAS_STATUS_MAPPING_ERROR";
  default:
    return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}
static inline const char *cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "success" : cublasGetStatusName(status);
}

// Copies columns of a matrix, and vectors as matrices with one row.
#define WARPLINE_CUBLAS_COPY(vector, matrix, direction)                                                                \
  static inline cublasStatus_t matrix##Async(int rows, int columns, int size, const void *from, int from_rows,         \
                                             void *to, int to_rows, cudaStream_t stream) {                             \
    if (rows < 0 || columns < 0 || size <= 0 || from_rows <= 0 || to_rows <= 0)                                        \
      return CUBLAS_STATUS_INVALID_VALUE;                                                                              \
    cudaError_t copied = cudaMemcpy2DAsync(to, (size_t)to_rows * size, from, (size_t)from_rows * size,                 \
                                           (size_t)rows * size, columns, direction, stream);                           \
    return copied == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;                                \
  }                                                                                                                    \
  static inline cublasStatus_t matrix(int rows, int columns, int size, const void *from, int from_rows, void *to,      \
                                      int to_rows) {                                                                   \
    cublasStatus_t copied = matrix##Async(rows, columns, size, from, from_rows, to, to_rows, 0);                       \
    return cudaStreamSynchronize(0) == cudaSuccess ? copied : CUBLAS_STATUS_MAPPING_ERROR;                             \
  }                                                                                                                    \
  static inline cublasStatus_t vector##Async(int count, int size, const void *from, int from_step, void *to,           \
                                             int to_step, cudaStream_t stream) {                                       \
    return matrix##Async(1, count, size, from, from_step, to, to_step, stream);                                        \
  }                                                                                                                    \
  static inline cublasStatus_t vector(int count, int size, const void *from, int from_step, void *to, int to_step) {   \
    return matrix(1, count, size, from, from_step, to, to_step);                                                       \
  }
WARPLINE_CUBLAS_COPY(cublasSetVector, cublasSetMatrix, cudaMemcpyHostToDevice)
WARPLINE_CUBLAS_COPY(cublasGetVector, cublasGetMatrix, cudaMemcpyDeviceToHost)
#undef WARPLINE_CUBLAS_COPY

cublasStatus_t cublasSaxpy_v2(cublasHandle_t handle, int n, const float *alpha, const float *x, int incx, float *y,
                              int incy);
#define cublasSaxpy cublasSaxpy_v2
cublasStatus_t cublasScopy_v2(cublasHandle_t handle, int n, const float *x, int incx, float *y, int incy);
#define cublasScopy cublasScopy_v2
cublasStatus_t cublasSswap_v2(cublasHandle_t handle, int n, float *x, int incx, float *y, int incy);
#define cublasSswap cublasSswap_v2
cublasStatus_t cublasSscal_v2(cublasHandle_t handle, int n, const float *alpha, float *x, int incx);
#define cublasSscal cublasSscal_v2
cublasStatus_t cublasIsamax_v2(cublasHandle_t handle, int n, const float *x, int incx, int *result);
#define cublasIsamax cublasIsamax_v2
cublasStatus_t cublasIsamin_v2(cublasHandle_t handle, int n, const float *x, int incx, int *result);
#define cublasIsamin cublasIsamin_v2
cublasStatus_t cublasSnrm2_v2(cublasHandle_t handle, int n, const float *x, int incx, float *result);
#define cublasSnrm2 cublasSnrm2_v2
cublasStatus_t cublasSasum_v2(cublasHandle_t handle, int n, const float *x, int incx, float *result);
#define cublasSasum cublasSasum_v2
cublasStatus_t cublasSdot_v2(cublasHandle_t handle, int n, const float *x, int incx, const float *y, int incy, float
                             *result);
#define cublasSdot cublasSdot_v2
cublasStatus_t cublasSgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const float *alpha, const
                              float *a, int lda, const float *x, int incx, const float *beta, float *y, int incy);
#define cublasSgemv cublasSgemv_v2
cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                              int k, const float *alpha, const float *a, int lda, const float *b, int ldb, const float
                              *beta, float *c, int ldc);
#define cublasSgemm cublasSgemm_v2
cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const float *alpha, const float *const a[], int lda, const float
                                  *const b[], int ldb, const float *beta, float *const c[], int ldc, int count);
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const float *alpha, const float *a, int lda, long long
                                         stridea, const float *b, int ldb, long long strideb, const float *beta, float
                                         *c, int ldc, long long stridec, int count);
cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           const float *alpha, const float *a, int lda, const float *beta, const float *b, int ldb,
                           float *c, int ldc);
cublasStatus_t cublasSdgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const float *a, int lda, const
                           float *x, int incx, float *c, int ldc);
cublasStatus_t cublasSsyrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                              const float *alpha, const float *a, int lda, const float *beta, float *c, int ldc);
#define cublasSsyrk cublasSsyrk_v2
cublasStatus_t cublasSsymm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n, const
                              float *alpha, const float *a, int lda, const float *b, int ldb, const float *beta, float
                              *c, int ldc);
#define cublasSsymm cublasSsymm_v2
cublasStatus_t cublasStrsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t
                              trans, cublasDiagType_t diag, int m, int n, const float *alpha, const float *a, int lda,
                              float *b, int ldb);
#define cublasStrsm cublasStrsm_v2
cublasStatus_t cublasStrsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t
                              diag, int n, const float *a, int lda, float *x, int incx);
#define cublasStrsv cublasStrsv_v2
cublasStatus_t cublasSgetrfBatched(cublasHandle_t handle, int n, float *const a[], int lda, int *pivots, int *info,
                                   int count);
cublasStatus_t cublasSgetriBatched(cublasHandle_t handle, int n, const float *const a[], int lda, const int *pivots,
                                   float *const c[], int ldc, int *info, int count);
cublasStatus_t cublasDaxpy_v2(cublasHandle_t handle, int n, const double *alpha, const double *x, int incx, double *y,
                              int incy);
#define cublasDaxpy cublasDaxpy_v2
cublasStatus_t cublasDcopy_v2(cublasHandle_t handle, int n, const double *x, int incx, double *y, int incy);
#define cublasDcopy cublasDcopy_v2
cublasStatus_t cublasDswap_v2(cublasHandle_t handle, int n, double *x, int incx, double *y, int incy);
#define cublasDswap cublasDswap_v2
cublasStatus_t cublasDscal_v2(cublasHandle_t handle, int n, const double *alpha, double *x, int incx);
#define cublasDscal cublasDscal_v2
cublasStatus_t cublasIdamax_v2(cublasHandle_t handle, int n, const double *x, int incx, int *result);
#define cublasIdamax cublasIdamax_v2
cublasStatus_t cublasIdamin_v2(cublasHandle_t handle, int n, const double *x, int incx, int *result);
#define cublasIdamin cublasIdamin_v2
cublasStatus_t cublasDnrm2_v2(cublasHandle_t handle, int n, const double *x, int incx, double *result);
#define cublasDnrm2 cublasDnrm2_v2
cublasStatus_t cublasDasum_v2(cublasHandle_t handle, int n, const double *x, int incx, double *result);
#define cublasDasum cublasDasum_v2
cublasStatus_t cublasDdot_v2(cublasHandle_t handle, int n, const double *x, int incx, const double *y, int incy,
                             double *result);
#define cublasDdot cublasDdot_v2
cublasStatus_t cublasDgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const double *alpha, const
                              double *a, int lda, const double *x, int incx, const double *beta, double *y, int incy);
#define cublasDgemv cublasDgemv_v2
cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                              int k, const double *alpha, const double *a, int lda, const double *b, int ldb, const
                              double *beta, double *c, int ldc);
#define cublasDgemm cublasDgemm_v2
cublasStatus_t cublasDgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const double *alpha, const double *const a[], int lda, const double
                                  *const b[], int ldb, const double *beta, double *const c[], int ldc, int count);
cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const double *alpha, const double *a, int lda, long long
                                         stridea, const double *b, int ldb, long long strideb, const double *beta,
                                         double *c, int ldc, long long stridec, int count);
cublasStatus_t cublasDgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           const double *alpha, const double *a, int lda, const double *beta, const double *b, int
                           ldb, double *c, int ldc);
cublasStatus_t cublasDdgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const double *a, int lda, const
                           double *x, int incx, double *c, int ldc);
cublasStatus_t cublasDsyrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                              const double *alpha, const double *a, int lda, const double *beta, double *c, int ldc);
#define cublasDsyrk cublasDsyrk_v2
cublasStatus_t cublasDsymm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n, const
                              double *alpha, const double *a, int lda, const double *b, int ldb, const double *beta,
                              double *c, int ldc);
#define cublasDsymm cublasDsymm_v2
cublasStatus_t cublasDtrsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t
                              trans, cublasDiagType_t diag, int m, int n, const double *alpha, const double *a, int
                              lda, double *b, int ldb);
#define cublasDtrsm cublasDtrsm_v2
cublasStatus_t cublasDtrsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t
                              diag, int n, const double *a, int lda, double *x, int incx);
#define cublasDtrsv cublasDtrsv_v2
cublasStatus_t cublasDgetrfBatched(cublasHandle_t handle, int n, double *const a[], int lda, int *pivots, int *info,
                                   int count);
cublasStatus_t cublasDgetriBatched(cublasHandle_t handle, int n, const double *const a[], int lda, const int *pivots,
                                   double *const c[], int ldc, int *info, int count);
cublasStatus_t cublasCaxpy_v2(cublasHandle_t handle, int n, const cuComplex *alpha, const cuComplex *x, int incx,
                              cuComplex *y, int incy);
#define cublasCaxpy cublasCaxpy_v2
cublasStatus_t cublasCcopy_v2(cublasHandle_t handle, int n, const cuComplex *x, int incx, cuComplex *y, int incy);
#define cublasCcopy cublasCcopy_v2
cublasStatus_t cublasCswap_v2(cublasHandle_t handle, int n, cuComplex *x, int incx, cuComplex *y, int incy);
#define cublasCswap cublasCswap_v2
cublasStatus_t cublasCscal_v2(cublasHandle_t handle, int n, const cuComplex *alpha, cuComplex *x, int incx);
#define cublasCscal cublasCscal_v2
cublasStatus_t cublasIcamax_v2(cublasHandle_t handle, int n, const cuComplex *x, int incx, int *result);
#define cublasIcamax cublasIcamax_v2
cublasStatus_t cublasIcamin_v2(cublasHandle_t handle, int n, const cuComplex *x, int incx, int *result);
#define cublasIcamin cublasIcamin_v2
cublasStatus_t cublasScnrm2_v2(cublasHandle_t handle, int n, const cuComplex *x, int incx, float *result);
#define cublasScnrm2 cublasScnrm2_v2
cublasStatus_t cublasScasum_v2(cublasHandle_t handle, int n, const cuComplex *x, int incx, float *result);
#define cublasScasum cublasScasum_v2
cublasStatus_t cublasCdotu_v2(cublasHandle_t handle, int n, const cuComplex *x, int incx, const cuComplex *y, int
                              incy, cuComplex *result);
#define cublasCdotu cublasCdotu_v2
cublasStatus_t cublasCdotc_v2(cublasHandle_t handle, int n, const cuComplex *x, int incx, const cuComplex *y, int
                              incy, cuComplex *result);
#define cublasCdotc cublasCdotc_v2
cublasStatus_t cublasCgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const cuComplex *alpha,
                              const cuComplex *a, int lda, const cuComplex *x, int incx, const cuComplex *beta,
                              cuComplex *y, int incy);
#define cublasCgemv cublasCgemv_v2
cublasStatus_t cublasCgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                              int k, const cuComplex *alpha, const cuComplex *a, int lda, const cuComplex *b, int ldb,
                              const cuComplex *beta, cuComplex *c, int ldc);
#define cublasCgemm cublasCgemm_v2
cublasStatus_t cublasCgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const cuComplex *alpha, const cuComplex *const a[], int lda, const
                                  cuComplex *const b[], int ldb, const cuComplex *beta, cuComplex *const c[], int ldc,
                                  int count);
cublasStatus_t cublasCgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const cuComplex *alpha, const cuComplex *a, int lda,
                                         long long stridea, const cuComplex *b, int ldb, long long strideb, const
                                         cuComplex *beta, cuComplex *c, int ldc, long long stridec, int count);
cublasStatus_t cublasCgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           const cuComplex *alpha, const cuComplex *a, int lda, const cuComplex *beta, const cuComplex
                           *b, int ldb, cuComplex *c, int ldc);
cublasStatus_t cublasCdgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const cuComplex *a, int lda,
                           const cuComplex *x, int incx, cuComplex *c, int ldc);
cublasStatus_t cublasCsyrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                              const cuComplex *alpha, const cuComplex *a, int lda, const cuComplex *beta, cuComplex
                              *c, int ldc);
#define cublasCsyrk cublasCsyrk_v2
cublasStatus_t cublasCsymm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n, const
                              cuComplex *alpha, const cuComplex *a, int lda, const cuComplex *b, int ldb, const
                              cuComplex *beta, cuComplex *c, int ldc);
#define cublasCsymm cublasCsymm_v2
cublasStatus_t cublasCtrsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t
                              trans, cublasDiagType_t diag, int m, int n, const cuComplex *alpha, const cuComplex *a,
                              int lda, cuComplex *b, int ldb);
#define cublasCtrsm cublasCtrsm_v2
cublasStatus_t cublasCtrsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t
                              diag, int n, const cuComplex *a, int lda, cuComplex *x, int incx);
#define cublasCtrsv cublasCtrsv_v2
cublasStatus_t cublasCgetrfBatched(cublasHandle_t handle, int n, cuComplex *const a[], int lda, int *pivots, int
                                   *info, int count);
cublasStatus_t cublasCgetriBatched(cublasHandle_t handle, int n, const cuComplex *const a[], int lda, const int
                                   *pivots, cuComplex *const c[], int ldc, int *info, int count);
cublasStatus_t cublasZaxpy_v2(cublasHandle_t handle, int n, const cuDoubleComplex *alpha, const cuDoubleComplex *x,
                              int incx, cuDoubleComplex *y, int incy);
#define cublasZaxpy cublasZaxpy_v2
cublasStatus_t cublasZcopy_v2(cublasHandle_t handle, int n, const cuDoubleComplex *x, int incx, cuDoubleComplex *y,
                              int incy);
#define cublasZcopy cublasZcopy_v2
cublasStatus_t cublasZswap_v2(cublasHandle_t handle, int n, cuDoubleComplex *x, int incx, cuDoubleComplex *y, int
                              incy);
#define cublasZswap cublasZswap_v2
cublasStatus_t cublasZscal_v2(cublasHandle_t handle, int n, const cuDoubleComplex *alpha, cuDoubleComplex *x, int
                              incx);
#define cublasZscal cublasZscal_v2
cublasStatus_t cublasIzamax_v2(cublasHandle_t handle, int n, const cuDoubleComplex *x, int incx, int *result);
#define cublasIzamax cublasIzamax_v2
cublasStatus_t cublasIzamin_v2(cublasHandle_t handle, int n, const cuDoubleComplex *x, int incx, int *result);
#define cublasIzamin cublasIzamin_v2
cublasStatus_t cublasDznrm2_v2(cublasHandle_t handle, int n, const cuDoubleComplex *x, int incx, double *result);
#define cublasDznrm2 cublasDznrm2_v2
cublasStatus_t cublasDzasum_v2(cublasHandle_t handle, int n, const cuDoubleComplex *x, int incx, double *result);
#define cublasDzasum cublasDzasum_v2
cublasStatus_t cublasZdotu_v2(cublasHandle_t handle, int n, const cuDoubleComplex *x, int incx, const cuDoubleComplex
                              *y, int incy, cuDoubleComplex *result);
#define cublasZdotu cublasZdotu_v2
cublasStatus_t cublasZdotc_v2(cublasHandle_t handle, int n, const cuDoubleComplex *x, int incx, const cuDoubleComplex
                              *y, int incy, cuDoubleComplex *result);
#define cublasZdotc cublasZdotc_v2
cublasStatus_t cublasZgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const cuDoubleComplex
                              *alpha, const cuDoubleComplex *a, int lda, const cuDoubleComplex *x, int incx, const
                              cuDoubleComplex *beta, cuDoubleComplex *y, int incy);
#define cublasZgemv cublasZgemv_v2
cublasStatus_t cublasZgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                              int k, const cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const
                              cuDoubleComplex *b, int ldb, const cuDoubleComplex *beta, cuDoubleComplex *c, int ldc);
#define cublasZgemm cublasZgemm_v2
cublasStatus_t cublasZgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const cuDoubleComplex *alpha, const cuDoubleComplex *const a[], int
                                  lda, const cuDoubleComplex *const b[], int ldb, const cuDoubleComplex *beta,
                                  cuDoubleComplex *const c[], int ldc, int count);
cublasStatus_t cublasZgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const cuDoubleComplex *alpha, const cuDoubleComplex *a,
                                         int lda, long long stridea, const cuDoubleComplex *b, int ldb, long long
                                         strideb, const cuDoubleComplex *beta, cuDoubleComplex *c, int ldc, long long
                                         stridec, int count);
cublasStatus_t cublasZgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           const cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const cuDoubleComplex
                           *beta, const cuDoubleComplex *b, int ldb, cuDoubleComplex *c, int ldc);
cublasStatus_t cublasZdgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const cuDoubleComplex *a, int
                           lda, const cuDoubleComplex *x, int incx, cuDoubleComplex *c, int ldc);
cublasStatus_t cublasZsyrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                              const cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const cuDoubleComplex
                              *beta, cuDoubleComplex *c, int ldc);
#define cublasZsyrk cublasZsyrk_v2
cublasStatus_t cublasZsymm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n, const
                              cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const cuDoubleComplex *b, int
                              ldb, const cuDoubleComplex *beta, cuDoubleComplex *c, int ldc);
#define cublasZsymm cublasZsymm_v2
cublasStatus_t cublasZtrsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t
                              trans, cublasDiagType_t diag, int m, int n, const cuDoubleComplex *alpha, const
                              cuDoubleComplex *a, int lda, cuDoubleComplex *b, int ldb);
#define cublasZtrsm cublasZtrsm_v2
cublasStatus_t cublasZtrsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t
                              diag, int n, const cuDoubleComplex *a, int lda, cuDoubleComplex *x, int incx);
#define cublasZtrsv cublasZtrsv_v2
cublasStatus_t cublasZgetrfBatched(cublasHandle_t handle, int n, cuDoubleComplex *const a[], int lda, int *pivots, int
                                   *info, int count);
cublasStatus_t cublasZgetriBatched(cublasHandle_t handle, int n, const cuDoubleComplex *const a[], int lda, const int
                                   *pivots, cuDoubleComplex *const c[], int ldc, int *info, int count);
cublasStatus_t cublasSger_v2(cublasHandle_t handle, int m, int n, const float *alpha, const float *x, int incx, const
                             float *y, int incy, float *a, int lda);
#define cublasSger cublasSger_v2
cublasStatus_t cublasSsymv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const float *alpha, const float *a,
                              int lda, const float *x, int incx, const float *beta, float *y, int incy);
#define cublasSsymv cublasSsymv_v2
cublasStatus_t cublasDger_v2(cublasHandle_t handle, int m, int n, const double *alpha, const double *x, int incx,
                             const double *y, int incy, double *a, int lda);
#define cublasDger cublasDger_v2
cublasStatus_t cublasDsymv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const double *alpha, const double
                              *a, int lda, const double *x, int incx, const double *beta, double *y, int incy);
#define cublasDsymv cublasDsymv_v2
cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           int k, const __half *alpha, const __half *a, int lda, const __half *b, int ldb, const
                           __half *beta, __half *c, int ldc);
cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const __half *alpha, const __half *a, int lda, long long
                                         stridea, const __half *b, int ldb, long long strideb, const __half *beta,
                                         __half *c, int ldc, long long stridec, int count);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void *alpha, const void *a, cudaDataType atype, int lda, const void *b,
                            cudaDataType btype, int ldb, const void *beta, void *c, cudaDataType ctype, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void *alpha, const void *a, cudaDataType atype,
                                          int lda, long long stridea, const void *b, cudaDataType btype, int ldb, long
                                          long strideb, const void *beta, void *c, cudaDataType ctype, int ldc, long
                                          long stridec, int count, cublasComputeType_t compute, cublasGemmAlgo_t
                                          algo);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void *alpha, const void *const a[], cudaDataType atype, int
                                   lda, const void *const b[], cudaDataType btype, int ldb, const void *beta, void
                                   *const c[], cudaDataType ctype, int ldc, int count, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algo);

#ifdef __cplusplus
}
#endif
#endif
