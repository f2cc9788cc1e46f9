// Binds texture references of a module to an array and to memory, and has a kernel read through them.
#include <cstdio>
#include <cstdlib>
#define CUDA_ENABLE_DEPRECATED
#include <cuda.h>

#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#define CHECK(call) check(call, __LINE__)
static void check(CUresult result, int line)
{
    if (result != CUDA_SUCCESS) {
        printf("line %d: %d\n", line, (int)result);
        exit(1);
    }
}
#define EXPECT(what) if (!(what)) { printf("line %d: %s\n", __LINE__, #what); exit(1); }

const int width = 8, height = 4, count = width * height;

int main(int, char **arguments)
{
    CUcontext context;
    CUmodule module;
    CUfunction look;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoad(&module, arguments[1]));
    CHECK(cuModuleGetFunction(&look, module, "look"));
    CUtexref picture, again, levels, numbers, none;
    CHECK(cuModuleGetTexRef(&picture, module, "picture"));
    CHECK(cuModuleGetTexRef(&again, module, "picture"));
    CHECK(cuModuleGetTexRef(&levels, module, "levels"));
    CHECK(cuModuleGetTexRef(&numbers, module, "numbers"));
    EXPECT(picture == again && picture != levels);
    EXPECT(cuModuleGetTexRef(&none, module, "absent") == CUDA_ERROR_NOT_FOUND);

    // An array, with its filter set before and its border after it is bound.
    float texels[count], found[3 * count];
    for (int i = 0; i < count; i++)
        texels[i] = i;
    CUarray array, bound;
    CUDA_ARRAY_DESCRIPTOR shape = {};
    shape.Width = width, shape.Height = height, shape.Format = CU_AD_FORMAT_FLOAT, shape.NumChannels = 1;
    CHECK(cuArrayCreate(&array, &shape));
    CHECK(cuMemcpyHtoA(array, 0, texels, sizeof texels));
    CHECK(cuTexRefSetFilterMode(picture, CU_TR_FILTER_MODE_POINT));
    EXPECT(cuTexRefSetArray(picture, array, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuTexRefSetArray(picture, array, CU_TRSA_OVERRIDE_FORMAT));
    CHECK(cuTexRefGetArray(&bound, picture));
    EXPECT(bound == array);
    CHECK(cuTexRefSetAddressMode(picture, 0, CU_TR_ADDRESS_MODE_BORDER));
    CHECK(cuTexRefSetAddressMode(picture, 1, CU_TR_ADDRESS_MODE_BORDER));
    float border[4] = {-1, 0, 0, 0};
    CHECK(cuTexRefSetBorderColor(picture, border));
    CUaddress_mode mode;
    CHECK(cuTexRefGetAddressMode(&mode, picture, 1));
    EXPECT(mode == CU_TR_ADDRESS_MODE_BORDER);

    // Bytes read as floats from 0 to 1; integers, from 4 bytes behind where memory is aligned.
    CUdeviceptr bytes, integers, out;
    unsigned char steps[count];
    int values[count + 1];
    for (int i = 0; i < count; i++)
        steps[i] = 255 - i, values[i + 1] = 100 * i;
    CHECK(cuMemAlloc(&bytes, sizeof steps));
    CHECK(cuMemAlloc(&integers, 4096));
    CHECK(cuMemAlloc(&out, sizeof found));
    CHECK(cuMemcpyHtoD(bytes, steps, sizeof steps));
    CHECK(cuMemcpyHtoD(integers, values, sizeof values));
    CHECK(cuTexRefSetFormat(levels, CU_AD_FORMAT_UNSIGNED_INT8, 1));
    CHECK(cuTexRefSetAddress(nullptr, levels, bytes, sizeof steps));
    size_t offset = 0;
    CHECK(cuTexRefSetFormat(numbers, CU_AD_FORMAT_SIGNED_INT32, 1));
    CHECK(cuTexRefSetFlags(numbers, CU_TRSF_READ_AS_INTEGER));
    EXPECT(cuTexRefSetAddress(nullptr, numbers, integers + 4, sizeof values - 4) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuTexRefSetAddress(&offset, numbers, integers + 4, sizeof values - 4));
    EXPECT(offset == 4);
    unsigned flags;
    CHECK(cuTexRefGetFlags(&flags, numbers));
    EXPECT(flags == CU_TRSF_READ_AS_INTEGER);

    int lanes = width, shift = offset / 4;
    void *parameters[] = {&out, &lanes, &shift};
    CHECK(cuLaunchKernel(look, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
    CHECK(cuMemcpyDtoH(found, out, sizeof found));
    for (int i = 0; i < count; i++)
        EXPECT(found[i] == i && found[32 + i] == (255 - i) / 255.0f && found[64 + i] == 100 * i);
    // Half of what a narrower walk reads lies outside.
    lanes = 4;
    CHECK(cuLaunchKernel(look, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
    CHECK(cuMemcpyDtoH(found, out, sizeof found));
    for (int i = 0; i < count; i++)
        EXPECT(found[i] == (i / 4 < height ? i / 4 * width + i % 4 : -1));
    CHECK(cuModuleUnload(module));
    EXPECT(cuTexRefGetFlags(&flags, numbers) == CUDA_ERROR_INVALID_HANDLE);

    // Mapped memory of the host.
    void *host;
    CHECK(cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    CHECK(cuMemHostGetFlags(&flags, host));
    EXPECT(flags & CU_MEMHOSTALLOC_DEVICEMAP);
    EXPECT(cuMemHostGetFlags(&flags, found) == CUDA_ERROR_INVALID_VALUE);
    printf("right\n");
}
