// Uses the device before and after a plug-in, whose path is the argument, does.
#include <cstdio>
#include <dlfcn.h>

__global__ void twice(int *x) { x[threadIdx.x] *= 2; }

int main(int, char **arguments) {
    int host[32], *device;
    for (int i = 0; i < 32; ++i) {
        host[i] = i;
    }
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    twice<<<1, 32>>>(device);
    void *library = dlopen(arguments[1], RTLD_NOW);
    if (!library) {
        std::printf("%s\n", dlerror());
        return 1;
    }
    auto sum_below = reinterpret_cast<int (*)(int)>(dlsym(library, "sum_below"));
    int sum = sum_below(1000);
    twice<<<1, 32>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("%d %d %s\n", sum, host[31], cudaGetErrorString(cudaGetLastError()));
}
