// flags: -lnvToolsExt
// Programs that mark their phases with NVTX build and run, also where its headers are not installed.
#include "test.h"
#include <cuda_profiler_api.h>
#include <nvToolsExt.h>
#include <nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>

__global__ void set(int *out) { out[threadIdx.x] = threadIdx.x; }

int main()
{
    Device<int> out(32);
    nvtxEventAttributes_t attributes = {};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.colorType = NVTX_COLOR_ARGB;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "outer";
    nvtxRangePushEx(&attributes);
    nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
    nvtxDomainNameCategoryA(domain, 1, "steps");
    nvtxDomainNameCategoryW(domain, 2, L"copies");
    nvtxResourceAttributes_t resource = {};
    resource.version = NVTX_VERSION;
    resource.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
    resource.identifierType = NVTX_RESOURCE_TYPE_GENERIC_POINTER;
    nvtxDomainResourceDestroy(nvtxDomainResourceCreate(domain, &resource));
    nvtxNameCategory(3, "all");
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    nvtxNameCudaStreamA(stream, "copies");
    nvtxNameCuStreamA(stream, "copies");
    nvtxNameCuStream(stream, "copies");
    nvtxNameCudaDevice(0, "first");
    CHECK(cudaStreamDestroy(stream));
    nvtxRangeId_t range = nvtxRangeStart("inner");
    CHECK(cudaProfilerStart());
    set<<<1, 32>>>(out);
    CHECK(cudaProfilerStop());
    nvtxRangeEnd(range);
    nvtxMark("done");
    nvtxRangePop();
    EXPECT(out.read()[31] == 31);
    return done("ranges");
}
