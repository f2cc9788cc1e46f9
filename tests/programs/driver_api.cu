// Calls of the driver API among those of the runtime: device, context, memory, copies, fills, streams and events.
// flags: -lcuda
#include "test.h"
#include <cuda.h>

#define DRIVER(call)                                                                                  \
    do {                                                                                              \
        CUresult status_ = (call);                                                                    \
        if (status_ != CUDA_SUCCESS) {                                                                \
            const char *name_ = nullptr;                                                              \
            cuGetErrorName(status_, &name_);                                                          \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, name_ ? name_ : "?");  \
            std::exit(1);                                                                             \
        }                                                                                             \
    } while (0)

__global__ void twice(int *numbers, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        numbers[i] *= 2;
}

void devices()
{
    int count = 0, version = 0, runtime = 0, sms = 0, major = 0;
    CUdevice device = -1;
    DRIVER(cuDeviceGetCount(&count));
    EXPECT(count >= 1);
    DRIVER(cuDeviceGet(&device, 0));
    EXPECT(cuDeviceGet(&device, count + 3) == CUDA_ERROR_INVALID_DEVICE);
    DRIVER(cuDriverGetVersion(&version));
    CHECK(cudaDriverGetVersion(&runtime));
    EXPECT(version == runtime && version >= 12000);
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    DRIVER(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    DRIVER(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    EXPECT(sms == properties.multiProcessorCount && major == properties.major);
    char name[256] = "", start[5] = "";
    DRIVER(cuDeviceGetName(name, sizeof name, device));
    DRIVER(cuDeviceGetName(start, sizeof start, device));
    EXPECT(std::strcmp(name, properties.name) == 0 && std::strncmp(name, start, 4) == 0 && start[4] == 0);
    size_t bytes = 0;
    DRIVER(cuDeviceTotalMem(&bytes, device));
    EXPECT(bytes >= properties.totalGlobalMem);
    CUuuid uuid;
    DRIVER(cuDeviceGetUuid(&uuid, device));
    EXPECT(std::memcmp(&uuid, &properties.uuid, sizeof uuid) == 0);
}

void contexts()
{
    CUcontext primary = nullptr, own = nullptr, current = nullptr;
    CUdevice device = -1;
    DRIVER(cuDevicePrimaryCtxRetain(&primary, 0));
    DRIVER(cuCtxSetCurrent(primary));
    DRIVER(cuCtxGetCurrent(&current));
    EXPECT(primary && current == primary);
    DRIVER(cuCtxCreate(&own, nullptr, 0, 0));
    DRIVER(cuCtxGetCurrent(&current));
    EXPECT(current == own && own != primary);
    DRIVER(cuCtxGetDevice(&device));
    EXPECT(device == 0);
    size_t before = 0, within = 0, after = 0, total = 0;
    DRIVER(cuMemGetInfo(&before, &total));
    CUdeviceptr left;
    DRIVER(cuMemAlloc(&left, 64 << 20));
    DRIVER(cuMemGetInfo(&within, &total));
    DRIVER(cuCtxDestroy(own)); // frees what was allocated in it
    DRIVER(cuCtxGetCurrent(&current));
    EXPECT(current == primary);
    DRIVER(cuMemGetInfo(&after, &total));
    EXPECT(within < before && after == before && total >= before);
    EXPECT(cuCtxPushCurrent(own) == CUDA_ERROR_INVALID_CONTEXT);
    DRIVER(cuCtxPushCurrent(primary));
    DRIVER(cuCtxPopCurrent(&current));
    EXPECT(current == primary);
    DRIVER(cuDevicePrimaryCtxRelease(0));
    DRIVER(cuCtxSynchronize());
}

void memory()
{
    const int count = 1000;
    std::vector<int> host(count), back(count);
    for (int i = 0; i < count; ++i)
        host[i] = i - 7;
    CUdeviceptr d_numbers, d_copy;
    DRIVER(cuMemAlloc(&d_numbers, count * sizeof(int)));
    DRIVER(cuMemAlloc(&d_copy, count * sizeof(int)));
    DRIVER(cuMemcpyHtoD(d_numbers, host.data(), count * sizeof(int)));
    twice<<<(count + 127) / 128, 128>>>(reinterpret_cast<int *>(d_numbers), count);
    DRIVER(cuCtxSynchronize());
    DRIVER(cuMemcpyDtoD(d_copy, d_numbers, count * sizeof(int)));
    DRIVER(cuMemcpyDtoH(back.data(), d_copy, count * sizeof(int)));
    for (int &number : host)
        number *= 2;
    expect_equal("doubled", back, host);

    // The same memory through both APIs.
    DRIVER(cuMemsetD32(d_copy, 0x01020304, 10));
    DRIVER(cuMemsetD16(d_copy + 40, 0x0506, 3));
    DRIVER(cuMemsetD8(d_copy + 46, 7, 2));
    unsigned char bytes[48];
    CHECK(cudaMemcpy(bytes, reinterpret_cast<void *>(d_copy), sizeof bytes, cudaMemcpyDeviceToHost));
    EXPECT(bytes[0] == 4 && bytes[3] == 1 && bytes[36] == 4 && bytes[40] == 6 && bytes[45] == 5 && bytes[46] == 7);
    EXPECT(cuMemsetD32(d_copy + 2, 0, 1) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemcpyHtoD(d_copy + 3996, host.data(), 8) == CUDA_ERROR_INVALID_VALUE);

    CUdeviceptr start;
    size_t size;
    DRIVER(cuMemGetAddressRange(&start, &size, d_copy + 100));
    EXPECT(start == d_copy && size == count * sizeof(int));
    unsigned kind = 0;
    DRIVER(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, d_copy));
    EXPECT(kind == CU_MEMORYTYPE_DEVICE);

    // Rows, pinned and managed memory, streams and events.
    CUdeviceptr rows, managed;
    size_t pitch = 0;
    DRIVER(cuMemAllocPitch(&rows, &pitch, 100, 5, 4));
    DRIVER(cuMemsetD2D32(rows, pitch, 3, 25, 5));
    int last = 0;
    DRIVER(cuMemcpyDtoH(&last, rows + 4 * pitch + 96, 4));
    EXPECT(last == 3 && pitch >= 100);
    DRIVER(cuMemAllocManaged(&managed, 256, CU_MEM_ATTACH_GLOBAL));
    reinterpret_cast<int *>(managed)[3] = 5;
    void *pinned = nullptr;
    DRIVER(cuMemAllocHost(&pinned, 4096));
    CUstream stream;
    CUevent begin, end;
    DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DRIVER(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    DRIVER(cuEventCreate(&end, CU_EVENT_DEFAULT));
    DRIVER(cuEventRecord(begin, stream));
    DRIVER(cuMemcpyDtoHAsync(pinned, d_numbers, 400, stream));
    twice<<<1, 32, 0, stream>>>(static_cast<int *>(pinned), 1);
    DRIVER(cuEventRecord(end, stream));
    DRIVER(cuStreamSynchronize(stream));
    EXPECT(cuEventQuery(end) == CUDA_SUCCESS && cuStreamQuery(stream) == CUDA_SUCCESS);
    float milliseconds = -1;
    DRIVER(cuEventElapsedTime(&milliseconds, begin, end));
    EXPECT(milliseconds >= 0 && *static_cast<int *>(pinned) == -28);
    DRIVER(cuEventDestroy(begin));
    DRIVER(cuEventDestroy(end));
    DRIVER(cuStreamDestroy(stream));
    DRIVER(cuMemFreeHost(pinned));
    DRIVER(cuMemFree(managed));
    DRIVER(cuMemFree(rows));
    DRIVER(cuMemFree(d_copy));
    CHECK(cudaFree(reinterpret_cast<void *>(d_numbers)));
    EXPECT(cuMemFree(d_numbers) == CUDA_ERROR_INVALID_VALUE);
}

int main()
{
    CUcontext current = nullptr;
    size_t bytes;
    CUdevice device;
    // Before cuInit, and before there is a context.
    EXPECT(cuDeviceGet(&device, 0) == CUDA_ERROR_NOT_INITIALIZED);
    DRIVER(cuInit(0));
    DRIVER(cuCtxGetCurrent(&current));
    EXPECT(current == nullptr && cuMemGetInfo(&bytes, &bytes) == CUDA_ERROR_INVALID_CONTEXT);
    devices();
    contexts();
    CHECK(cudaFree(nullptr));
    memory();

    const char *text = nullptr;
    DRIVER(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    EXPECT(std::strcmp(text, "out of memory") == 0);
    DRIVER(cuGetErrorName(CUDA_ERROR_INVALID_HANDLE, &text));
    EXPECT(std::strcmp(text, "CUDA_ERROR_INVALID_HANDLE") == 0);
    EXPECT(cuGetErrorName(static_cast<CUresult>(12345), &text) == CUDA_ERROR_INVALID_VALUE && text == nullptr);
    // The driver's errors are not the runtime's.
    CHECK(cudaGetLastError());
    return done("driver_api");
}
