// Managed memory, used by host and device in turn, prefetched, advised. (clang has no __managed__ variables.)
#include "test.h"

struct List {
    int count;
    int *items;
    int counter;
};

__global__ void grow(List *list)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < list->count) {
        list->items[i] *= 2;
        atomicAdd(&list->counter, 1);
    }
}

int main()
{
    List *list;
    CHECK(cudaMallocManaged(&list, sizeof(List)));
    list->count = 100;
    CHECK(cudaMallocManaged(&list->items, list->count * sizeof(int)));
    for (int i = 0; i < list->count; ++i) {
        list->items[i] = i;
    }
    list->counter = 13;
    int device = -1;
    CHECK(cudaGetDevice(&device));
    cudaMemLocation location{cudaMemLocationTypeDevice, device};
    CHECK(cudaMemAdvise(list->items, list->count * sizeof(int), cudaMemAdviseSetReadMostly, location));
    CHECK(cudaMemPrefetchAsync(list->items, list->count * sizeof(int), location, 0));
    grow<<<2, 64>>>(list);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < list->count; ++i) {
        EXPECT(list->items[i] == 2 * i);
    }
    expect_equal("counter", list->counter, 113);

    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, list->items));
    EXPECT(attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == list->items);
    std::vector<int> copy(100);
    CHECK(cudaMemcpy(copy.data(), list->items, 100 * sizeof(int), cudaMemcpyDefault));
    EXPECT(copy[99] == 198);
    CHECK(cudaFree(list->items));
    CHECK(cudaFree(list));
    return done("managed_memory");
}
