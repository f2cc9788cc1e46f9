// Accesses outside local arrays and shared memory, and barriers that part of a warp comes to: the first argument names
// the kernel. Every bad line is marked. The kernel `good` does what looks like it and is right.
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Pair {
    int first, second[3];
};

__global__ void constant(int *out, int n)
{
    int values[4];
    for (int i = 0; i < 4; i++) {
        values[i] = n * i;
    }
    values[4] = 7; // bad
    out[threadIdx.x] = values[threadIdx.x % 4];
}

__global__ void behind(int *out, int n)
{
    int values[4] = {1, 2, 3, 4};
    values[n + threadIdx.x % 2] = 7; // bad
    out[threadIdx.x] = values[threadIdx.x % 4];
}

__global__ void below(int *out, int n)
{
    int other[8], values[8];
    for (int i = 0; i < 8; i++) {
        other[(i + n) % 8] = i;
        values[(i * n) % 8] = other[i];
    }
    out[threadIdx.x] = values[(int)threadIdx.x % 8 - 3] + other[n]; // bad
}

__global__ void far(int *out, int n)
{
    int values[4] = {1, 2, 3, 4};
    values[threadIdx.x % 4] = n;
    out[threadIdx.x] = values[n * 1000000]; // bad
}

__device__ __noinline__ void set(int *values, int index)
{
    values[index] = 7; // bad
}

__global__ void passed(int *out, int n)
{
    int values[4] = {1, 2, 3, 4};
    set(values, n * 1000000);
    out[threadIdx.x] = values[threadIdx.x % 4];
}

__global__ void member(int *out, int n)
{
    Pair pairs[2] = {{1, {2, 3, 4}}, {5, {6, 7, 8}}};
    pairs[n % 2].second[threadIdx.x % 3] = n;
    pairs[threadIdx.x % n].first += pairs[n - 2].second[1]; // bad
    out[threadIdx.x] = pairs[threadIdx.x % 2].first;
}

__global__ void shared_below(int *out, int n)
{
    __shared__ int values[64];
    values[threadIdx.x] = n;
    __syncthreads();
    out[threadIdx.x] = values[(int)threadIdx.x - 1]; // bad
}

__global__ void half_barrier(int *out, int n)
{
    __shared__ int values[64];
    values[threadIdx.x] = n;
    if (threadIdx.x % 32 < 16) {
        __syncthreads(); // bad
    }
    out[threadIdx.x] = values[63 - threadIdx.x];
}

__global__ void two_barriers(int *out, int n)
{
    __shared__ int values[64];
    values[threadIdx.x] = n;
    if (threadIdx.x & 1) {
        values[threadIdx.x] += 2;
        __syncthreads(); // bad
        out[threadIdx.x] = values[threadIdx.x ^ 1];
    } else {
        values[threadIdx.x] += 1;
        __syncthreads();
        out[threadIdx.x] = values[threadIdx.x ^ 1] + 1;
    }
}

__global__ void loop_barrier(int *out, int n)
{
    __shared__ int values[64];
    values[threadIdx.x] = 0;
    for (int i = threadIdx.x; i < 64 + n; i += 64) {
        values[threadIdx.x] += i;
        __syncthreads(); // bad
    }
    out[threadIdx.x] = values[63 - threadIdx.x];
}

__global__ void skipping_warp(int *out, int n)
{
    __shared__ int values[64];
    values[threadIdx.x] = threadIdx.x;
    if (threadIdx.x >= 32) {
        __syncthreads(); // bad
        values[threadIdx.x] += n;
    }
    __syncthreads();
    out[threadIdx.x] = values[63 - threadIdx.x];
}

__device__ __forceinline__ void meet()
{
    __syncthreads();
}

__global__ void meeting_warps(int *out, int n)
{
    __shared__ int values[64];
    values[threadIdx.x] = threadIdx.x;
    if (threadIdx.x >= 32) {
        meet(); // bad
    } else {
        meet();
    }
    out[threadIdx.x] = values[63 - threadIdx.x] + n;
}

__global__ void skipped_round(int *out, int n)
{
    __shared__ int values[64];
    values[threadIdx.x] = 0;
    for (int i = threadIdx.x / 32; i < n; i++) {
        values[threadIdx.x] += i;
        __syncthreads();
    }
    __syncthreads(); // bad
    out[threadIdx.x] = values[63 - threadIdx.x];
}

__device__ __noinline__ int sum(const int *values, int count)
{
    int total = 0;
    for (int i = 0; i < count; i++) {
        total += values[i];
    }
    return total;
}

__device__ __noinline__ int by_value(Pair pair, int index)
{
    return pair.second[index] + pair.first;
}

__global__ void good(int *out, int n, Pair given)
{
    __shared__ int values[64];
    int i = threadIdx.x, own[8];
    Pair pairs[2] = {{1, {2, 3, 4}}, {5, {6, 7, 8}}};
    for (int k = 0; k < 8; k++) {
        own[(k * 3 + n) % 8] = k + i;
    }
    values[i] = sum(own, 8) + by_value(given, i % 3) + by_value(pairs[i % 2], n % 3);
    int *last = own + 8;
    for (int round = 0; round < n; round++) {
        __syncthreads();
        values[i] += values[63 - i] + *(last - 1 - i % 8);
        if (i % 3 == round) {
            values[i] -= pairs[i % 2].second[i % 3];
        }
        __syncthreads();
    }
    // Threads that have nothing to do leave before the last barrier, part of a warp, too.
    if (i >= 50) {
        return;
    }
    __syncthreads();
    // All warps come to the same one, by two ways.
    if (n > 3) {
        meet();
    } else {
        meet();
    }
    // Whole warps that leave are not missed either.
    if (i >= 32 && n == 4) {
        out[192 + i] = n;
        return;
    }
    __syncthreads();
    atomicAdd(&out[i], values[i]); // atomic
    out[64 + i] = __ldg(&out[128 + i]); // loads one
}

int main(int argc, char **argv)
{
    int *out;
    cudaMalloc(&out, 1024 * sizeof(int));
    cudaMemset(out, 0, 1024 * sizeof(int));
    const char *wanted = argc > 1 ? argv[1] : "good";
#define RUN(kernel) if (strcmp(wanted, #kernel) == 0) kernel<<<2, 64>>>(out, 4)
    RUN(constant);
    RUN(behind);
    RUN(below);
    RUN(far);
    RUN(passed);
    RUN(member);
    RUN(shared_below);
    RUN(half_barrier);
    RUN(two_barriers);
    RUN(loop_barrier);
    RUN(skipping_warp);
    RUN(meeting_warps);
    RUN(skipped_round);
    if (strcmp(wanted, "good") == 0) {
        good<<<2, 64>>>(out, 4, Pair{9, {8, 7, 6}});
    }
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
