// Prints more than the device's buffer holds. With `larger` the buffer is made larger before, with `stop` the kernel
// ends in a trap behind a few lines, with `launches` many launches print a little each.
#include <cstdio>
#include <cstring>

__global__ void many(int first)
{
    printf("line %d of many\n", first + blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void stops()
{
    if (threadIdx.x == 0) {
        printf("printed before the end\n");
        __trap();
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "stop") == 0) {
        stops<<<1, 32>>>();
        return cudaDeviceSynchronize() == cudaSuccess;
    }
    if (strcmp(how, "larger") == 0) {
        cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 16 << 20);
    }
    if (strcmp(how, "launches") == 0) {
        for (int i = 0; i < 100; i++) {
            many<<<10, 100>>>(i * 1000);
        }
    } else {
        many<<<1000, 100>>>(0);
    }
    cudaDeviceSynchronize();
    return 0;
}
