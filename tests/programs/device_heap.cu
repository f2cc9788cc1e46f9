// malloc and free, new and delete in kernels; memory that outlives its launch.
#include "test.h"

struct Link {
    int value;
    Link *next;
};

__global__ void build(Link **heads, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Link *head = nullptr;
    for (int k = 0; k < length + i % 3; ++k) {
        Link *link = static_cast<Link *>(malloc(sizeof(Link)));
        link->value = i * 100 + k;
        link->next = head;
        head = link;
    }
    heads[i] = head;
}

__global__ void consume(Link **heads, int *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (Link *link = heads[i]; link;) {
        Link *next = link->next;
        sum += link->value;
        free(link);
        link = next;
    }
    sums[i] = sum;
}

__global__ void arrays(int *out)
{
    int n = threadIdx.x + 1;
    int *values = new int[n];
    for (int i = 0; i < n; ++i) {
        values[i] = i;
    }
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += values[n - 1 - i] * (i + 1);
    }
    delete[] values;
    out[threadIdx.x] = sum;
    if (threadIdx.x == 0) {
        // The compiler takes a malloc whose result is only compared for one that succeeds.
        volatile unsigned long long too_much = 1ull << 50;
        void *volatile none = malloc(too_much);
        out[40] = none == nullptr;
        free(nullptr);
    }
}

int main()
{
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    const int threads = 70;
    Device<Link *> heads(2 * threads);
    Device<int> sums(2 * threads), out(41);
    build<<<2, threads>>>(heads, 5);
    consume<<<2, threads>>>(heads, sums);
    std::vector<int> want(2 * threads, 0);
    for (int i = 0; i < 2 * threads; ++i) {
        for (int k = 0; k < 5 + i % 3; ++k) {
            want[i] += i * 100 + k;
        }
    }
    expect_equal("lists", sums.read(), want);
    arrays<<<1, 40>>>(out);
    std::vector<int> want_out(41, 1);
    for (int thread = 0; thread < 40; ++thread) {
        want_out[thread] = 0;
        for (int i = 0; i <= thread; ++i) {
            want_out[thread] += (thread - i) * (i + 1);
        }
    }
    expect_equal("arrays", out.read(), want_out);
    return done("device_heap");
}
