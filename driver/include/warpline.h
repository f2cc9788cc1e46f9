/* Names and sections that a program may pass to Warpline. Without Warpline's runtime every call is a no-op at link time. */
#ifndef WARPLINE_H
#define WARPLINE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names `bytes` bytes of device memory from `pointer` on: an allocation whose name debug information cannot know, or a
   part of a pool. The weak reference lets the same source link without Warpline. */
__attribute__((weak)) void warpline_name(const void *pointer, size_t bytes, const char *name);

#ifdef __cplusplus
}
#endif

#endif
