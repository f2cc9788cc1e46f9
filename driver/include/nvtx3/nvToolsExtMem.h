// NVTX's memory regions, if the toolkit's own header is not installed. A region with a name becomes a separate row of
// the profile, as with warpline_name. The names and values are those of NVTX 3.
#if defined(__has_include_next)
#if __has_include_next(<nvtx3/nvToolsExtMem.h>)
#define WARPLINE_NVTX_MEM_IS_THERE
#endif
#endif

#ifdef WARPLINE_NVTX_MEM_IS_THERE
#include_next <nvtx3/nvToolsExtMem.h>
#elif !defined(NVTOOLSEXTV3_MEM_V1)
#define NVTOOLSEXTV3_MEM_V1

#include <nvtx3/nvToolsExt.h>
#include <stdlib.h>
#include <warpline.h>

#define NVTX_EXT_COMPATID_MEM 0x0102
#define NVTX_MEM_TYPE_UNKNOWN 0x0
#define NVTX_MEM_TYPE_VIRTUAL_ADDRESS 0x1
#define NVTX_MEM_HEAP_USAGE_UNKNOWN 0x0
#define NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR 0x1
#define NVTX_MEM_HEAP_USAGE_TYPE_LAYOUT 0x2
#define NVTX_MEM_REGION_REF_TYPE_UNKNOWN 0x0
#define NVTX_MEM_REGION_REF_TYPE_POINTER 0x1
#define NVTX_MEM_REGION_REF_TYPE_HANDLE 0x2
#define NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE ((nvtxMemHeapHandle_t)0)
#define NVTX_MEM_HEAP_HANDLE_NO_TOOL ((nvtxMemHeapHandle_t)(intptr_t)-1)
#define NVTX_MEM_REGION_HANDLE_NO_TOOL ((nvtxMemRegionHandle_t)(intptr_t)-1)

typedef struct nvtxMemHeap_v1 nvtxMemHeap_t;
typedef nvtxMemHeap_t *nvtxMemHeapHandle_t;
typedef struct nvtxMemRegion_v1 nvtxMemRegion_t;
typedef nvtxMemRegion_t *nvtxMemRegionHandle_t;
typedef union nvtxMemRegionRef_t {
  void const *pointer;
  nvtxMemRegionHandle_t handle;
} nvtxMemRegionRef_t;
typedef struct nvtxMemVirtualRangeDesc_v1 {
  size_t size;
  void const *ptr;
} nvtxMemVirtualRangeDesc_v1;
typedef nvtxMemVirtualRangeDesc_v1 nvtxMemVirtualRangeDesc_t;
typedef struct nvtxMemHeapDesc_v1 {
  uint16_t extCompatID;
  uint16_t structSize;
  uint32_t reserved0;
  uint32_t usage;
  uint32_t type;
  size_t typeSpecificDescSize;
  void const *typeSpecificDesc;
  uint32_t category;
  uint32_t messageType;
  nvtxMessageValue_t message;
} nvtxMemHeapDesc_v1;
typedef nvtxMemHeapDesc_v1 nvtxMemHeapDesc_t;
typedef struct nvtxMemRegionsRegisterBatch_v1 {
  uint16_t extCompatID;
  uint16_t structSize;
  uint32_t regionType;
  nvtxMemHeapHandle_t heap;
  size_t regionCount;
  size_t regionDescElementSize;
  void const *regionDescElements;
  nvtxMemRegionHandle_t *regionHandleElementsOut;
} nvtxMemRegionsRegisterBatch_v1;
typedef nvtxMemRegionsRegisterBatch_v1 nvtxMemRegionsRegisterBatch_t;
typedef struct nvtxMemRegionsResizeBatch_v1 {
  uint16_t extCompatID;
  uint16_t structSize;
  uint32_t regionType;
  size_t regionDescCount;
  size_t regionDescElementSize;
  void const *regionDescElements;
} nvtxMemRegionsResizeBatch_v1;
typedef nvtxMemRegionsResizeBatch_v1 nvtxMemRegionsResizeBatch_t;
typedef struct nvtxMemRegionsUnregisterBatch_v1 {
  uint16_t extCompatID;
  uint16_t structSize;
  uint32_t refType;
  size_t refCount;
  size_t refElementSize;
  nvtxMemRegionRef_t const *refElements;
} nvtxMemRegionsUnregisterBatch_v1;
typedef nvtxMemRegionsUnregisterBatch_v1 nvtxMemRegionsUnregisterBatch_t;
typedef struct nvtxMemRegionNameDesc_v1 {
  uint32_t regionRefType;
  uint32_t nameType;
  nvtxMemRegionRef_t region;
  nvtxMessageValue_t name;
  uint32_t category;
  uint32_t reserved0;
} nvtxMemRegionNameDesc_v1;
typedef nvtxMemRegionNameDesc_v1 nvtxMemRegionNameDesc_t;
typedef struct nvtxMemRegionsNameBatch_v1 {
  uint16_t extCompatID;
  uint16_t structSize;
  uint32_t reserved0;
  size_t regionCount;
  size_t regionElementSize;
  nvtxMemRegionNameDesc_t const *regionElements;
  size_t reserved1;
} nvtxMemRegionsNameBatch_v1;
typedef nvtxMemRegionsNameBatch_v1 nvtxMemRegionsNameBatch_t;

#ifdef __cplusplus
extern "C" {
#endif

// A registered region; the handle points to it.
struct nvtxMemRegion_v1 {
  nvtxMemRegion_t *next;
  void const *pointer;
  size_t size;
};
// The regions of all files, because one file may register a region that another file names.
__attribute__((weak)) nvtxMemRegion_t *warpline_nvtx_regions = NULL;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
static inline void warpline_nvtx_name(void const *pointer, size_t size, uint32_t type, nvtxMessageValue_t name) {
  char text[256];
  char const *ascii = NULL;
  if (!warpline_name || !pointer || !size) return;
  if (type == NVTX_MESSAGE_TYPE_ASCII) ascii = name.ascii;
  if (type == NVTX_MESSAGE_TYPE_UNICODE && name.unicode) {
    size_t length = wcstombs(text, name.unicode, sizeof text - 1);
    if (length != (size_t)-1) text[length < sizeof text ? length : sizeof text - 1] = 0, ascii = text;
  }
  if (ascii) warpline_name(pointer, size, ascii);
}
static inline nvtxMemRegion_t *warpline_nvtx_region(uint32_t type, nvtxMemRegionRef_t reference) {
  nvtxMemRegion_t *region = warpline_nvtx_regions;
  if (type == NVTX_MEM_REGION_REF_TYPE_HANDLE) {
    while (region && region != reference.handle) region = region->next;
  } else {
    while (region && region->pointer != reference.pointer) region = region->next;
  }
  return region;
}
static inline nvtxMemHeapHandle_t nvtxMemHeapRegister(nvtxDomainHandle_t domain, nvtxMemHeapDesc_t const *desc) {
  if (!desc || desc->type != NVTX_MEM_TYPE_VIRTUAL_ADDRESS || !desc->typeSpecificDesc) return NVTX_MEM_HEAP_HANDLE_NO_TOOL;
  nvtxMemVirtualRangeDesc_t const *range = (nvtxMemVirtualRangeDesc_t const *)desc->typeSpecificDesc;
  warpline_nvtx_name(range->ptr, range->size, desc->messageType, desc->message);
  return (nvtxMemHeapHandle_t)(uintptr_t)range->ptr;
}
static inline void nvtxMemHeapUnregister(nvtxDomainHandle_t domain, nvtxMemHeapHandle_t heap) {}
static inline void nvtxMemHeapReset(nvtxDomainHandle_t domain, nvtxMemHeapHandle_t heap) {}
static inline void nvtxMemRegionsRegister(nvtxDomainHandle_t domain, nvtxMemRegionsRegisterBatch_t const *desc) {
  if (!desc) return;
  for (size_t i = 0; i < desc->regionCount; i++) {
    char const *element = (char const *)desc->regionDescElements + i * desc->regionDescElementSize;
    nvtxMemRegion_t *region = NULL;
    if (desc->regionType == NVTX_MEM_TYPE_VIRTUAL_ADDRESS) region = (nvtxMemRegion_t *)malloc(sizeof *region);
    if (region) {
      nvtxMemVirtualRangeDesc_t const *range = (nvtxMemVirtualRangeDesc_t const *)(void const *)element;
      region->next = warpline_nvtx_regions;
      region->pointer = range->ptr;
      region->size = range->size;
      warpline_nvtx_regions = region;
    }
    if (desc->regionHandleElementsOut) desc->regionHandleElementsOut[i] = region ? region : NVTX_MEM_REGION_HANDLE_NO_TOOL;
  }
}
static inline void nvtxMemRegionsResize(nvtxDomainHandle_t domain, nvtxMemRegionsResizeBatch_t const *desc) {
  for (size_t i = 0; desc && desc->regionType == NVTX_MEM_TYPE_VIRTUAL_ADDRESS && i < desc->regionDescCount; i++) {
    char const *element = (char const *)desc->regionDescElements + i * desc->regionDescElementSize;
    nvtxMemVirtualRangeDesc_t const *range = (nvtxMemVirtualRangeDesc_t const *)(void const *)element;
    nvtxMemRegionRef_t reference;
    reference.pointer = range->ptr;
    nvtxMemRegion_t *region = warpline_nvtx_region(NVTX_MEM_REGION_REF_TYPE_POINTER, reference);
    if (region) region->size = range->size;
  }
}
static inline void nvtxMemRegionsUnregister(nvtxDomainHandle_t domain, nvtxMemRegionsUnregisterBatch_t const *desc) {
  for (size_t i = 0; desc && i < desc->refCount; i++) {
    char const *element = (char const *)desc->refElements + i * desc->refElementSize;
    nvtxMemRegion_t *region = warpline_nvtx_region(desc->refType, *(nvtxMemRegionRef_t const *)(void const *)element);
    for (nvtxMemRegion_t **link = &warpline_nvtx_regions; region && *link; link = &(*link)->next) {
      if (*link == region) {
        *link = region->next;
        free(region);
        break;
      }
    }
  }
}
static inline void nvtxMemRegionsName(nvtxDomainHandle_t domain, nvtxMemRegionsNameBatch_t const *desc) {
  for (size_t i = 0; desc && i < desc->regionCount; i++) {
    char const *element = (char const *)desc->regionElements + i * desc->regionElementSize;
    nvtxMemRegionNameDesc_t const *name = (nvtxMemRegionNameDesc_t const *)(void const *)element;
    nvtxMemRegion_t *region = warpline_nvtx_region(name->regionRefType, name->region);
    if (region) warpline_nvtx_name(region->pointer, region->size, name->nameType, name->name);
  }
}
#pragma GCC diagnostic pop
#ifdef __cplusplus
}
#endif

#endif // NVTOOLSEXTV3_MEM_V1
