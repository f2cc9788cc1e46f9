// flags: -lnvToolsExt
// Programs that mark their phases with NVTX build and run, also where its headers are not installed.
#include "test.h"
#include <cuda_profiler_api.h>
#include <nvToolsExt.h>
#include <nvtx3/nvToolsExt.h>

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
