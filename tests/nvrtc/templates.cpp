// Compiles templates by name expressions while it runs, with a header in memory, and launches them: from PTX and as a cubin.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <nvrtc.h>
#include <string>
#include <vector>

static void check(int code, int line) {
    if (code != 0) {
        printf("line %d: error %d\n", line, code);
        exit(1);
    }
}
#define CHECK(call) check(call, __LINE__)

// The kernel's loop stands on line 8 of the source, its load and store on line 9.
static const char *source = R"(#include "factors.h"
#include <stdint.h>
namespace math {
__constant__ float offset;
__device__ int launches;
template <typename T, int N>
__global__ void scale(T *x, int32_t n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = x[i] * static_cast<T>(N * FACTOR + half_of(6.0f)) + static_cast<T>(offset);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        atomicAdd(&launches, 1);
}
}
)";
static const char *header = "#pragma once\n#define FACTOR 2\n"
                            "template <class T> __device__ T half_of(T x) { return x / 2; }\n";

template <typename T> static void launch(CUmodule module, const char *kernel_name, T factor) {
    CUfunction kernel;
    CHECK(cuModuleGetFunction(&kernel, module, kernel_name));
    const int n = 1000;
    std::vector<T> host(n);
    for (int i = 0; i < n; i++)
        host[i] = static_cast<T>(i);
    CUdeviceptr x;
    CHECK(cuMemAlloc(&x, n * sizeof(T)));
    CHECK(cuMemcpyHtoD(x, host.data(), n * sizeof(T)));
    int count = n;
    void *arguments[] = {&x, &count};
    CHECK(cuLaunchKernel(kernel, 4, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
    CHECK(cuMemcpyDtoH(host.data(), x, n * sizeof(T)));
    for (int i = 0; i < n; i++)
        if (host[i] != static_cast<T>(i) * factor + T(1)) {
            printf("element %d is %g\n", i, static_cast<double>(host[i]));
            exit(2);
        }
    CHECK(cuMemFree(x));
}

int main() {
    CHECK(cuInit(0));
    CUdevice device;
    CUcontext context;
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));

    nvrtcProgram program;
    const char *headers[] = {header}, *names[] = {"factors.h"};
    CHECK(nvrtcCreateProgram(&program, source, "scale.cu", 1, headers, names));
    const char *expressions[] = {"math::scale<float, 3>", "&math::scale<double, 5>", "&math::launches", "&math::offset"};
    for (const char *expression : expressions)
        CHECK(nvrtcAddNameExpression(program, expression));
    if (const char *early; nvrtcGetLoweredName(program, expressions[0], &early) != NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION)
        return 3;
    const char *options[] = {"--gpu-architecture=sm_80", "--std=c++17", "-lineinfo", "--use_fast_math", "-DUNUSED=1"};
    CHECK(nvrtcCompileProgram(program, 5, options));
    if (nvrtcAddNameExpression(program, "late") != NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION)
        return 4;
    const char *lowered[4], *none;
    for (int i = 0; i < 4; i++)
        CHECK(nvrtcGetLoweredName(program, expressions[i], &lowered[i]));
    if (nvrtcGetLoweredName(program, "math::scale<int, 1>", &none) != NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID)
        return 5;
    puts(lowered[0]);
    puts(lowered[2]);

    size_t ptx_bytes, cubin_bytes;
    CHECK(nvrtcGetPTXSize(program, &ptx_bytes));
    CHECK(nvrtcGetCUBINSize(program, &cubin_bytes));
    std::vector<char> ptx(ptx_bytes), cubin(cubin_bytes);
    CHECK(nvrtcGetPTX(program, ptx.data()));
    CHECK(nvrtcGetCUBIN(program, cubin.data()));
    // PTX is text, and has the kernels in it.
    if (strlen(ptx.data()) + 1 != ptx_bytes || !strstr(ptx.data(), lowered[0]) || !strstr(ptx.data(), ".target sm_80"))
        return 6;
    for (const void *image : {static_cast<const void *>(ptx.data()), static_cast<const void *>(cubin.data())}) {
        CUmodule module;
        CHECK(cuModuleLoadDataEx(&module, image, 0, nullptr, nullptr));
        CUdeviceptr address;
        size_t bytes;
        float one = 1;
        CHECK(cuModuleGetGlobal(&address, &bytes, module, lowered[3]));
        CHECK(cuMemcpyHtoD(address, &one, sizeof one));
        launch<float>(module, lowered[0], 3 * 2 + 3);
        launch<double>(module, lowered[1], 5 * 2 + 3);
        int launches = 0;
        CHECK(cuModuleGetGlobal(&address, &bytes, module, lowered[2]));
        CHECK(cuMemcpyDtoH(&launches, address, sizeof launches));
        if (launches != 2 || bytes != sizeof launches)
            return 7;
        CHECK(cuModuleUnload(module));
    }
    CHECK(nvrtcDestroyProgram(&program));
    if (program || nvrtcDestroyProgram(&program) != NVRTC_ERROR_INVALID_PROGRAM)
        return 8;
    // Changed PTX is not run, nor is PTX of others.
    std::string changed(ptx.data());
    changed.replace(changed.find("sm_80"), 5, "sm_90");
    if (CUmodule module; cuModuleLoadData(&module, changed.c_str()) != CUDA_ERROR_NO_BINARY_FOR_GPU)
        return 9;
    puts("right");
}
