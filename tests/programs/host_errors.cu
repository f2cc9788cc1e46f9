// Mistakes of the host and the exact error codes that they give; the context survives them.
#include "test.h"

__global__ void nothing(int *) {}

__global__ void set(int *out)
{
    *out = 5;
}

int main()
{
    int host[4] = {};
    int *device = nullptr;
    CHECK(cudaMalloc(&device, 16));

    // Freeing.
    CHECK(cudaFree(nullptr));
    int *twice = nullptr;
    CHECK(cudaMalloc(&twice, 64));
    CHECK(cudaFree(twice));
    EXPECT_ERROR(cudaFree(twice), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaGetLastError(), cudaSuccess);
    EXPECT_ERROR(cudaFree(host), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaFree(device + 1), cudaErrorInvalidValue);

    // Allocating.
    EXPECT_ERROR(cudaMalloc(static_cast<int **>(nullptr), 16), cudaErrorInvalidValue);
    void *huge = host;
    EXPECT_ERROR(cudaMalloc(&huge, size_t(1) << 50), cudaErrorMemoryAllocation);
    void *none = host;
    CHECK(cudaMalloc(&none, 0));
    EXPECT(none == nullptr);

    // Copying.
    EXPECT_ERROR(cudaMemcpy(device, host, 17, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemcpy(host, device + 2, 16, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemcpy(host, device, 4, static_cast<cudaMemcpyKind>(77)), cudaErrorInvalidMemcpyDirection);
    EXPECT_ERROR(cudaMemcpy(nullptr, device, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemset(device, 0, 20), cudaErrorInvalidValue);
    CHECK(cudaMemcpy(device, host, 0, cudaMemcpyHostToDevice));

    // Launching.
    cudaGetLastError();
    nothing<<<0, 32>>>(device);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidConfiguration);
    nothing<<<1, 0>>>(device);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidConfiguration);
    nothing<<<1, 1025>>>(device);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidConfiguration);
    nothing<<<1, dim3(1, 1, 65)>>>(device);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidConfiguration);
    nothing<<<dim3(1, 65536), 1>>>(device);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidConfiguration);
    nothing<<<1, 32, 1 << 20>>>(device);
    EXPECT_ERROR(cudaPeekAtLastError(), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaPeekAtLastError(), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaGetLastError(), cudaSuccess);
    void *arguments[] = {&device};
    EXPECT_ERROR(cudaLaunchKernel(host, dim3(1), dim3(1), arguments, 0, nullptr), cudaErrorInvalidDeviceFunction);
    cudaFuncAttributes attributes;
    EXPECT_ERROR(cudaFuncGetAttributes(&attributes, host), cudaErrorInvalidDeviceFunction);
    cudaGetLastError();

    // Names and texts.
    EXPECT(std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    EXPECT(std::strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    EXPECT(std::strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    EXPECT(std::strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
    EXPECT(std::strcmp(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered") == 0);
    EXPECT(std::strcmp(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument") == 0);
    EXPECT(std::strcmp(cudaGetErrorString(static_cast<cudaError_t>(123456)), "unrecognized error code") == 0);

    // All is still well.
    set<<<1, 1>>>(device);
    CHECK(cudaMemcpy(host, device, 4, cudaMemcpyDeviceToHost));
    expect_equal("afterwards", host[0], 5);
    CHECK(cudaFree(device));
    CHECK(cudaDeviceReset());
    return done("host_errors");
}
