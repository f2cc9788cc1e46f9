// Loads a device module that was given on the command line, by every way, and launches its kernel.
#include <cuda.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static void check(CUresult result, int line) {
    if (result != CUDA_SUCCESS) {
        const char *name = "?";
        cuGetErrorName(result, &name);
        printf("line %d: %s\n", line, name);
        exit(1);
    }
}
#define CHECK(call) check(call, __LINE__)

static std::string content(const char *path) {
    FILE *file = fopen(path, "rb");
    std::string text;
    for (int byte; (byte = fgetc(file)) != EOF;) {
        text.push_back(static_cast<char>(byte));
    }
    fclose(file);
    return text;
}

// Arguments as the kernel takes them, one after another.
struct Packed {
    CUdeviceptr x, out;
    int n;
    float factor;
    CUdeviceptr scratch;
};

int main(int, char **arguments) {
    const int n = 100, threads = 64;
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CUdeviceptr x, out;
    CHECK(cuMemAlloc(&x, n * sizeof(float)));
    CHECK(cuMemAlloc(&out, n * sizeof(float)));
    std::vector<float> host(n);
    for (int i = 0; i < n; i++) {
        host[i] = static_cast<float>(i);
    }
    CHECK(cuMemcpyHtoD(x, host.data(), n * sizeof(float)));
    // As a file; from memory, an object or text; and the same once more.
    std::string image = content(arguments[1]);
    for (int way = 0; way < 3; way++) {
        CUmodule module;
        CHECK(way == 0 ? cuModuleLoad(&module, arguments[1]) : cuModuleLoadData(&module, image.c_str()));
        CUfunction kernel;
        CHECK(cuModuleGetFunction(&kernel, module, "scale"));
        if (cuModuleGetFunction(&kernel, module, "none") != CUDA_ERROR_NOT_FOUND) {
            return 2;
        }
        CHECK(cuModuleGetFunction(&kernel, module, "scale"));
        CUdeviceptr calls;
        size_t bytes;
        int count = 0;
        CHECK(cuModuleGetGlobal(&calls, &bytes, module, "calls"));
        CHECK(cuMemcpyDtoH(&count, calls, sizeof count));
        float factor = 2.0f + static_cast<float>(way);
        unsigned blocks = (n + threads - 1) / threads, shared = threads * sizeof(float);
        if (way == 1) {
            Packed packed = {x, out, n, factor, 0};
            size_t size = sizeof packed;
            void *list[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
            CHECK(cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, shared, nullptr, nullptr, list));
            size = 8;
            if (cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, shared, nullptr, nullptr, list) != CUDA_ERROR_INVALID_VALUE) {
                return 3;
            }
        } else {
            CUdeviceptr scratch = 0;
            int size = n;
            void *list[] = {&x, &out, &size, &factor, &scratch};
            CUlaunchConfig config = {};
            config.gridDimX = blocks;
            config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
            config.blockDimX = threads;
            config.sharedMemBytes = shared;
            // It is compiled for blocks of 64 threads (`nvvm.reqntid`).
            config.blockDimX = threads / 2;
            if (cuLaunchKernelEx(&config, kernel, list, nullptr) != CUDA_ERROR_INVALID_VALUE) {
                return 7;
            }
            config.blockDimX = threads;
            CHECK(cuLaunchKernelEx(&config, kernel, list, nullptr));
        }
        CHECK(cuMemcpyDtoH(host.data(), out, n * sizeof(float)));
        for (int i = 0; i < n; i++) {
            if (host[i] != factor * static_cast<float>(i)) {
                printf("way %d: element %d is %g\n", way, i, host[i]);
                return 4;
            }
        }
        int most = 0;
        CHECK(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel));
        CHECK(cuModuleUnload(module));
        if (count != 7 || most != threads || cuModuleUnload(module) != CUDA_ERROR_INVALID_HANDLE) {
            return 5;
        }
    }
    if (CUmodule module; cuModuleLoadData(&module, "// PTX\n.version 8.0\n.target sm_80\n") != CUDA_ERROR_NO_BINARY_FOR_GPU) {
        return 6;
    }
    puts("right");
}
