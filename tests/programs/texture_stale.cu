// needs: hooks
// expect: stderr "through an object whose memory was freed"
// expect: stderr "texture_stale.cu:9"
// A kernel that fetches through a texture object whose memory is gone.
#include "test.h"

__global__ void copy(cudaTextureObject_t texture, float *out)
{
    out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}

int main()
{
    Device<float> out(32);
    float *memory;
    CHECK(cudaMalloc(&memory, 128));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = 128;
    cudaTextureDesc desc = {};
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
    copy<<<1, 32>>>(texture, out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(memory));
    copy<<<1, 32>>>(texture, out);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    if (failures > 0) {
        return 1;
    }
    std::printf("PASS texture_stale\n");
    return 0;
}
