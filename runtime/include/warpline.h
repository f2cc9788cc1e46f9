/* Warpline: what a program may tell the profiler. Including this costs nothing where the program is
 * built without Warpline: define WARPLINE_DISABLE, and the calls vanish. */
#ifndef WARPLINE_H
#define WARPLINE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef WARPLINE_DISABLE
static inline void warpline_name(const void *pointer, size_t bytes, const char *name) {
    (void)pointer;
    (void)bytes;
    (void)name;
}
#else
/* Gives a name to device or host memory that Warpline cannot name by itself: the `bytes` bytes from
 * `pointer`, which lie in one allocation and may be a part of it, such as a piece that the program's
 * own allocator handed out. Accesses there are reported under the name from here on. */
void warpline_name(const void *pointer, size_t bytes, const char *name);
#endif

#ifdef __cplusplus
}
#endif

#endif
