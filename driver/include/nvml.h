// NVML for programs that query the properties and the state of their GPU. The functions here get their answers from
// CUDA's runtime, which on the CPU device uses the GPU model: the names, the memory and the highest clocks of devices.
// Data that only a driver reports (temperature, power, use, the setting of clocks) is not supported, as on GPUs without
// sensors. The names and values are those of NVML. This header replaces the toolkit's header, whose library comes with
// the driver.
#ifndef WARPLINE_NVML_H
#define WARPLINE_NVML_H

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#define NVML_API_VERSION 13
#define NVML_DEVICE_NAME_BUFFER_SIZE 64
#define NVML_DEVICE_NAME_V2_BUFFER_SIZE 96
#define NVML_DEVICE_UUID_BUFFER_SIZE 80
#define NVML_DEVICE_UUID_V2_BUFFER_SIZE 96
#define NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE 32
#define NVML_DEVICE_SERIAL_BUFFER_SIZE 30
#define NVML_DEVICE_PART_NUMBER_BUFFER_SIZE 80
#define NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE 32
#define NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE 16
#define NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE 80
#define NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE 80

typedef enum nvmlReturn_enum {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NO_PERMISSION = 4,
  NVML_ERROR_ALREADY_INITIALIZED = 5,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_INSUFFICIENT_POWER = 8,
  NVML_ERROR_DRIVER_NOT_LOADED = 9,
  NVML_ERROR_TIMEOUT = 10,
  NVML_ERROR_IRQ_ISSUE = 11,
  NVML_ERROR_LIBRARY_NOT_FOUND = 12,
  NVML_ERROR_FUNCTION_NOT_FOUND = 13,
  NVML_ERROR_CORRUPTED_INFOROM = 14,
  NVML_ERROR_GPU_IS_LOST = 15,
  NVML_ERROR_UNKNOWN = 999
} nvmlReturn_t;
typedef enum nvmlClockType_enum {
  NVML_CLOCK_GRAPHICS = 0,
  NVML_CLOCK_SM = 1,
  NVML_CLOCK_MEM = 2,
  NVML_CLOCK_VIDEO = 3
} nvmlClockType_t;
typedef enum nvmlClockId_enum {
  NVML_CLOCK_ID_CURRENT = 0,
  NVML_CLOCK_ID_APP_CLOCK_TARGET = 1,
  NVML_CLOCK_ID_APP_CLOCK_DEFAULT = 2,
  NVML_CLOCK_ID_CUSTOMER_BOOST_MAX = 3
} nvmlClockId_t;
#define NVML_CLOCK_LIMIT_ID_TDP 0xffffff01u
#define NVML_CLOCK_LIMIT_ID_UNLIMITED 0xffffff02u
typedef enum nvmlTemperatureSensors_enum { NVML_TEMPERATURE_GPU = 0 } nvmlTemperatureSensors_t;
typedef enum nvmlTemperatureThresholds_enum {
  NVML_TEMPERATURE_THRESHOLD_SHUTDOWN = 0,
  NVML_TEMPERATURE_THRESHOLD_SLOWDOWN = 1
} nvmlTemperatureThresholds_t;
typedef enum nvmlEnableState_enum { NVML_FEATURE_DISABLED = 0, NVML_FEATURE_ENABLED = 1 } nvmlEnableState_t;
typedef enum nvmlRestrictedAPI_enum {
  NVML_RESTRICTED_API_SET_APPLICATION_CLOCKS = 0,
  NVML_RESTRICTED_API_SET_AUTO_BOOSTED_CLOCKS = 1
} nvmlRestrictedAPI_t;
typedef enum nvmlSamplingType_enum {
  NVML_TOTAL_POWER_SAMPLES = 0,
  NVML_GPU_UTILIZATION_SAMPLES = 1,
  NVML_MEMORY_UTILIZATION_SAMPLES = 2
} nvmlSamplingType_t;
typedef enum nvmlValueType_enum {
  NVML_VALUE_TYPE_DOUBLE = 0,
  NVML_VALUE_TYPE_UNSIGNED_INT = 1,
  NVML_VALUE_TYPE_UNSIGNED_LONG = 2,
  NVML_VALUE_TYPE_UNSIGNED_LONG_LONG = 3
} nvmlValueType_t;
typedef union nvmlValue_st {
  double dVal;
  unsigned int uiVal;
  unsigned long ulVal;
  unsigned long long ullVal;
} nvmlValue_t;
typedef struct nvmlSample_st {
  unsigned long long timeStamp;
  nvmlValue_t sampleValue;
} nvmlSample_t;
typedef struct nvmlMemory_st {
  unsigned long long total, free, used;
} nvmlMemory_t;
typedef struct nvmlUtilization_st {
  unsigned int gpu, memory;
} nvmlUtilization_t;
typedef struct nvmlPciInfo_st {
  char busIdLegacy[NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE];
  unsigned int domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
} nvmlPciInfo_t;
typedef struct nvmlDevice_st *nvmlDevice_t;

#define nvmlClocksThrottleReasonGpuIdle 0x1ull
#define nvmlClocksThrottleReasonApplicationsClocksSetting 0x2ull
#define nvmlClocksThrottleReasonSwPowerCap 0x4ull
#define nvmlClocksThrottleReasonHwSlowdown 0x8ull
#define nvmlClocksThrottleReasonSyncBoost 0x10ull
#define nvmlClocksThrottleReasonSwThermalSlowdown 0x20ull
#define nvmlClocksThrottleReasonHwThermalSlowdown 0x40ull
#define nvmlClocksThrottleReasonHwPowerBrakeSlowdown 0x80ull
#define nvmlClocksThrottleReasonNone 0x0ull
#define nvmlClocksThrottleReasonAll 0xffull

// The functions have these names in libraries; NVML's headers define the plain names as these.
#define nvmlInit_v2 nvmlInit
#define nvmlDeviceGetCount_v2 nvmlDeviceGetCount
#define nvmlDeviceGetHandleByIndex_v2 nvmlDeviceGetHandleByIndex
#define nvmlDeviceGetHandleByPciBusId_v2 nvmlDeviceGetHandleByPciBusId
#define nvmlDeviceGetPciInfo_v3 nvmlDeviceGetPciInfo

// A handle is the device's number plus one.
static inline nvmlReturn_t warplineNvmlDevice(nvmlDevice_t handle, int *device) {
  int count = 0;
  *device = (int)(size_t)handle - 1;
  cudaGetDeviceCount(&count);
  return *device >= 0 && *device < count ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

static inline nvmlReturn_t warplineNvmlText(const char *from, char *to, unsigned int length) {
  if (!to)
    return NVML_ERROR_INVALID_ARGUMENT;
  if (strlen(from) >= length)
    return NVML_ERROR_INSUFFICIENT_SIZE;
  strcpy(to, from);
  return NVML_SUCCESS;
}

static inline nvmlReturn_t nvmlInit(void) { return NVML_SUCCESS; }
static inline nvmlReturn_t nvmlInitWithFlags(unsigned int flags) { return (void)flags, NVML_SUCCESS; }
static inline nvmlReturn_t nvmlShutdown(void) { return NVML_SUCCESS; }

static inline const char *nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
  case NVML_SUCCESS:
    return "Success";
  case NVML_ERROR_INVALID_ARGUMENT:
    return "Invalid Argument";
  case NVML_ERROR_NOT_SUPPORTED:
    return "Not Supported";
  case NVML_ERROR_NOT_FOUND:
    return "Not Found";
  case NVML_ERROR_INSUFFICIENT_SIZE:
    return "Insufficient Size";
  default:
    return "Unknown Error";
  }
}

static inline nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length) {
  char text[32];
  int number = 0;
  cudaDriverGetVersion(&number);
  snprintf(text, sizeof text, "%d.%d", number / 1000, number % 1000 / 10);
  return warplineNvmlText(text, version, length);
}
static inline nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length) {
  return nvmlSystemGetDriverVersion(version, length);
}
static inline nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version) {
  return cudaDriverGetVersion(version) == cudaSuccess ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

static inline nvmlReturn_t nvmlDeviceGetCount(unsigned int *count) {
  int devices = 0;
  if (!count)
    return NVML_ERROR_INVALID_ARGUMENT;
  cudaGetDeviceCount(&devices);
  *count = (unsigned int)devices;
  return NVML_SUCCESS;
}
static inline nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t *handle) {
  int device;
  if (!handle)
    return NVML_ERROR_INVALID_ARGUMENT;
  *handle = (nvmlDevice_t)((size_t)index + 1);
  return warplineNvmlDevice(*handle, &device);
}
static inline nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *bus, nvmlDevice_t *handle) {
  int device;
  if (!bus || !handle)
    return NVML_ERROR_INVALID_ARGUMENT;
  if (cudaDeviceGetByPCIBusId(&device, bus) != cudaSuccess)
    return NVML_ERROR_NOT_FOUND;
  return nvmlDeviceGetHandleByIndex((unsigned int)device, handle);
}
static inline nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t handle, unsigned int *index) {
  int device;
  nvmlReturn_t result = warplineNvmlDevice(handle, &device);
  if (result == NVML_SUCCESS)
    *index = (unsigned int)device;
  return result;
}

static inline nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char *name, unsigned int length) {
  int device;
  struct cudaDeviceProp properties;
  nvmlReturn_t result = warplineNvmlDevice(handle, &device);
  if (result != NVML_SUCCESS)
    return result;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess)
    return NVML_ERROR_UNKNOWN;
  return warplineNvmlText(properties.name, name, length);
}
static inline nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char *text, unsigned int length) {
  int device, byte;
  char uuid[48] = "GPU";
  struct cudaDeviceProp properties;
  nvmlReturn_t result = warplineNvmlDevice(handle, &device);
  if (result != NVML_SUCCESS)
    return result;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess)
    return NVML_ERROR_UNKNOWN;
  for (byte = 0; byte < 16; byte++) {
    const char *dash = byte == 0 || byte == 4 || byte == 6 || byte == 8 || byte == 10 ? "-" : "";
    sprintf(uuid + strlen(uuid), "%s%02x", dash, (unsigned int)(unsigned char)properties.uuid.bytes[byte]);
  }
  return warplineNvmlText(uuid, text, length);
}
static inline nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t handle, nvmlPciInfo_t *info) {
  int device;
  struct cudaDeviceProp properties;
  nvmlReturn_t result = warplineNvmlDevice(handle, &device);
  if (result != NVML_SUCCESS || !info)
    return NVML_ERROR_INVALID_ARGUMENT;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess)
    return NVML_ERROR_UNKNOWN;
  memset(info, 0, sizeof *info);
  info->domain = (unsigned int)properties.pciDomainID;
  info->bus = (unsigned int)properties.pciBusID;
  info->device = (unsigned int)properties.pciDeviceID;
  snprintf(info->busIdLegacy, sizeof info->busIdLegacy, "%04x:%02x:%02x.0", info->domain & 0xffffu, info->bus & 0xffu,
           info->device & 0xffu);
  snprintf(info->busId, sizeof info->busId, "%08x:%02x:%02x.0", info->domain, info->bus, info->device);
  return NVML_SUCCESS;
}
static inline nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t handle, int *major, int *minor) {
  int device;
  nvmlReturn_t result = warplineNvmlDevice(handle, &device);
  if (result != NVML_SUCCESS || !major || !minor)
    return NVML_ERROR_INVALID_ARGUMENT;
  cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, device);
  return NVML_SUCCESS;
}

// Returns the memory of the current device for every handle, because CUDA has no query for another device.
static inline nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t handle, nvmlMemory_t *memory) {
  int device;
  size_t left, total;
  nvmlReturn_t result = warplineNvmlDevice(handle, &device);
  if (result != NVML_SUCCESS || !memory)
    return NVML_ERROR_INVALID_ARGUMENT;
  if (cudaMemGetInfo(&left, &total) != cudaSuccess)
    return NVML_ERROR_UNKNOWN;
  memory->total = total;
  memory->free = left;
  memory->used = total - left;
  return NVML_SUCCESS;
}

// Returns clocks in MHz. A model has one clock for its processors and one for its memory.
static inline nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t handle, nvmlClockType_t type, unsigned int *clock) {
  int device, khz = 0;
  nvmlReturn_t result = warplineNvmlDevice(handle, &device);
  if (result != NVML_SUCCESS || !clock)
    return NVML_ERROR_INVALID_ARGUMENT;
  cudaDeviceGetAttribute(&khz, type == NVML_CLOCK_MEM ? cudaDevAttrMemoryClockRate : cudaDevAttrClockRate, device);
  *clock = (unsigned int)khz / 1000;
  return NVML_SUCCESS;
}
static inline nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t handle, nvmlClockType_t type, unsigned int *clock) {
  return nvmlDeviceGetMaxClockInfo(handle, type, clock);
}
static inline nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t handle, nvmlClockType_t type,
                                                          unsigned int *clock) {
  return nvmlDeviceGetMaxClockInfo(handle, type, clock);
}
static inline nvmlReturn_t nvmlDeviceGetDefaultApplicationsClock(nvmlDevice_t handle, nvmlClockType_t type,
                                                                 unsigned int *clock) {
  return nvmlDeviceGetMaxClockInfo(handle, type, clock);
}
static inline nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t handle, nvmlClockType_t type, nvmlClockId_t id,
                                              unsigned int *clock) {
  return (void)id, nvmlDeviceGetMaxClockInfo(handle, type, clock);
}
static inline nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t handle, unsigned long long *reasons) {
  int device;
  nvmlReturn_t result = warplineNvmlDevice(handle, &device);
  if (result == NVML_SUCCESS)
    *reasons = nvmlClocksThrottleReasonNone;
  return result;
}

// Functions for data that CUDA's runtime does not provide.
#define WARPLINE_NVML_NOT_SUPPORTED(name, parameters)                                                                  \
  static inline nvmlReturn_t name parameters { return NVML_ERROR_NOT_SUPPORTED; }
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
#endif
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetTemperature,
                            (nvmlDevice_t handle, nvmlTemperatureSensors_t sensor, unsigned int *degrees))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetTemperatureThreshold,
                            (nvmlDevice_t handle, nvmlTemperatureThresholds_t which, unsigned int *degrees))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetPowerUsage, (nvmlDevice_t handle, unsigned int *milliwatts))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetPowerManagementLimit, (nvmlDevice_t handle, unsigned int *milliwatts))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetEnforcedPowerLimit, (nvmlDevice_t handle, unsigned int *milliwatts))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetTotalEnergyConsumption, (nvmlDevice_t handle, unsigned long long *millijoules))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetSerial, (nvmlDevice_t handle, char *text, unsigned int length))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetBoardPartNumber, (nvmlDevice_t handle, char *text, unsigned int length))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetVbiosVersion, (nvmlDevice_t handle, char *text, unsigned int length))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetBoardId, (nvmlDevice_t handle, unsigned int *board))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetEccMode,
                            (nvmlDevice_t handle, nvmlEnableState_t *current, nvmlEnableState_t *pending))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetCurrPcieLinkGeneration, (nvmlDevice_t handle, unsigned int *generation))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetCurrPcieLinkWidth, (nvmlDevice_t handle, unsigned int *width))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetMaxPcieLinkGeneration, (nvmlDevice_t handle, unsigned int *generation))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetMaxPcieLinkWidth, (nvmlDevice_t handle, unsigned int *width))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetFanSpeed, (nvmlDevice_t handle, unsigned int *percent))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetUtilizationRates, (nvmlDevice_t handle, nvmlUtilization_t *utilization))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetSamples,
                            (nvmlDevice_t handle, nvmlSamplingType_t type, unsigned long long since,
                             nvmlValueType_t *value, unsigned int *count, nvmlSample_t *samples))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetAPIRestriction,
                            (nvmlDevice_t handle, nvmlRestrictedAPI_t which, nvmlEnableState_t *restricted))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetSupportedMemoryClocks,
                            (nvmlDevice_t handle, unsigned int *count, unsigned int *clocks))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceGetSupportedGraphicsClocks,
                            (nvmlDevice_t handle, unsigned int memory, unsigned int *count, unsigned int *clocks))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceSetPersistenceMode, (nvmlDevice_t handle, nvmlEnableState_t mode))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceSetApplicationsClocks,
                            (nvmlDevice_t handle, unsigned int memory, unsigned int graphics))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceResetApplicationsClocks, (nvmlDevice_t handle))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceSetGpuLockedClocks, (nvmlDevice_t handle, unsigned int least, unsigned int most))
WARPLINE_NVML_NOT_SUPPORTED(nvmlDeviceResetGpuLockedClocks, (nvmlDevice_t handle))
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
#undef WARPLINE_NVML_NOT_SUPPORTED

#endif
