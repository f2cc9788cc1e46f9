// NVTX for programs that mark their phases with it, if the toolkit's own header is not installed. Ranges and marks do
// nothing. The names and values are those of NVTX 3.
#if defined(__has_include_next)
#if __has_include_next(<nvtx3/nvToolsExt.h>)
#define WARPLINE_NVTX_IS_THERE
#endif
#endif

#ifdef WARPLINE_NVTX_IS_THERE
#include_next <nvtx3/nvToolsExt.h>
#elif !defined(NVTX_VERSION)
#define NVTX_VERSION 3

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_SUCCESS 0
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration *nvtxStringHandle_t;
typedef struct nvtxResourceHandle *nvtxResourceHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;
typedef union nvtxMessageValue_t {
  const char *ascii;
  const wchar_t *unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;
#define NVTX_RESOURCE_MAKE_TYPE(CLASS, INDEX) ((((uint32_t)(NVTX_RESOURCE_CLASS_##CLASS)) << 16) | ((uint32_t)(INDEX)))
#define NVTX_RESOURCE_CLASS_GENERIC 1
#define NVTX_RESOURCE_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxResourceAttributes_t))
typedef enum nvtxResourceGenericType_t {
  NVTX_RESOURCE_TYPE_UNKNOWN = 0,
  NVTX_RESOURCE_TYPE_GENERIC_POINTER = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 1),
  NVTX_RESOURCE_TYPE_GENERIC_HANDLE = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 2),
  NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 3),
  NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 4)
} nvtxResourceGenericType_t;
typedef struct nvtxResourceAttributes_v0 {
  uint16_t version;
  uint16_t size;
  int32_t identifierType;
  union identifier_t {
    const void *pValue;
    uint64_t ullValue;
  } identifier;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxResourceAttributes_t;
typedef struct nvtxEventAttributes_v2 {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType;
  int32_t reserved0;
  union payload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_v2;
typedef struct nvtxEventAttributes_v2 nvtxEventAttributes_t;

#define WARPLINE_NVTX(result, name, parameters, value)                                                                 \
  static inline result name parameters { return value; }
#define WARPLINE_NVTX_VOID(name, parameters)                                                                           \
  static inline void name parameters {}
// Parameters are not used, but C requires their names.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
WARPLINE_NVTX_VOID(nvtxInitialize, (const void *reserved))
WARPLINE_NVTX_VOID(nvtxMarkEx, (const nvtxEventAttributes_t *attributes))
WARPLINE_NVTX_VOID(nvtxMarkA, (const char *message))
WARPLINE_NVTX_VOID(nvtxMarkW, (const wchar_t *message))
WARPLINE_NVTX(nvtxRangeId_t, nvtxRangeStartEx, (const nvtxEventAttributes_t *attributes), 1)
WARPLINE_NVTX(nvtxRangeId_t, nvtxRangeStartA, (const char *message), 1)
WARPLINE_NVTX(nvtxRangeId_t, nvtxRangeStartW, (const wchar_t *message), 1)
WARPLINE_NVTX_VOID(nvtxRangeEnd, (nvtxRangeId_t range))
WARPLINE_NVTX(int, nvtxRangePushEx, (const nvtxEventAttributes_t *attributes), NVTX_NO_PUSH_POP_TRACKING)
WARPLINE_NVTX(int, nvtxRangePushA, (const char *message), NVTX_NO_PUSH_POP_TRACKING)
WARPLINE_NVTX(int, nvtxRangePushW, (const wchar_t *message), NVTX_NO_PUSH_POP_TRACKING)
WARPLINE_NVTX(int, nvtxRangePop, (void), NVTX_NO_PUSH_POP_TRACKING)
WARPLINE_NVTX_VOID(nvtxNameCategoryA, (uint32_t category, const char *name))
WARPLINE_NVTX_VOID(nvtxNameCategoryW, (uint32_t category, const wchar_t *name))
WARPLINE_NVTX_VOID(nvtxNameOsThreadA, (uint32_t thread, const char *name))
WARPLINE_NVTX_VOID(nvtxNameOsThreadW, (uint32_t thread, const wchar_t *name))
WARPLINE_NVTX(nvtxDomainHandle_t, nvtxDomainCreateA, (const char *name), NULL)
WARPLINE_NVTX(nvtxDomainHandle_t, nvtxDomainCreateW, (const wchar_t *name), NULL)
WARPLINE_NVTX_VOID(nvtxDomainDestroy, (nvtxDomainHandle_t domain))
WARPLINE_NVTX_VOID(nvtxDomainMarkEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes))
WARPLINE_NVTX(nvtxRangeId_t, nvtxDomainRangeStartEx,
              (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes), 1)
WARPLINE_NVTX_VOID(nvtxDomainRangeEnd, (nvtxDomainHandle_t domain, nvtxRangeId_t range))
WARPLINE_NVTX(int, nvtxDomainRangePushEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes),
              NVTX_NO_PUSH_POP_TRACKING)
WARPLINE_NVTX(int, nvtxDomainRangePop, (nvtxDomainHandle_t domain), NVTX_NO_PUSH_POP_TRACKING)
WARPLINE_NVTX_VOID(nvtxDomainNameCategoryA, (nvtxDomainHandle_t domain, uint32_t category, const char *name))
WARPLINE_NVTX_VOID(nvtxDomainNameCategoryW, (nvtxDomainHandle_t domain, uint32_t category, const wchar_t *name))
WARPLINE_NVTX(nvtxResourceHandle_t, nvtxDomainResourceCreate,
              (nvtxDomainHandle_t domain, nvtxResourceAttributes_t *attributes), NULL)
WARPLINE_NVTX_VOID(nvtxDomainResourceDestroy, (nvtxResourceHandle_t resource))
WARPLINE_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringA, (nvtxDomainHandle_t domain, const char *text), NULL)
WARPLINE_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringW, (nvtxDomainHandle_t domain, const wchar_t *text), NULL)
#pragma GCC diagnostic pop
#undef WARPLINE_NVTX
#undef WARPLINE_NVTX_VOID

#ifdef UNICODE
#define nvtxMark nvtxMarkW
#define nvtxRangeStart nvtxRangeStartW
#define nvtxRangePush nvtxRangePushW
#define nvtxNameCategory nvtxNameCategoryW
#define nvtxNameOsThread nvtxNameOsThreadW
#define nvtxDomainCreate nvtxDomainCreateW
#define nvtxDomainRegisterString nvtxDomainRegisterStringW
#else
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#endif

#endif // NVTX_VERSION
