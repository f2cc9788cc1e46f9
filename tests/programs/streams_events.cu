// Streams and events: order within a stream, waiting across streams, elapsed time, queries, copies of
// all directions, callbacks by the default stream's rules.
#include "test.h"

__global__ void add(int *values, int by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        values[i] += by;
    }
}

__global__ void combine(const int *a, const int *b, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = a[i] * 1000 + b[i];
    }
}

int main()
{
    const int n = 1000, blocks = 8, threads = 128;
    int *host_a, *host_b;
    CHECK(cudaMallocHost(&host_a, n * sizeof(int)));
    CHECK(cudaHostAlloc(&host_b, n * sizeof(int), cudaHostAllocDefault));
    for (int i = 0; i < n; ++i) {
        host_a[i] = i;
        host_b[i] = 7 * i;
    }
    cudaStream_t first, second;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    cudaEvent_t start, ready, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    CHECK(cudaEventCreate(&stop));

    int *a, *b, *out;
    CHECK(cudaMalloc(&a, n * sizeof(int)));
    CHECK(cudaMallocAsync(reinterpret_cast<void **>(&b), n * sizeof(int), second));
    CHECK(cudaMalloc(&out, n * sizeof(int)));
    CHECK(cudaEventRecord(start, first));
    CHECK(cudaMemcpyAsync(a, host_a, n * sizeof(int), cudaMemcpyHostToDevice, first));
    CHECK(cudaMemcpyAsync(b, host_b, n * sizeof(int), cudaMemcpyHostToDevice, second));
    add<<<blocks, threads, 0, first>>>(a, 5, n);
    add<<<blocks, threads, 0, second>>>(b, -1, n);
    CHECK(cudaEventRecord(ready, second));
    CHECK(cudaStreamWaitEvent(first, ready, 0));
    combine<<<blocks, threads, 0, first>>>(a, b, out, n);
    CHECK(cudaEventRecord(stop, first));
    CHECK(cudaMemcpyAsync(host_a, out, n * sizeof(int), cudaMemcpyDeviceToHost, first));
    CHECK(cudaMemcpyAsync(a, out, n * sizeof(int), cudaMemcpyDeviceToDevice, first));
    CHECK(cudaStreamWaitEvent(second, stop, 0));
    CHECK(cudaMemsetAsync(b, 0xff, n * sizeof(int), second));
    CHECK(cudaFreeAsync(b, second));
    CHECK(cudaStreamSynchronize(first));
    CHECK(cudaStreamSynchronize(second));
    EXPECT_ERROR(cudaStreamQuery(first), cudaSuccess);
    EXPECT_ERROR(cudaEventQuery(stop), cudaSuccess);
    CHECK(cudaEventSynchronize(stop));

    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    EXPECT(milliseconds >= 0 && milliseconds < 60000);
    EXPECT_ERROR(cudaEventElapsedTime(&milliseconds, start, ready), cudaErrorInvalidResourceHandle);
    cudaEvent_t never;
    CHECK(cudaEventCreate(&never));
    EXPECT_ERROR(cudaEventElapsedTime(&milliseconds, start, never), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    for (int i = 0; i < n; ++i) {
        if (host_a[i] != (i + 5) * 1000 + 7 * i - 1) {
            EXPECT(!"combined");
            break;
        }
    }
    std::vector<int> copied(n);
    CHECK(cudaMemcpy(copied.data(), a, n * sizeof(int), cudaMemcpyDefault));
    expect_equal("copied", copied.data(), host_a, n);

    unsigned flags = 0;
    int priority = 1;
    CHECK(cudaStreamGetFlags(second, &flags));
    EXPECT(flags == cudaStreamNonBlocking);
    CHECK(cudaStreamGetPriority(first, &priority));
    add<<<blocks, threads, 0, cudaStreamPerThread>>>(a, 1, n);
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));

    for (cudaEvent_t event : {start, ready, stop, never}) {
        CHECK(cudaEventDestroy(event));
    }
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaFree(a));
    CHECK(cudaFree(out));
    CHECK(cudaFreeHost(host_a));
    CHECK(cudaFreeHost(host_b));
    return done("streams_events");
}
