// Accesses through null pointers that are known at compile time, one per run, each reported with its line.

#include <cstdio>
#include <cstring>

struct Node {
    int value;
    Node *next;
};

__device__ __noinline__ int *nothing()
{
    return nullptr;
}

__device__ int *either(bool first, int *pointer)
{
    return first ? pointer : nullptr;
}

__global__ void plain_write(int *)
{
    *(int *)nullptr = 1; // bad plain_write
}

__global__ void volatile_write(int *)
{
    *(volatile int *)nullptr = 1; // bad volatile_write
}

__global__ void plain_read(int *out)
{
    out[threadIdx.x] = *(int *)0; // bad plain_read
}

__global__ void element(int *out)
{
    int *pointer = nullptr;
    out[threadIdx.x] = pointer[threadIdx.x + 4]; // bad element
}

__global__ void returned(int *out)
{
    *nothing() = 4; // bad returned
    out[threadIdx.x] = 1;
}

__global__ void member(int *out)
{
    Node *node = nullptr;
    out[threadIdx.x] = node->next->value; // bad member
}

__global__ void branch(int *out)
{
    int *pointer = blockDim.x > 3 ? nullptr : out;
    pointer[threadIdx.x] = 3; // bad branch
}

__global__ void inlined(int *out)
{
    int *pointer = either(false, out);
    pointer[threadIdx.x] = 3; // bad inlined
}

__global__ void atomic(int *out)
{
    atomicAdd((int *)nullptr, 1); // bad atomic
    out[threadIdx.x] = 1;
}

__global__ void one_lane(int *out)
{
    int *pointer = threadIdx.x == 3 ? nullptr : out;
    *pointer = threadIdx.x; // bad one_lane
}

__global__ void shared_or_null(int *out)
{
    __shared__ int values[32];
    int *pointer = blockDim.x < 3 ? values : nullptr;
    *pointer = 1; // bad shared_or_null
    out[0] = *pointer;
}

struct Lists {
    int count;
    int *first;
    int *second;
};

__global__ void zeroed(int *out)
{
    Lists lists;
    memset(&lists, 0, sizeof lists);
    out[threadIdx.x] = lists.second[threadIdx.x]; // bad zeroed
}

struct Cleared : Lists {
    __device__ void clear() { memset(this, 0, sizeof *this); }
};

__global__ void cleared(int *out)
{
    Cleared lists;
    lists.clear();
    out[threadIdx.x] = lists.second[threadIdx.x + 1]; // bad cleared
}

__global__ void assigned(int *out)
{
    Lists lists;
    lists = Lists();
    out[threadIdx.x] = lists.first[3]; // bad assigned
}

__global__ void partly(int *out)
{
    Lists lists = {4, nullptr, nullptr};
    out[threadIdx.x] = lists.second[lists.count]; // bad partly
}

__constant__ const Lists tables[2] = {{1, nullptr, nullptr}, {2, nullptr, nullptr}};

__global__ void table(int *out)
{
    out[threadIdx.x] = tables[1].second[3]; // bad table
}

__global__ void given(int *pointer)
{
    pointer[threadIdx.x] = 1; // bad given
}

int main(int count, char **names)
{
    int *out = nullptr;
    cudaMalloc(&out, 4096);
#define RUN(kernel, pointer)                                                                                            \
    if (count > 1 && !strcmp(names[1], #kernel)) {                                                                      \
        kernel<<<1, 32>>>(pointer);                                                                                     \
    }
    RUN(plain_write, out)
    RUN(volatile_write, out)
    RUN(plain_read, out)
    RUN(element, out)
    RUN(returned, out)
    RUN(member, out)
    RUN(branch, out)
    RUN(inlined, out)
    RUN(atomic, out)
    RUN(one_lane, out)
    RUN(shared_or_null, out)
    RUN(zeroed, out)
    RUN(cleared, out)
    RUN(assigned, out)
    RUN(partly, out)
    RUN(table, out)
    RUN(given, nullptr)
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
