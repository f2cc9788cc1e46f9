// Memory pools and attributes of streams.
#include "test.h"

__global__ void fill(int *values, int value)
{
    values[threadIdx.x] = value;
}

static unsigned long long attribute(cudaMemPool_t pool, cudaMemPoolAttr which)
{
    unsigned long long value = ~0ull;
    CHECK(cudaMemPoolGetAttribute(pool, which, &value));
    return value;
}

int main()
{
    int supported = 0;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    expect_equal("supported", supported, 1);

    cudaMemPool_t own, current, pool;
    CHECK(cudaDeviceGetDefaultMemPool(&own, 0));
    CHECK(cudaDeviceGetMemPool(&current, 0));
    EXPECT(own == current);
    unsigned long long threshold = 1 << 20;
    CHECK(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold));
    expect_equal("threshold", attribute(own, cudaMemPoolAttrReleaseThreshold), threshold);
    int off = 0, seen = -1;
    CHECK(cudaMemPoolSetAttribute(own, cudaMemPoolReuseAllowOpportunistic, &off));
    CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolReuseAllowOpportunistic, &seen));
    expect_equal("switch", seen, 0);

    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(&pool, &properties));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    int *first, *second, *third;
    CHECK(cudaMallocAsync(&first, 1000, stream));
    CHECK(cudaMallocFromPoolAsync(&second, 128, pool, stream));
    CHECK(cudaDeviceSetMemPool(0, pool));
    CHECK(cudaMallocAsync(&third, 256, stream));
    expect_equal("own", attribute(own, cudaMemPoolAttrUsedMemCurrent), 1000ull);
    expect_equal("pool", attribute(pool, cudaMemPoolAttrUsedMemCurrent), 384ull);
    fill<<<1, 32, 0, stream>>>(second, 7);
    std::vector<int> got(32);
    CHECK(cudaMemcpyAsync(got.data(), second, 128, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    expect_equal("values", got, std::vector<int>(32, 7));
    CHECK(cudaFreeAsync(second, stream));
    expect_equal("after a free", attribute(pool, cudaMemPoolAttrUsedMemCurrent), 256ull);
    expect_equal("highest", attribute(pool, cudaMemPoolAttrUsedMemHigh), 384ull);
    CHECK(cudaMemPoolTrimTo(pool, 0));
    CHECK(cudaMemPoolDestroy(pool));
    EXPECT_ERROR(cudaMallocFromPoolAsync(&second, 128, pool, stream), cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaFreeAsync(first, stream));
    CHECK(cudaFreeAsync(third, stream));

    cudaStreamAttrValue value = {};
    value.accessPolicyWindow.num_bytes = 4096;
    value.accessPolicyWindow.hitRatio = 0.5f;
    CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));
    cudaStreamAttrValue back = {};
    CHECK(cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &back));
    EXPECT(back.accessPolicyWindow.num_bytes == 4096 && back.accessPolicyWindow.hitRatio == 0.5f);
    EXPECT_ERROR(cudaStreamSetAttribute(stream, cudaLaunchAttributeCooperative, &value), cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaStreamDestroy(stream));
    return done("memory_pools");
}
