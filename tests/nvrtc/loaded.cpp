// Loads the driver and NVRTC by their files' names, as Python packages and plug-ins do, and queries its functions.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <dlfcn.h>
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

static void *library(const char *name) {
    void *found = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!found)
        printf("%s\n", dlerror());
    return found;
}

template <typename Function> static Function *symbol(void *from, const char *name) {
    Function *found = reinterpret_cast<Function *>(dlsym(from, name));
    if (!found)
        printf("no %s\n", name);
    return found;
}

static CUresult (*of_driver)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

template <typename Function> static Function *driver(const char *name) {
    void *found = nullptr;
    CHECK(of_driver(name, &found, 13000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
    return reinterpret_cast<Function *>(found);
}

static const char *source = R"(extern "C" __global__ void twice(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2.0f;
})";

int main() {
    void *nvrtc = library("libnvrtc.so.13"), *cuda = library("libcuda.so.1");
    if (!nvrtc || !cuda)
        return 1;
    of_driver = symbol<std::remove_pointer_t<decltype(of_driver)>>(cuda, "cuGetProcAddress_v2");
    nvrtcProgram program;
    CHECK(symbol<decltype(nvrtcCreateProgram)>(nvrtc, "nvrtcCreateProgram")(&program, source, "twice.cu", 0, nullptr, nullptr));
    const char *option = "-arch=sm_80";
    CHECK(symbol<decltype(nvrtcCompileProgram)>(nvrtc, "nvrtcCompileProgram")(program, 1, &option));
    size_t bytes;
    CHECK(symbol<decltype(nvrtcGetPTXSize)>(nvrtc, "nvrtcGetPTXSize")(program, &bytes));
    std::string ptx(bytes, '\0');
    CHECK(symbol<decltype(nvrtcGetPTX)>(nvrtc, "nvrtcGetPTX")(program, &ptx[0]));

    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr x;
    CHECK(driver<decltype(cuInit)>("cuInit")(0));
    CHECK(driver<decltype(cuDeviceGet)>("cuDeviceGet")(&device, 0));
    CHECK(driver<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain")(&context, device));
    CHECK(driver<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent")(context));
    CHECK(driver<decltype(cuModuleLoadData)>("cuModuleLoadData")(&module, ptx.c_str()));
    CHECK(driver<decltype(cuModuleGetFunction)>("cuModuleGetFunction")(&function, module, "twice"));
    int n = 1000;
    std::vector<float> host(n, 3.0f);
    CHECK(driver<decltype(cuMemAlloc)>("cuMemAlloc")(&x, n * sizeof(float)));
    CHECK(driver<decltype(cuMemcpyHtoD)>("cuMemcpyHtoD")(x, host.data(), n * sizeof(float)));
    void *arguments[] = {&x, &n};
    CHECK(driver<decltype(cuLaunchKernel)>("cuLaunchKernel")(function, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
    CHECK(driver<decltype(cuMemcpyDtoH)>("cuMemcpyDtoH")(host.data(), x, n * sizeof(float)));
    for (float value : host)
        if (value != 6.0f)
            return puts("wrong"), 1;
    puts(dlopen("libcublas.so.13", RTLD_NOW) ? "a library that is not there" : "right");
    // What is no library of CUDA's is the system's.
    return symbol<double(double)>(library("libm.so.6"), "cos")(0.0) == 1.0 ? 0 : 2;
}
