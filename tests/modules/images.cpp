// Loads a cubin, fat binary or PTX, alone and through a link; reads an array by a texture, and memory that it maps.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <fstream>
#include <iterator>
#include <vector>

#define CHECK(call) check(call, __LINE__)
static void check(CUresult result, int line)
{
    if (result != CUDA_SUCCESS) {
        const char *name = "?";
        cuGetErrorName(result, &name);
        printf("line %d: %s\n", line, name);
        exit(1);
    }
}
#define EXPECT(what) if (!(what)) { printf("line %d: %s\n", __LINE__, #what); exit(1); }

const int width = 16, height = 8, count = width * height;

// A texture object of an array that was filled from the host.
static CUtexObject texture(CUarray *array)
{
    CUDA_ARRAY_DESCRIPTOR shape = {}, found = {};
    shape.Width = width, shape.Height = height, shape.Format = CU_AD_FORMAT_FLOAT, shape.NumChannels = 1;
    CHECK(cuArrayCreate(array, &shape));
    CHECK(cuArrayGetDescriptor(&found, *array));
    EXPECT(found.Width == width && found.Height == height && found.Format == CU_AD_FORMAT_FLOAT && found.NumChannels == 1);
    std::vector<float> texels(count), back(count), part(4);
    for (int i = 0; i < count; i++)
        texels[i] = i;
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = texels.data(), copy.srcPitch = width * sizeof(float);
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = *array;
    copy.WidthInBytes = width * sizeof(float), copy.Height = height;
    CHECK(cuMemcpy2D(&copy));
    copy.dstY = 1;
    EXPECT(cuMemcpy2D(&copy) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemcpyAtoH(back.data(), *array, 0, count * sizeof(float)));
    EXPECT(back == texels);
    // The last two of a row and the first two of the next.
    CHECK(cuMemcpyAtoH(part.data(), *array, 14 * sizeof(float), 4 * sizeof(float)));
    EXPECT(part[0] == 14 && part[3] == 17);
    CUDA_RESOURCE_DESC resource = {};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = *array;
    CUDA_TEXTURE_DESC sampling = {}, asked = {};
    sampling.addressMode[0] = sampling.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
    sampling.filterMode = CU_TR_FILTER_MODE_POINT;
    CUtexObject object = 0;
    CHECK(cuTexObjectCreate(&object, &resource, &sampling, nullptr));
    CHECK(cuTexObjectGetTextureDesc(&asked, object));
    EXPECT(asked.addressMode[1] == CU_TR_ADDRESS_MODE_CLAMP && asked.flags == 0);
    // It was not allocated for surfaces.
    CUsurfObject surface;
    EXPECT(cuSurfObjectCreate(&surface, &resource) == CUDA_ERROR_INVALID_VALUE);
    return object;
}

// Two pieces of memory side by side.
static CUdeviceptr mapped(size_t *bytes, CUmemGenericAllocationHandle (&memory)[2])
{
    int offered = 0;
    CHECK(cuDeviceGetAttribute(&offered, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    EXPECT(offered);
    CUmemAllocationProp kind = {};
    kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    size_t unit = 0;
    CHECK(cuMemGetAllocationGranularity(&unit, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CUdeviceptr joined = 0;
    CHECK(cuMemAddressReserve(&joined, 4 * unit, 0, 0, 0));
    EXPECT(cuMemCreate(&memory[0], unit + 1, &kind, 0) == CUDA_ERROR_INVALID_VALUE);
    CUmemAccessDesc access = {kind.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    for (int i = 0; i < 2; i++) {
        CHECK(cuMemCreate(&memory[i], unit, &kind, 0));
        CHECK(cuMemMap(joined + i * unit, unit, 0, memory[i], 0));
        CHECK(cuMemSetAccess(joined + i * unit, unit, &access, 1));
    }
    *bytes = unit;
    return joined;
}

int main(int, char **arguments)
{
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CUmodule module;
    if (strcmp(arguments[1], "link") == 0) {
        std::ifstream file(arguments[2], std::ios::binary);
        std::vector<char> text((std::istreambuf_iterator<char>(file)), {});
        text.push_back(0);
        CUlinkState link;
        void *image = nullptr;
        size_t bytes = 0;
        CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
        CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, text.data(), text.size(), "it", 0, nullptr, nullptr));
        EXPECT(cuLinkAddData(link, CU_JIT_INPUT_PTX, text.data(), text.size(), "it", 0, nullptr, nullptr) != CUDA_SUCCESS);
        CHECK(cuLinkComplete(link, &image, &bytes));
        CHECK(cuModuleLoadData(&module, image));
        CHECK(cuLinkDestroy(link));
    } else {
        CHECK(cuModuleLoad(&module, arguments[2]));
    }
    CUfunction stencil, add;
    CHECK(cuModuleGetFunction(&stencil, module, "stencil"));
    CHECK(cuModuleGetFunction(&add, module, "add"));

    CUarray array;
    CUtexObject image = texture(&array);
    size_t unit;
    CUmemGenericAllocationHandle memory[2];
    CUdeviceptr joined = mapped(&unit, memory), out = joined + unit - count * sizeof(float) / 2;
    int columns = width;
    void *stencil_takes[] = {&image, &out, &columns};
    CHECK(cuLaunchKernel(stencil, 2, 1, 1, count / 2, 1, 1, 0, 0, stencil_takes, nullptr));
    void *add_takes[] = {&out, &out};
    CHECK(cuLaunchKernel(add, 2, 1, 1, count / 2, 1, 1, 0, 0, add_takes, nullptr));
    // Over the border between the two pieces.
    std::vector<float> results(count);
    CHECK(cuMemcpyDtoH(results.data(), out, count * sizeof(float)));
    for (int i = 0; i < count; i++)
        EXPECT(results[i] == 4.0f * i);

    // The same memory at another place, and memory that is gone.
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READ};
    CHECK(cuMemMap(joined + 3 * unit, unit, 0, memory[0], 0));
    CHECK(cuMemSetAccess(joined + 3 * unit, unit, &access, 1));
    float one = 0;
    CHECK(cuMemcpyDtoH(&one, joined + 4 * unit - 60 * sizeof(float), sizeof one));
    EXPECT(one == 16.0f);
    CHECK(cuMemUnmap(joined, 2 * unit));
    EXPECT(cuMemcpyDtoH(&one, out, sizeof one) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFree(joined) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAddressFree(joined, 4 * unit) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemUnmap(joined + 3 * unit, unit));
    CHECK(cuMemRelease(memory[0]));
    CHECK(cuMemRelease(memory[1]));
    CHECK(cuMemAddressFree(joined, 4 * unit));
    CHECK(cuTexObjectDestroy(image));
    CHECK(cuArrayDestroy(array));
    printf("right\n");
}
