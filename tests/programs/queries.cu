// Device properties, attributes, function attributes, occupancy, versions, limits, memory info.
#include "test.h"

__global__ void kernel(float *out)
{
    __shared__ float buffer[1000];
    buffer[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}

__constant__ int c_numbers[25];

__global__ void plain(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = c_numbers[threadIdx.x % 25];
}

int main()
{
    int count = 0, device = -1, runtime = 0, driver = 0;
    CHECK(cudaGetDeviceCount(&count));
    EXPECT(count >= 1);
    CHECK(cudaSetDevice(0));
    CHECK(cudaGetDevice(&device));
    EXPECT(device == 0);
    EXPECT_ERROR(cudaSetDevice(count + 7), cudaErrorInvalidDevice);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidDevice);
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaDriverGetVersion(&driver));
    EXPECT(runtime >= 12000 && driver >= runtime);

    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    std::printf("%s, %d.%d, %d multiprocessors\n", properties.name, properties.major, properties.minor,
                properties.multiProcessorCount);
    EXPECT(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024 && properties.name[0] != 0);
    EXPECT(properties.maxThreadsDim[0] == 1024 && properties.maxThreadsDim[2] == 64);
    EXPECT(properties.maxGridSize[0] == 2147483647 && properties.maxGridSize[1] == 65535);
    EXPECT(properties.multiProcessorCount > 0 && properties.totalGlobalMem > (1u << 30));
    EXPECT(properties.sharedMemPerBlock == 48 << 10 && properties.regsPerBlock >= 32768);
    EXPECT(properties.totalConstMem == 65536 && properties.unifiedAddressing == 1 && properties.managedMemory == 1);
    EXPECT(properties.l2CacheSize > 0 && properties.memoryBusWidth > 0);
    const struct {
        cudaDeviceAttr attribute;
        int value;
    } same[] = {{cudaDevAttrMultiProcessorCount, properties.multiProcessorCount},
                {cudaDevAttrComputeCapabilityMajor, properties.major},
                {cudaDevAttrComputeCapabilityMinor, properties.minor},
                {cudaDevAttrMaxThreadsPerBlock, properties.maxThreadsPerBlock},
                {cudaDevAttrWarpSize, 32},
                {cudaDevAttrMaxSharedMemoryPerBlock, static_cast<int>(properties.sharedMemPerBlock)},
                {cudaDevAttrMaxThreadsPerMultiProcessor, properties.maxThreadsPerMultiProcessor},
                {cudaDevAttrL2CacheSize, properties.l2CacheSize}};
    for (const auto &entry : same) {
        int value = -1;
        CHECK(cudaDeviceGetAttribute(&value, entry.attribute, 0));
        expect_equal("attribute", value, entry.value);
    }
    int clock = 0;
    CHECK(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0));
    EXPECT(clock > 100000);

    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, kernel));
    expect_equal("static shared", attributes.sharedSizeBytes, size_t(4000));
    EXPECT(attributes.maxThreadsPerBlock > 0 && attributes.maxThreadsPerBlock <= 1024);
    EXPECT(attributes.numRegs > 0 && attributes.numRegs <= 255);

    int blocks = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 256, 0));
    EXPECT(blocks >= 1 && blocks * 256 <= properties.maxThreadsPerMultiProcessor);
    int with_shared = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&with_shared, plain, 32, 40 << 10));
    EXPECT(with_shared >= 1 && with_shared * (40u << 10) <= properties.sharedMemPerMultiprocessor);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, plain, 1024, 0, cudaOccupancyDefault));
    EXPECT(blocks == properties.maxThreadsPerMultiProcessor / 1024);
    int least = 0, size = 0;
    CHECK(cudaOccupancyMaxPotentialBlockSize(&least, &size, plain, 0, 0));
    EXPECT(least >= properties.multiProcessorCount && size >= 32 && size <= 1024 && size % 32 == 0);

    CHECK(cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferShared));
    CHECK(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(properties.sharedMemPerBlockOptin)));
    Device<int> out(64);
    plain<<<1, 64, properties.sharedMemPerBlockOptin>>>(out);
    CHECK(cudaGetLastError());

    size_t free_bytes = 0, total = 0, limit = 0, less = 0;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    EXPECT(total == properties.totalGlobalMem && free_bytes <= total);
    void *memory;
    CHECK(cudaMalloc(&memory, 64 << 20));
    CHECK(cudaMemGetInfo(&less, &total));
    EXPECT(less + (64u << 20) <= free_bytes);
    CHECK(cudaFree(memory));
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4 << 20));
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
    EXPECT(limit >= 4u << 20);
    CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    char id[32];
    CHECK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
    return done("queries");
}
