// Parts of a pool that NVTX names: each is a row of its own.
#include <cstdio>
#include <nvtx3/nvToolsExtMem.h>

__global__ void fill(float *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f; }

int main() {
    float *pool;
    cudaMalloc(&pool, 4096 * sizeof(float));
    nvtxDomainHandle_t domain = nvtxDomainCreateA("pool");
    nvtxMemVirtualRangeDesc_t ranges[2] = {{1024 * sizeof(float), pool}, {2048 * sizeof(float), pool + 1024}};
    nvtxMemRegionHandle_t handles[2];
    nvtxMemRegionsRegisterBatch_t batch = {};
    batch.extCompatID = NVTX_EXT_COMPATID_MEM;
    batch.structSize = sizeof batch;
    batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    batch.heap = NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE;
    batch.regionCount = 2;
    batch.regionDescElementSize = sizeof ranges[0];
    batch.regionDescElements = ranges;
    batch.regionHandleElementsOut = handles;
    nvtxMemRegionsRegister(domain, &batch);
    nvtxMemRegionNameDesc_t names[2] = {};
    names[0].regionRefType = NVTX_MEM_REGION_REF_TYPE_POINTER;
    names[0].region.pointer = pool;
    names[0].nameType = NVTX_MESSAGE_TYPE_ASCII;
    names[0].name.ascii = "pressure";
    names[1].regionRefType = NVTX_MEM_REGION_REF_TYPE_HANDLE;
    names[1].region.handle = handles[1];
    names[1].nameType = NVTX_MESSAGE_TYPE_UNICODE;
    names[1].name.unicode = L"velocity";
    nvtxMemRegionsNameBatch_t naming = {};
    naming.extCompatID = NVTX_EXT_COMPATID_MEM;
    naming.structSize = sizeof naming;
    naming.regionCount = 2;
    naming.regionElementSize = sizeof names[0];
    naming.regionElements = names;
    nvtxMemRegionsName(domain, &naming);
    fill<<<4, 256>>>(pool);
    fill<<<8, 256>>>(pool + 1024);
    fill<<<1, 256>>>(pool + 3 * 1024);
    std::printf("%d\n", cudaDeviceSynchronize());
}
