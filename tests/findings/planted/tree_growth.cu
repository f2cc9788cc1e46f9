// Trees of a forest, whose properties lie one after the other in one allocation. Planted: they are laid out without regard to sectors, so that
// all of them but one begin within one. Fixed: each begins on a multiple of 256 bytes.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#ifdef CURED
const size_t alignment = 256;
#else
const size_t alignment = 4;
#endif

struct Trees {
    float *height, *girth, *crown, *age, *light;
};

__global__ void grow(Trees trees, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float light = trees.light[i];
    trees.height[i] += 0.1f * light; // PLANTED
    trees.girth[i] += 0.01f * light; // PLANTED
    trees.crown[i] *= 1 + light;     // PLANTED
    trees.age[i] += 1;               // PLANTED
}

int main() {
    const int count = (1 << 18) + 1;
    char *forest;
    cudaMalloc(&forest, (count * sizeof(float) + 256) * 5 + 64);
    cudaMemset(forest, 0, (count * sizeof(float) + 256) * 5);
    Trees trees;
    size_t used = 12; // a header
    for (float **property : {&trees.height, &trees.girth, &trees.crown, &trees.age, &trees.light}) {
        used = (used + alignment - 1) / alignment * alignment;
        *property = reinterpret_cast<float *>(forest + used);
        used += count * sizeof(float);
    }
    for (int year = 0; year < 3; year++) grow<<<(count + 255) / 256, 256>>>(trees, count);
    float height;
    cudaMemcpy(&height, trees.height, sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", height);
}
