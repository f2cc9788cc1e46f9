// expect: stdout "thread 3 of block 1: 2.50 abc"
// expect: stdout "no arguments"
// expect: stdout "int -5 unsigned 4294967291 hex ff long 1234567890123 char x percent %"
// expect: stdout "[   42] [42   ] [00042] [+1.500e+00] [   3.14] [2.7]"
// expect: stdout "word number 2"
// expect: stdout "many 1 2 3 4 5 6 7 8 9 10 11 12"
// printf from kernels: conversions, strings, partial warps, the count it returns.
#include "test.h"

__global__ void greet(int *returned)
{
    if (threadIdx.x == 3) {
        printf("thread %d of block %u: %.2f %s\n", threadIdx.x, blockIdx.x, 2.5, "abc");
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        returned[0] = printf("no arguments\n");
        returned[1] = printf("int %d unsigned %u hex %x long %lld char %c percent %%\n", -5, -5, 255, 1234567890123ll, 'x');
        printf("[%5d] [%-5d] [%05d] [%+.3e] [%7.2f] [%g]\n", 42, 42, 42, 1.5, 3.14159f, 2.7);
        printf("many %d %d %d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    }
}

__device__ const char *words[3] = {"zero", "one", "two"};

__global__ void choose()
{
    const char *format = threadIdx.x == 2 ? "word number %d\n" : "plain %d\n";
    if (threadIdx.x % 2 == 0) {
        printf(format, threadIdx.x);
        printf("%s\n", words[threadIdx.x % 3]);
    }
}

int main()
{
    Device<int> returned(2);
    greet<<<2, 40>>>(returned);
    choose<<<1, 7>>>();
    CHECK(cudaDeviceSynchronize());
    // The number of arguments.
    expect_equal("returned", returned.read(), std::vector<int>{0, 5});
    return done("printf");
}
