// Texture fetches whose values are known: tests/end_to_end/operations.rs computes them again.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fetch(cudaTextureObject_t table, cudaTextureObject_t image, cudaSurfaceObject_t surface, float *out) {
    int i = threadIdx.x;
    float first = tex1Dfetch<float>(table, 63 - i);
    float second = tex2D<float>(image, i % 8 + 0.5f, i / 8 + 0.5f);
    int third = surf2Dread<int>(surface, i % 8 * 4, i / 8);
    out[i] = first + second + third;
}

int main() {
    float *linear, *out, host[64], got[64];
    int numbers[64], bad = 0;
    for (int i = 0; i < 64; i++) {
        host[i] = 0.5f * i;
        numbers[i] = 3 * i;
    }
    cudaMalloc(&linear, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(linear, host, sizeof host, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = linear;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = sizeof host;
    cudaTextureDesc description = {};
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t table, image;
    cudaCreateTextureObject(&table, &resource, &description, nullptr);
    cudaArray_t array, surfaces;
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>(), whole = cudaCreateChannelDesc<int>();
    cudaMallocArray(&array, &channel, 8, 8);
    cudaMallocArray(&surfaces, &whole, 8, 8, cudaArraySurfaceLoadStore);
    cudaMemcpy2DToArray(array, 0, 0, host, 32, 32, 8, cudaMemcpyHostToDevice);
    cudaMemcpy2DToArray(surfaces, 0, 0, numbers, 32, 32, 8, cudaMemcpyHostToDevice);
    resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaCreateTextureObject(&image, &resource, &description, nullptr);
    resource.res.array.array = surfaces;
    cudaSurfaceObject_t surface;
    cudaCreateSurfaceObject(&surface, &resource);
    fetch<<<1, 64>>>(table, image, surface, out);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++) bad += got[i] != 0.5f * (63 - i) + 0.5f * i + 3 * i;
    printf("%s\n", bad == 0 ? "PASS textures" : "FAIL textures");
    return 0;
}
