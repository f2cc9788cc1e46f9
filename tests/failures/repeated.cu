// Bad accesses in many launches and in copies that unrolling makes. The argument chooses the kernel.
#include <cstdio>
#include <cstring>

__global__ void behind(int *values, int count)
{
    int i = threadIdx.x;
#pragma unroll
    for (int step = 0; step < 8; step++) {
        values[count + i + 512 * step] = i; // bad
    }
}

struct alignas(16) Wide {
    float x, y, z, w;
};

__global__ void crooked(char *bytes, float *sums)
{
    int i = threadIdx.x;
    Wide *from = reinterpret_cast<Wide *>(bytes + 4 + 16 * i);
    Wide wide = *from;
    from[32] = Wide{wide.w, wide.z, wide.y, wide.x};
    Wide same = *reinterpret_cast<Wide *>(bytes + 12);
    sums[i] = wide.x + wide.y + wide.z + wide.w + same.x + same.w;
}

int main(int argc, char **argv)
{
    int *values;
    cudaMalloc(&values, 32 * sizeof(int));
    char *bytes;
    cudaMalloc(&bytes, 4096);
    float *sums, host[1024], got[32];
    cudaMalloc(&sums, sizeof got);
    for (int i = 0; i < 1024; i++) {
        host[i] = i;
    }
    cudaMemcpy(bytes, host, 4096, cudaMemcpyHostToDevice);
    bool right = true;
    for (int launch = 0; launch < 15; launch++) {
        if (strcmp(argv[argc - 1], "behind") == 0) {
            behind<<<1, 32>>>(values, 32);
        } else {
            crooked<<<1, 32>>>(bytes, sums);
            cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost);
            for (int i = 0; i < 32; i++) {
                right = right && got[i] == 4 * (4 * i + 1) + 6 + 3 + 6;
            }
        }
    }
    printf("%s %s\n", cudaGetErrorName(cudaDeviceSynchronize()), right ? "right" : "wrong");
}
