// As front ends of other languages work: every function by its name, a library in the place of a module, copies of rectangles.
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cudaTypedefs.h>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// Of cudaProfiler.h, which the wheels of CUDA lack.
extern "C" CUresult cuProfilerStart(), cuProfilerStop();

#define CHECK(call) check(call, __LINE__)
static void check(CUresult result, int line) {
    if (result != CUDA_SUCCESS) {
        printf("line %d: error %d\n", line, result);
        exit(1);
    }
}

template <class F> static F *function(const char *name, F *, int release = 12000) {
    void *found = nullptr;
    CUdriverProcAddressQueryResult status;
    CHECK(cuGetProcAddress(name, &found, release, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    if (status != CU_GET_PROC_ADDRESS_SUCCESS || !found) {
        printf("%s: status %d\n", name, status);
        exit(2);
    }
    return reinterpret_cast<F *>(found);
}
#define FUNCTION(name) auto *name##_ = function(#name, &name)

static size_t shared_of(int threads) { return threads * sizeof(float); }

int main(int, char **arguments) {
    FUNCTION(cuInit);
    FUNCTION(cuDevicePrimaryCtxRetain);
    FUNCTION(cuCtxSetCurrent);
    FUNCTION(cuMemAlloc);
    FUNCTION(cuMemcpyHtoD);
    FUNCTION(cuLaunchKernel);
    FUNCTION(cuLibraryLoadData);
    FUNCTION(cuLibraryGetKernel);
    FUNCTION(cuMemcpy2D);
    FUNCTION(cuMemcpy3D);
    FUNCTION(cuOccupancyMaxPotentialBlockSize);
    void *none = &none;
    CUdriverProcAddressQueryResult status;
    CHECK(cuGetProcAddress("cuNoSuchThing", &none, 12000, 0, &status));
    if (none || status != CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND ||
        cuGetProcAddress("cuNoSuchThing", &none, 12000, 0, nullptr) != CUDA_ERROR_NOT_FOUND)
        return 3;

    CHECK(cuInit_(0));
    std::ifstream file(arguments[1], std::ios::binary);
    std::string image((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    CUlibrary library;
    CUkernel kernel;
    // Without a context.
    CHECK(cuLibraryLoadData_(&library, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK(cuLibraryGetKernel_(&kernel, library, "scale"));
    if (cuLibraryGetKernel(&kernel, library, "none") != CUDA_ERROR_NOT_FOUND)
        return 4;
    CHECK(cuLibraryGetKernel_(&kernel, library, "scale"));
    const char *name;
    unsigned count;
    CHECK(cuKernelGetName(&name, kernel));
    CHECK(cuLibraryGetKernelCount(&count, library));
    if (std::string(name) != "scale" || count != 1)
        return 5;
    CUcontext context;
    CHECK(cuDevicePrimaryCtxRetain_(&context, 0));
    CHECK(cuCtxSetCurrent_(context));
    CUfunction as_function;
    CHECK(cuKernelGetFunction(&as_function, kernel));
    CUmodule module;
    CHECK(cuLibraryGetModule(&module, library));
    int most = 0, same = 0, loaded = 0;
    CHECK(cuKernelGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0));
    CHECK(cuFuncGetAttribute(&same, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, as_function));
    CHECK(cuFuncGetName(&name, as_function));
    CHECK(cuFuncIsLoaded(reinterpret_cast<CUfunctionLoadingState *>(&loaded), as_function));
    if (most < 64 || same != most || loaded != CU_FUNCTION_LOADING_STATE_LOADED)
        return 6;

    // The best block size fills the device by the count of blocks on an SM, and has no fewer threads there than others.
    int grid, block, on_sm, sms;
    CHECK(cuOccupancyMaxPotentialBlockSize_(&grid, &block, as_function, shared_of, 0, 0));
    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&on_sm, as_function, block, shared_of(block), 0));
    CHECK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    if (block > most || on_sm < 1 || grid != on_sm * sms)
        return 7;
    for (int other = 32; other <= most; other += 32) {
        int blocks;
        CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, as_function, other, shared_of(other)));
        if (blocks * other > on_sm * block)
            return 17;
    }
    CHECK(cuOccupancyMaxPotentialBlockSize_(&grid, &block, as_function, nullptr, 256, 40));
    size_t shared;
    CHECK(cuOccupancyAvailableDynamicSMemPerBlock(&shared, as_function, 1, 64));
    if (block != 40 && block != 32)
        return 8;
    if (shared < 32 << 10)
        return 9;

    // A rectangle of 3 by 5 out of one of 10 by 8, to the middle of rows of 64 bytes, and back as a box of one slice.
    std::vector<float> host(80), back(80, -1.0f);
    for (int i = 0; i < 80; i++)
        host[i] = static_cast<float>(i);
    CUdeviceptr rows, out;
    CHECK(cuMemAlloc_(&rows, 64 * 8));
    CHECK(cuMemAlloc_(&out, 64 * 8));
    CUDA_MEMCPY2D to = {};
    to.srcMemoryType = CU_MEMORYTYPE_HOST;
    to.srcHost = host.data();
    to.srcPitch = 10 * sizeof(float);
    to.srcXInBytes = 2 * sizeof(float);
    to.srcY = 1;
    to.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    to.dstDevice = rows;
    to.dstPitch = 64;
    to.dstXInBytes = 4 * sizeof(float);
    to.WidthInBytes = 3 * sizeof(float);
    to.Height = 5;
    CHECK(cuMemsetD8(rows, 0, 64 * 8));
    CHECK(cuMemcpy2D_(&to));
    CUDA_MEMCPY3D from = {};
    from.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    from.srcDevice = rows;
    from.srcPitch = 64;
    from.srcHeight = 8;
    from.srcXInBytes = 4 * sizeof(float);
    from.dstMemoryType = CU_MEMORYTYPE_HOST;
    from.dstHost = back.data();
    from.dstPitch = 10 * sizeof(float);
    from.dstHeight = 8;
    from.WidthInBytes = 3 * sizeof(float);
    from.Height = 5;
    from.Depth = 1;
    CHECK(cuMemcpy3D_(&from));
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 3; x++)
            if (back[y * 10 + x] != host[(y + 1) * 10 + x + 2])
                return 10;
    if (back[3] != -1.0f || back[50] != -1.0f)
        return 11;
    to.WidthInBytes = 60;
    if (cuMemcpy2D_(&to) != CUDA_ERROR_INVALID_VALUE)
        return 12;
    to.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    to.WidthInBytes = 4;
    if (cuMemcpy2D_(&to) != CUDA_ERROR_INVALID_HANDLE)
        return 13;

    // A kernel where a function is requested, as CUDA has it.
    CUstream stream;
    unsigned flags;
    CUcontext of_stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamGetFlags(stream, &flags));
    CHECK(cuStreamGetCtx(stream, &of_stream));
    if (flags != CU_STREAM_NON_BLOCKING || of_stream != context)
        return 14;
    int n = 64;
    float factor = 3;
    CUdeviceptr scratch = 0;
    void *list[] = {&rows, &out, &n, &factor, &scratch};
    CHECK(cuProfilerStart());
    CHECK(cuLaunchKernel_(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 64, 1, 1, 256, stream, list, nullptr));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuProfilerStop());
    float first[16];
    CHECK(cuMemcpyDtoH(first, out, sizeof first));
    if (first[4] != 3 * host[12] || first[0] != 0)
        return 15;
    CHECK(cuLibraryUnload(library));
    if (cuLibraryUnload(library) != CUDA_ERROR_INVALID_HANDLE)
        return 16;
    puts("right");
}
