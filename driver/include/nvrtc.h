// NVRTC's interface, which compiles CUDA source while the program runs. The functions are in Warpline's runtime. PTX is
// the code that a GPU would run, with a mark with which cuModuleLoadData finds the code for the CPU device; a cubin is
// this code itself.
#ifndef WARPLINE_NVRTC_H
#define WARPLINE_NVRTC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  NVRTC_SUCCESS = 0,
  NVRTC_ERROR_OUT_OF_MEMORY = 1,
  NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
  NVRTC_ERROR_INVALID_INPUT = 3,
  NVRTC_ERROR_INVALID_PROGRAM = 4,
  NVRTC_ERROR_INVALID_OPTION = 5,
  NVRTC_ERROR_COMPILATION = 6,
  NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
  NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
  NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
  NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
  NVRTC_ERROR_INTERNAL_ERROR = 11,
  NVRTC_ERROR_TIME_FILE_WRITE_FAILED = 12
} nvrtcResult;

typedef struct _nvrtcProgram *nvrtcProgram;

const char *nvrtcGetErrorString(nvrtcResult result);
nvrtcResult nvrtcVersion(int *major, int *minor);
nvrtcResult nvrtcGetNumSupportedArchs(int *count);
nvrtcResult nvrtcGetSupportedArchs(int *architectures);
nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name, int header_count,
                               const char *const *headers, const char *const *include_names);
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program);
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int option_count, const char *const *options);
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *size);
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx);
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size);
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin);
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size);
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log);
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *expression);
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *expression, const char **name);

#ifdef __cplusplus
}

#include <string>
#include <typeinfo>
#if defined(__GNUC__)
#include <cxxabi.h>
#include <stdlib.h>
#endif

/// Returns the name of a type, as it is written in a name expression.
template <typename T> nvrtcResult nvrtcGetTypeName(std::string *result) {
  int status = 0;
  char *name = abi::__cxa_demangle(typeid(T *).name(), nullptr, nullptr, &status);
  if (!name || status != 0) {
    free(name);
    return NVRTC_ERROR_INTERNAL_ERROR;
  }
  *result = name;
  free(name);
  // This is the name of the pointer type without its star.
  result->erase(result->rfind('*'), 1);
  return NVRTC_SUCCESS;
}
inline nvrtcResult nvrtcGetTypeName(const std::type_info &type, std::string *result) {
  int status = 0;
  char *name = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  if (!name || status != 0) {
    free(name);
    return NVRTC_ERROR_INTERNAL_ERROR;
  }
  *result = name;
  free(name);
  return NVRTC_SUCCESS;
}
#endif

#endif
