// Host memory that kernels reach: mapped when allocated, and registered afterwards.
#include "test.h"

__global__ void negate(int *values, const int *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        values[i] = -from[i];
    }
}

int main()
{
    const int n = 5000;
    int *mapped, *d_mapped;
    CHECK(cudaHostAlloc(&mapped, n * sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&d_mapped, mapped, 0));
    std::vector<int> registered(n);
    CHECK(cudaHostRegister(registered.data(), n * sizeof(int), cudaHostRegisterMapped));
    int *d_registered;
    CHECK(cudaHostGetDevicePointer(&d_registered, registered.data(), 0));
    for (int i = 0; i < n; ++i) {
        registered[i] = i;
    }
    negate<<<20, 256>>>(d_mapped, d_registered, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) {
        if (mapped[i] != -i) {
            EXPECT(!"mapped");
            break;
        }
    }
    negate<<<20, 256>>>(d_registered, d_mapped, n);
    CHECK(cudaDeviceSynchronize());
    EXPECT(registered[4321] == 4321);

    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, mapped));
    EXPECT(attributes.type == cudaMemoryTypeHost);
    int on_stack = 0;
    CHECK(cudaPointerGetAttributes(&attributes, &on_stack));
    EXPECT(attributes.type == cudaMemoryTypeUnregistered);
    unsigned flags;
    CHECK(cudaHostGetFlags(&flags, mapped));

    CHECK(cudaHostUnregister(registered.data()));
    EXPECT_ERROR(cudaHostUnregister(registered.data()), cudaErrorHostMemoryNotRegistered);
    CHECK(cudaFreeHost(mapped));
    EXPECT_ERROR(cudaFreeHost(mapped), cudaErrorInvalidValue);
    cudaGetLastError();
    return done("host_memory");
}
