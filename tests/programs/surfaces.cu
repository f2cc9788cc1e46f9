// Surface objects: reads and writes in one to three dimensions and in layers, and what happens outside.
#include "test.h"

static cudaSurfaceObject_t surface_of(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t object = 0;
    CHECK(cudaCreateSurfaceObject(&object, &resource));
    return object;
}

__global__ void transpose(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 24 && y < 20) {
        uchar4 value = surf2Dread<uchar4>(from, x * 4, y);
        value.w += 1;
        surf2Dwrite(value, to, y * 4, x);
    }
}

__global__ void outside(cudaSurfaceObject_t surface, float *out)
{
    int x = threadIdx.x - 8;
    out[threadIdx.x] = surf1Dread<float>(surface, x * 4, cudaBoundaryModeZero);
    out[threadIdx.x + 32] = surf1Dread<float>(surface, x * 4, cudaBoundaryModeClamp);
    surf1Dwrite(100.0f + x, surface, x * 4, cudaBoundaryModeZero);
    out[threadIdx.x + 64] = surf1Dread<float>(surface, x * 4, cudaBoundaryModeZero);
}

__global__ void fill(cudaSurfaceObject_t volume, cudaSurfaceObject_t layers)
{
    int x = threadIdx.x % 8, y = threadIdx.x / 8;
    for (int z = 0; z < 3; ++z) {
        surf3Dwrite(make_short2(x + 10 * y, z), volume, x * 4, y, z);
        surf2DLayeredwrite(static_cast<long long>(x) << 40 | y << 8 | z, layers, x * 8, y, z);
    }
}

static void two_dimensions()
{
    std::vector<uchar4> texels(24 * 20), found(24 * 20);
    for (size_t i = 0; i < texels.size(); ++i) {
        texels[i] = make_uchar4(i, i >> 4, 3 * i, i + 5);
    }
    auto format = cudaCreateChannelDesc<uchar4>();
    cudaArray_t from, to;
    CHECK(cudaMallocArray(&from, &format, 24, 20, cudaArraySurfaceLoadStore));
    CHECK(cudaMallocArray(&to, &format, 20, 24, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(from, 0, 0, texels.data(), 96, 96, 20, cudaMemcpyHostToDevice));
    auto source = surface_of(from), target = surface_of(to);
    transpose<<<dim3(2, 5), dim3(16, 4)>>>(source, target);
    CHECK(cudaMemcpy2DFromArray(found.data(), 80, to, 0, 0, 80, 24, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 20; ++y) {
        for (int x = 0; x < 24; ++x) {
            uchar4 want = texels[24 * y + x], got = found[20 * x + y];
            EXPECT(got.x == want.x && got.y == want.y && got.z == want.z && got.w == (unsigned char)(want.w + 1));
        }
    }
    CHECK(cudaDestroySurfaceObject(source));
    CHECK(cudaDestroySurfaceObject(target));
    CHECK(cudaFreeArray(from));
    CHECK(cudaFreeArray(to));
}

static void boundaries()
{
    std::vector<float> texels(16);
    for (int i = 0; i < 16; ++i) {
        texels[i] = i + 1;
    }
    auto format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, 16, 0, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), 64, 64, 1, cudaMemcpyHostToDevice));
    auto surface = surface_of(array);
    Device<float> out(96);
    outside<<<1, 32>>>(surface, out);
    auto found = out.read();
    for (int i = 0; i < 32; ++i) {
        int x = i - 8;
        bool inside = x >= 0 && x < 16;
        expect_equal("zero", found[i], inside ? x + 1.0f : 0.0f);
        expect_equal("clamp", found[i + 32], std::min(std::max(x, 0), 15) + 1.0f);
        expect_equal("written", found[i + 64], inside ? 100.0f + x : 0.0f);
    }
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
}

static void slices()
{
    auto pair = cudaCreateChannelDesc<short2>(), words = cudaCreateChannelDesc<int2>();
    cudaArray_t volume, layers;
    CHECK(cudaMalloc3DArray(&volume, &pair, make_cudaExtent(8, 4, 3), cudaArraySurfaceLoadStore));
    CHECK(cudaMalloc3DArray(&layers, &words, make_cudaExtent(8, 4, 3), cudaArraySurfaceLoadStore | cudaArrayLayered));
    auto first = surface_of(volume), second = surface_of(layers);
    fill<<<1, 32>>>(first, second);
    CHECK(cudaGetLastError());
    std::vector<short2> shorts(96);
    std::vector<long long> longs(96);
    cudaMemcpy3DParms copy = {};
    copy.srcArray = volume;
    copy.dstPtr = make_cudaPitchedPtr(shorts.data(), 32, 8, 4);
    copy.extent = make_cudaExtent(8, 4, 3);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    copy.srcArray = layers;
    copy.dstPtr = make_cudaPitchedPtr(longs.data(), 64, 8, 4);
    CHECK(cudaMemcpy3DAsync(&copy));
    for (int i = 0; i < 96; ++i) {
        int x = i % 8, y = i / 8 % 4, z = i / 32;
        EXPECT(shorts[i].x == x + 10 * y && shorts[i].y == z);
        expect_equal("layer", longs[i], static_cast<long long>(x) << 40 | y << 8 | z);
    }
    CHECK(cudaDestroySurfaceObject(first));
    CHECK(cudaDestroySurfaceObject(second));
    CHECK(cudaFreeArray(volume));
    CHECK(cudaFreeArray(layers));
}

int main()
{
    two_dimensions();
    boundaries();
    slices();
    // An array that was not made for it.
    auto format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, 16));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t object;
    EXPECT_ERROR(cudaCreateSurfaceObject(&object, &resource), cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaFreeArray(array));
    return done("surfaces");
}
