// Writes behind an array, by lanes that a guard of inline assembly lets through. The argument chooses how. Reads after
// it print whether they were made.
#include <cstdio>
#include <cstring>

__global__ void store(int *values, int count)
{
    int i = threadIdx.x;
    asm volatile("{ .reg .pred p;\n setp.lt.s32 p, %2, %3;\n @p st.global.u32 [%0], %1;\n }" // bad store
                 ::"l"(values + count + i), "r"(77), "r"(i), "r"(8)
                 : "memory");
}

__global__ void pair(int *values, int count)
{
    int i = threadIdx.x;
    asm volatile("{ .reg .pred p;\n setp.lt.s32 p, %3, %4;\n @p st.global.v2.u32 [%0], {%1, %2};\n }" // bad pair
                 ::"l"(values + count + 2 * i), "r"(77), "r"(78), "r"(i), "r"(8)
                 : "memory");
}

__global__ void add(int *values, int count)
{
    int i = threadIdx.x;
    asm volatile("{ .reg .pred p;\n setp.lt.s32 p, %2, %3;\n @!p red.global.add.u32 [%0], %1;\n }" // bad add
                 ::"l"(values + count + i), "r"(77), "r"(i), "r"(8)
                 : "memory");
}

__global__ void plain(int *values, int count)
{
    int i = threadIdx.x;
    if (i < 8) {
        values[count + i] = 77; // bad plain
    }
}

// Half of the lanes that the guard lets through are inside, and have to write.
__global__ void half(int *values, int count)
{
    int i = threadIdx.x;
    asm volatile("{ .reg .pred p;\n setp.lt.s32 p, %2, %3;\n @p st.global.u32 [%0], %1;\n }" // bad half
                 ::"l"(values + count - 8 + i), "r"(77), "r"(i), "r"(16)
                 : "memory");
}

__global__ void behind(const int *values, int count, int *seen)
{
    seen[threadIdx.x] = values[count + threadIdx.x];
}

int main(int argc, char **argv)
{
    const int count = 64;
    int *values, *seen, before[32], after[32], inside[count];
    cudaMalloc(&values, count * sizeof(int));
    cudaMalloc(&seen, sizeof before);
    cudaMemset(values, 0, count * sizeof(int));
    behind<<<1, 32>>>(values, count, seen);
    cudaMemcpy(before, seen, sizeof before, cudaMemcpyDeviceToHost);
    const char *how = argc > 1 ? argv[1] : "plain";
    auto kernel = !strcmp(how, "store") ? store : !strcmp(how, "pair") ? pair : !strcmp(how, "add") ? add : !strcmp(how, "half") ? half : plain;
    kernel<<<1, 32>>>(values, count);
    behind<<<1, 32>>>(values, count, seen);
    cudaMemcpy(after, seen, sizeof after, cudaMemcpyDeviceToHost);
    cudaMemcpy(inside, values, sizeof inside, cudaMemcpyDeviceToHost);
    int changed = 0, written = 0;
    for (int i = 0; i < 32; i++) {
        changed += before[i] != after[i];
    }
    for (int i = 0; i < count; i++) {
        written += inside[i] != 0;
    }
    printf("%s, %d changed behind, %d written inside\n", cudaGetErrorName(cudaDeviceSynchronize()), changed, written);
}
