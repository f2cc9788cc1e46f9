// A stub of the runtime for the tests of the lowering: runs every version of every kernel on several block shapes and
// compares with the same source as plain C++.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <sys/mman.h>
#include <vector>

struct Index { unsigned x, y, z; };
thread_local Index threadIdx, blockIdx, blockDim, gridDim;

struct alignas(64) Lanes { uint32_t lane[32]; };
// As `format/src/abi.rs`.
struct alignas(64) Context {
    uint8_t *cursor, *end;
    const uint8_t *arguments;
    uint8_t *shared;
    uint64_t shared_bytes;
    uint32_t dynamic_shared, reserved_offset;
    uint8_t *local;
    uint64_t local_stride, local_used, local_limit;
    uint64_t *counts;
    uint64_t clock;
    int64_t patience;
    void *runtime;
    uint32_t block_index[3], block_dim[3], grid_dim[3], cluster_dim[3], warp, live, sm, slot;
    uint64_t block, workspace, shared_range[2], shared_stores[2];
    const char *barrier;
    Lanes x, y, z;
};
typedef void (*WarpFunction)(Context *);
struct Parameter { uint32_t offset, size; };
struct Kernel {
    const char *name;
    uint32_t function, flags;
    // Without hooks: linear, half, general, thread by thread; with hooks: linear, half, general.
    WarpFunction versions[7];
    const Parameter *parameters;
    uint32_t parameter_count, parameter_bytes, static_shared, local_bytes;
    const uint32_t *resources;
    uint64_t resource_count;
    uint32_t threads, blocks, required_block[3], required_cluster[3];
    const void *shared_variables;
    uint64_t shared_variable_count;
    const void *pointers;
    uint64_t pointer_count;
};
struct Global {
    const char *name;
    const uint8_t *image;
    uint64_t size, align;
    uint32_t kind, reserved;
    uint64_t *slot;
    const void *relocations;
    uint64_t relocation_count;
};
struct Range { uint64_t low, high; };
struct Module {
    uint64_t magic;
    uint32_t version, flags;
    const uint8_t *table;
    uint64_t table_bytes;
    const Kernel *kernels;
    uint64_t kernel_count;
    const Global *globals;
    uint64_t global_count;
    const void *functions;
    uint64_t function_count;
    Range *ranges;
    uint64_t sites, cells, blocks;
};
extern "C" const Module warpline_module;

static uint8_t records[1 << 14];
static uint64_t requests, lanes;
// With the argument `strict` no memory becomes known to be good, and what lies in the upper half of `in` is bad.
static bool strict;
static const unsigned *first_bad;

struct Digest {
    uint64_t value = 0xcbf29ce484222325;
    void add(const void *data, uint64_t bytes)
    {
        for (uint64_t i = 0; i < bytes; ++i) {
            value = (value ^ static_cast<const uint8_t *>(data)[i]) * 0x100000001b3;
        }
    }
};
static Digest recorded;

static void drain(Context *c)
{
    recorded.add(records, c->cursor - records);
    uint8_t *at = records;
    while (at < c->cursor) {
        uint32_t head, second;
        memcpy(&head, at, 4);
        memcpy(&second, at + 4, 4);
        uint32_t kind = head >> 28;
        bool access = kind == 3 || kind == 4 || kind == 5 || kind == 10 || kind == 12;
        // A bundle's site field contains the number of its requests.
        uint64_t count = !access ? 0 : head >> 23 & 1 ? (head >> 18 & 31) + 1 : 1;
        if (access && second == 0) {
            printf("a record without lanes\n");
            exit(1);
        }
        requests += count;
        lanes += count * __builtin_popcount(second);
        at += kind == 3 || kind == 12 ? 16 : kind == 4 ? 32 : kind == 5 ? 16 + (__builtin_popcount(second) + 1) / 2 * 8 : kind == 10 ? 264 : 8;
    }
    if (at != c->cursor) {
        printf("damaged records\n");
        exit(1);
    }
    c->cursor = records;
}

extern "C" {
void __wl_flush(Context *c) { drain(c); }
uint32_t __wl_check(Context *, Range *range, uint32_t, uint32_t, uint32_t mask, const uint64_t *addresses, uint32_t, uint32_t)
{
    if (strict) {
        for (unsigned lane = 0; lane < 32; ++lane) {
            bool bad = addresses[lane] - reinterpret_cast<uint64_t>(first_bad) < 2000;
            mask &= ~(uint32_t{bad} << lane);
        }
        return mask;
    }
    *range = {0, ~0ull};
    return mask;
}
void __wl_divergent_barrier(Context *, uint32_t, uint32_t, const char *, uint32_t) { abort(); }
uint32_t __wl_barrier(Context *, uint32_t, uint32_t, uint32_t) { abort(); }
void __wl_yield(Context *c) { c->patience = 200; }
void __wl_parted(Context *, uint32_t, uint32_t) {}
void __wl_vprintf(Context *, uint32_t, const uint64_t *, const uint64_t *, int32_t *) { abort(); }
void __wl_assert(Context *, uint32_t, const uint64_t *, const uint64_t *, const uint32_t *, const uint64_t *) { abort(); }
void __wl_trap(Context *, uint32_t) { abort(); }
void __wl_malloc(Context *, uint32_t, const uint64_t *, uint64_t *) { abort(); }
void __wl_free(Context *, uint32_t, const uint64_t *) { abort(); }
void __wl_stack_overflow(Context *) { printf("stack overflow\n"); exit(1); }
void __wl_bad_call(Context *, uint32_t, const uint64_t *) { abort(); }
uint64_t __wl_globaltimer(Context *) { return 0; }
}

typedef void (*Plain)(const unsigned *, unsigned *, int);
#define DECLARE(name) extern "C" void name(const unsigned *, unsigned *, int);
#define ENTRY(name) {#name, name},
#include "list.h"
KERNELS(DECLARE)
static const std::map<std::string, Plain> references = {KERNELS(ENTRY)};

struct Shape { unsigned grid, x, y; };

static void run(WarpFunction function, Shape shape, const unsigned *in, unsigned *out, int n, bool hooked, uint64_t *counts)
{
    struct { const unsigned *in; unsigned *out; int n; } arguments = {in, out, n};
    static uint8_t *stacks = static_cast<uint8_t *>(
        mmap(nullptr, 32 << 14, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    unsigned threads = shape.x * shape.y;
    for (unsigned block = 0; block < shape.grid; ++block) {
        for (unsigned first = 0; first < threads; first += 32) {
            Context c;
            memset(static_cast<void *>(&c), 0, sizeof c);
            c.cursor = hooked ? records : nullptr;
            c.end = hooked ? records + sizeof records : nullptr;
            c.arguments = reinterpret_cast<const uint8_t *>(&arguments);
            c.local = stacks;
            c.local_stride = c.local_limit = 1 << 14;
            c.counts = counts;
            c.patience = 200;
            c.block_index[0] = block;
            c.block_dim[0] = shape.x;
            c.block_dim[1] = shape.y;
            c.block_dim[2] = 1;
            c.grid_dim[0] = shape.grid;
            c.grid_dim[1] = c.grid_dim[2] = 1;
            for (unsigned lane = 0; lane < 32; ++lane) {
                unsigned thread = first + lane;
                bool there = thread < threads;
                c.live |= there ? 1u << lane : 0;
                // What lanes that do not exist hold must not matter.
                c.x.lane[lane] = there ? thread % shape.x : 0xdeadbeef;
                c.y.lane[lane] = there ? thread / shape.x : 0xdeadbeef;
                c.z.lane[lane] = there ? 0 : 0xdeadbeef;
            }
            function(&c);
            if (c.local_used != 0) {
                printf("the stack was not given back\n");
                exit(1);
            }
            if (hooked) {
                drain(&c);
            }
        }
    }
}

// At the same place in each run, as addresses stand in the records.
static unsigned *words(uint64_t address)
{
    void *place = mmap(reinterpret_cast<void *>(address), 4096, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (place != reinterpret_cast<void *>(address)) {
        perror("mmap");
        exit(1);
    }
    return static_cast<unsigned *>(place);
}

int main(int count, char **arguments)
{
    const int n = 777;
    unsigned *const in = words(0x200000000000), *const out = words(0x200000010000);
    strict = count > 1 && strcmp(arguments[1], "strict") == 0;
    first_bad = in + n / 2;
    unsigned state = 12345;
    for (int i = 0; i < n; ++i) {
        state = state * 1664525 + 1013904223;
        in[i] = state >> (state % 23);
    }
    for (uint64_t index = 0; index < warpline_module.global_count; ++index) {
        const Global &global = warpline_module.globals[index];
        uint8_t *place = static_cast<uint8_t *>(aligned_alloc(256, (global.size + 255) / 256 * 256));
        memset(place, 0, global.size);
        if (global.image) {
            memcpy(place, global.image, global.size);
        }
        *global.slot = reinterpret_cast<uint64_t>(place);
    }
    int wrong = 0;
    std::vector<uint64_t> counts(warpline_module.cells);
    for (uint64_t index = 0; index < warpline_module.kernel_count; ++index) {
        const Kernel &kernel = warpline_module.kernels[index];
        Digest results;
        recorded = Digest();
        for (Shape shape : {Shape{7, 128, 1}, Shape{17, 50, 1}, Shape{7, 16, 8}, Shape{13, 7, 9}, Shape{2, 64, 5}}) {
            std::vector<unsigned> expected(n, 7);
            for (unsigned block = 0; block < shape.grid; ++block) {
                for (unsigned y = 0; y < shape.y; ++y) {
                    for (unsigned x = 0; x < shape.x; ++x) {
                        threadIdx = {x, y, 0};
                        blockIdx = {block, 0, 0};
                        blockDim = {shape.x, shape.y, 1};
                        gridDim = {shape.grid, 1, 1};
                        references.at(kernel.name)(in, expected.data(), n);
                    }
                }
            }
            uint64_t first_requests = 0, first_lanes = 0;
            for (int version = 0; version < 7; ++version) {
                bool linear = shape.y == 1 || shape.x % 32 == 0, half = shape.x % 16 == 0;
                bool fits[] = {linear, half, true, linear, linear, half, true};
                bool with_hooks = version >= 4;
                if (!kernel.versions[version] || !fits[version]) {
                    continue;
                }
                std::fill_n(out, n, 7);
                requests = lanes = 0;
                run(kernel.versions[version], shape, in, out, n, with_hooks, counts.data());
                results.add(out, n * sizeof *out);
                for (int i = 0; i < n && !strict; ++i) {
                    if (out[i] != expected[i]) {
                        printf("%s version %d block %u x %u: out[%d] is %u, expected %u\n", kernel.name, version, shape.x,
                               shape.y, i, out[i], expected[i]);
                        ++wrong;
                        break;
                    }
                }
                // Every version makes the same requests.
                if (with_hooks && first_requests && (requests != first_requests || lanes != first_lanes)) {
                    printf("%s version %d: %lu requests of %lu lanes, another version makes %lu of %lu\n", kernel.name,
                           version, requests, lanes, first_requests, first_lanes);
                    ++wrong;
                }
                if (with_hooks) {
                    first_requests = requests;
                    first_lanes = lanes;
                }
            }
        }
        if (kernel.versions[3]) {
            printf("%s: also thread by thread\n", kernel.name);
        }
        printf("%s: records %016lx results %016lx\n", kernel.name, recorded.value, results.value);
    }
    printf("%lu kernels, %d wrong\n", warpline_module.kernel_count, wrong);
    return wrong != 0;
}
