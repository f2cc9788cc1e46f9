// Threads that end by `exit` in the middle of a kernel, as CUB's radix sort does where a block's keys have one digit: blocks that come
// later on the same SM run all the same.
#include "test.h"

__device__ __forceinline__ void leave() { asm volatile("exit;"); }

// With barriers: a whole block leaves.
__global__ void blocks(int *out, const int *in, int all)
{
    __shared__ int kept[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    kept[t] = in[i];
    if (__syncthreads_or(t == 0 && in[i] == all)) {
        out[i] = -in[i];
        leave();
    }
    __syncthreads();
    out[i] = kept[blockDim.x - 1 - t] + 1000;
}

// Without: some lanes leave, or all.
__global__ void lanes(int *out, const int *in, int all)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = -in[i];
    if (in[i] == all || threadIdx.x % 2)
        leave();
    out[i] = in[i] + 1000;
}

int main()
{
    for (int threads : {32, 64}) {
        const int count = 512;
        int in[count], out[count], *d_in, *d_out;
        for (int i = 0; i < count; i++)
            in[i] = i / threads + 1;
        CHECK(cudaMalloc(&d_in, sizeof in));
        CHECK(cudaMalloc(&d_out, sizeof out));
        CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
        blocks<<<count / threads, threads>>>(d_out, d_in, 2);
        CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
        for (int i = 0; i < count; i++)
            EXPECT(out[i] == (in[i] == 2 ? -2 : in[i] + 1000));
        lanes<<<count / threads, threads>>>(d_out, d_in, 2);
        CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
        for (int i = 0; i < count; i++)
            EXPECT(out[i] == (in[i] == 2 || i % 2 ? -in[i] : in[i] + 1000));
        CHECK(cudaFree(d_in));
        CHECK(cudaFree(d_out));
    }
    return done("thread_exit");
}
