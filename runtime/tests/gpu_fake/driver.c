// A libcuda.so.1 that reports one small GPU or, with FAKE_CUDA=none, no GPU.
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned flags) {
    const char* wish = getenv("FAKE_CUDA");
    (void)flags;
    return wish && strcmp(wish, "none") == 0 ? 100 : 0;
}
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char* name, int length, int device) { return (void)device, strncpy(name, "Fake GPU", length), 0; }
int cuDeviceTotalMem_v2(size_t* bytes, int device) { return (void)device, *bytes = (size_t)1 << 30, 0; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
    (void)device;
    switch (attribute) {
        case 16: return *value = 4, 0;   // SMs
        case 75: return *value = 9, 0;   // compute capability
        case 76: return *value = 0, 0;
        default: return 1;               // the same result as for an attribute that the driver does not support
    }
}
