// Kernels that launch kernels: order, nesting, streams, errors and limits.
// flags: -rdc=true -arch=sm_80
#include "test.h"

__global__ void add(int *to, int value) { atomicAdd(to + threadIdx.x, value); }

// Writes down when it came by.
__global__ void sign(int *book, int *length, int name) { book[atomicAdd(length, 1)] = name; }

struct Pair {
    char tag;
    double factor;
};

__global__ void arguments(double *out, char first, Pair pair, short last)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = first + pair.tag + pair.factor * threadIdx.x + last;
}

// Each thread launches a kernel of its own shape.
__global__ void many(int *sums, double *out)
{
    const int thread = threadIdx.x;
    if (thread % 3 != 1) {
        add<<<1, 2 + thread % 4>>>(sums + 8 * thread, thread + 1);
    }
    if (thread == 40) {
        Pair pair = {2, 0.5};
        arguments<<<2, 4>>>(out, 1, pair, -7);
    }
}

// Pre-order of a tree of height 3, tail launches last at each node.
__global__ void tree(int *book, int *length, int name, int height)
{
    book[atomicAdd(length, 1)] = name;
    if (height == 0) {
        return;
    }
    sign<<<1, 1, 0, cudaStreamTailLaunch>>>(book, length, -name);
    tree<<<1, 1>>>(book, length, 2 * name, height - 1);
    tree<<<1, 1, 0, cudaStreamFireAndForget>>>(book, length, 2 * name + 1, height - 1);
}

__device__ void (*table[2])(int *, int);
__global__ void chosen(int *sums, int which)
{
    table[0] = add;
    void (*kernel)(int *, int) = which ? add : table[0];
    kernel<<<1, 3>>>(sums, 5);
}

// Streams, events and copies of the device's own; a kernel with a barrier and shared memory.
__global__ void reversed(int *data)
{
    extern __shared__ int held[];
    held[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
}

__global__ void streams(int *data, int *copy)
{
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        cudaMemcpyAsync(copy, data, 64 * sizeof(int), cudaMemcpyDeviceToDevice, stream);
        reversed<<<1, 64, 64 * sizeof(int), stream>>>(data);
        cudaMemcpyAsync(copy + 64, data, 64 * sizeof(int), cudaMemcpyDeviceToDevice, stream);
        cudaMemsetAsync(data, 0, 32 * sizeof(int), stream);
        cudaStreamDestroy(stream);
    }
}

__global__ void wrong(int *errors, int *sums)
{
    if (threadIdx.x == 0) {
        add<<<1, 2000>>>(sums, 1);
        errors[0] = cudaPeekAtLastError();
        add<<<0, 32>>>(sums, 1);
        errors[1] = cudaGetLastError();
        errors[2] = cudaGetLastError();
        add<<<1, 32, 1 << 30>>>(sums, 1);
        errors[3] = cudaGetLastError();
    } else {
        errors[4] = cudaGetLastError();
    }
}

__global__ void flood(int *sums, int *errors)
{
    for (int i = 0; i < 12; ++i) {
        add<<<1, 1>>>(sums, 1);
        if (cudaGetLastError() == cudaErrorLaunchPendingCountExceeded) {
            atomicAdd(errors, 1);
        }
    }
}

__global__ void traps() { __trap(); }
__global__ void launches_trap(int *sums)
{
    add<<<1, 1>>>(sums, 1);
    traps<<<1, 1>>>();
    add<<<1, 1>>>(sums, 1);
}

int main()
{
    Device<int> sums(8 * 64);
    Device<double> out(8);
    many<<<1, 64>>>(sums, out);
    std::vector<int> want(8 * 64);
    for (int thread = 0; thread < 64; ++thread) {
        for (int i = 0; thread % 3 != 1 && i < 2 + thread % 4; ++i) want[8 * thread + i] = thread + 1;
    }
    expect_equal("sums", sums.read(), want);
    expect_equal("arguments", out.read(), {-4, -3.5, -3, -2.5, -4, -3.5, -3, -2.5});

    Device<int> book(32), length(1);
    tree<<<1, 1>>>(book, length, 1, 2);
    std::vector<int> order = book.read();
    order.resize(length.read()[0]);
    expect_equal("order", order, {1, 2, 4, 5, -2, 3, 6, 7, -3, -1});

    Device<int> data(64), copy(128);
    streams<<<1, 64>>>(data, copy);
    std::vector<int> copies(128), rest(64);
    for (int i = 0; i < 64; ++i) {
        copies[i] = i;
        copies[64 + i] = 63 - i;
        rest[i] = i < 32 ? 0 : 63 - i;
    }
    expect_equal("copies", copy.read(), copies);
    expect_equal("filled", data.read(), rest);

    Device<int> few(32), errors(5);
    chosen<<<1, 2>>>(few, 0);
    chosen<<<1, 1>>>(few, 1);
    std::vector<int> fifteen(32);
    fifteen[0] = fifteen[1] = fifteen[2] = 15;
    expect_equal("chosen", few.read(), fifteen);
    wrong<<<1, 2>>>(errors, few);
    expect_equal("errors", errors.read(),
                 {cudaErrorInvalidConfiguration, cudaErrorInvalidConfiguration, cudaSuccess, cudaErrorInvalidValue, cudaSuccess});
    expect_equal("nothing was launched", few.read(), fifteen);

    size_t pending = 0;
    CHECK(cudaDeviceGetLimit(&pending, cudaLimitDevRuntimePendingLaunchCount));
    expect_equal("pending launches", pending, size_t{2048});
    Device<int> count(1), refused(1);
    flood<<<4, 64>>>(count, refused);
    expect_equal("launched", count.read()[0], 2048);
    expect_equal("refused", refused.read()[0], 4 * 64 * 12 - 2048);
    CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096));
    flood<<<4, 64>>>(count, refused);
    expect_equal("launched with more room", count.read()[0], 2048 + 4 * 64 * 12);

    launches_trap<<<1, 1>>>(few);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    CHECK(cudaDeviceReset());
    return done("dynamic_parallelism");
}
