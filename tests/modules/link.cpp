// Links images, and prints whether that is refused.
#include <cstdio>
#include <cuda.h>

int main(int count, char **arguments)
{
    CUcontext context;
    CUlinkState link;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    CUresult result = cuLinkCreate(0, nullptr, nullptr, &link);
    for (int i = 1; i < count && !result; i++)
        result = cuLinkAddFile(link, CU_JIT_INPUT_PTX, arguments[i], 0, nullptr, nullptr);
    printf(result ? "refused %d\n" : "linked\n", (int)result);
    return 0;
}
