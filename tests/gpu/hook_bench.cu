// Runs the device hooks on a real GPU against a small host-side reader, checks every address of every
// record, and prints what a record costs. Needs no compiler where it runs.
//
//   hook_bench [loads per thread] [blocks per SM] [number of one pattern]
#include "../../runtime/device/hooks.cu"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unordered_map>
#include <vector>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t error = (call);                                                                  \
        if (error != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
            exit(1);                                                                                 \
        }                                                                                            \
    } while (0)

enum Pattern { COALESCED, STRIDED, ROWS, RANDOM, FAR, DIVERGENT, LINEAR, UNIFORM, COUNT_ONLY, PATTERNS };
static const char* const NAMES[] = {"coalesced", "stride 3", "two rows", "random 1 MB", "random 8 GB",
                                    "divergent", "linear (proved)", "uniform (proved)", "block count only"};

// Index of the element that a thread reads; the host computes the same.
static __host__ __device__ inline u64 element(int pattern, u32 block, u32 thread, u32 turn, u64 mask) {
    const u64 linear = (u64)block * 256 + thread + (u64)turn * 7919;
    switch (pattern) {
        case STRIDED: return linear * 3 & mask;
        case ROWS: return ((u64)block * 4096 + (thread >> 4) * 1024 + (thread & 15) + turn * 16) & mask;
        case UNIFORM: return ((u64)block * 8 + (thread >> 5) + turn) & mask;
        case RANDOM:
        case FAR: {
            u64 x = linear * 0x9e3779b97f4a7c15ull;
            x ^= x >> 29;
            x *= 0xbf58476d1ce4e5b9ull;
            return (x ^ x >> 32) & mask;
        }
        default: return linear & mask;
    }
}

template <int PATTERN, bool HOOKED>
static __global__ void load(const float* values, u64 mask, u32 turns, float* out, RingControl* rings, unsigned char* data,
                            unsigned long long* counts, unsigned long long flags) {
    float sum = 0;
    const u32 block = blockIdx.x, thread = threadIdx.x;
    for (u32 turn = 0; turn < turns; turn++) {
        const float* at = values + element(PATTERN, block, thread, turn, mask);
        if (PATTERN == DIVERGENT && ((thread ^ turn) & 3) == 0) continue;
        if (HOOKED) {
            const u64 address = (u64)at;
            if (PATTERN == LINEAR) {
                __warpline_gpu_access_hinted(rings, data, counts, flags, SPACE_GLOBAL << 24 | PATTERN, address, 4);
            } else if (PATTERN == UNIFORM) {
                __warpline_gpu_access_hinted(rings, data, counts, flags, SPACE_GLOBAL << 24 | PATTERN, address, 0);
            } else if (PATTERN == COUNT_ONLY) {
                __warpline_gpu_block(rings, data, counts, flags, 0);
            } else {
                __warpline_gpu_access_global(rings, data, counts, flags, PATTERN, address);
            }
        }
        sum += *at;
    }
    out[(u64)blockIdx.x * blockDim.x + threadIdx.x] = sum;
    if (HOOKED) __warpline_gpu_exit(rings, data, counts, flags);
}

struct Reader {
    RingControl* rings;
    unsigned char* data;
    u64* tails;  // one cache line each
    u32 sms, log2;
    u64 base, mask;
    int pattern = 0;
    u32 turns = 0;
    bool verify = false;
    u64 records = 0, lanes = 0, bytes = 0, wrong = 0, exits = 0;
    std::unordered_map<u64, u32> turn_of;
    std::vector<u64> at;

    u64 word(u32 sm, u64 position) const {
        auto* word = (std::atomic<u64>*)(data + ((u64)sm << log2) + (position & ((1ull << log2) - 1)));
        return word->load(std::memory_order_relaxed);
    }

    // Reads what has arrived in a ring; true when there was something.
    bool drain(u32 sm) {
        const u64 start = at[sm], capacity = 1ull << log2;
        u64 position = start;
        while (position - start < capacity / 4) {
            const u64 first = word(sm, position), who = word(sm, position + 8);
            if (first == 0 || who == 0) break;
            const u32 kind = (u32)first >> 28, lane_mask = (u32)(first >> 32), n = __builtin_popcount(lane_mask);
            u64 size = SHORT_BYTES, words = 2;
            if (kind == KIND_UNIFORM || kind == KIND_AFFINE || kind == KIND_EXIT) words = 4;
            if (kind == KIND_DELTA) size = (24 + 4 * n + 31) & ~31ull, words = 3;
            if (kind == KIND_FULL) size = (16 + 8 * n + 31) & ~31ull, words = 2 + n;
            bool whole = true;
            for (u64 i = 2; i < words; i++) whole &= word(sm, position + 8 * i) != 0;
            u32 deltas[32];
            if (kind == KIND_DELTA) {
                for (u32 i = 0; i < n; i++) {
                    deltas[i] = (u32)(word(sm, (position + 24 + 4 * i) & ~7ull) >> ((i & 1) * 32));
                    whole &= deltas[i] != 0;
                }
            }
            if (!whole) break;
            if (kind == KIND_EXIT) {
                exits++;
            } else {
                records++, lanes += n;
                if (verify) check(sm, position, kind, (u32)first, lane_mask, who, deltas);
            }
            position += size;
        }
        if (position == start) return false;
        const u64 from = start & (capacity - 1), length = position - start;
        unsigned char* ring = data + ((u64)sm << log2);
        const u64 part = length < capacity - from ? length : capacity - from;
        memset(ring + from, 0, part);
        memset(ring, 0, length - part);
        bytes += length;
        at[sm] = position;
        ((std::atomic<u64>*)(tails + 8 * sm))->store(position, std::memory_order_release);
        return true;
    }

    void check(u32 sm, u64 position, u32 kind, u32 head_word, u32 lane_mask, u64 who, const u32* deltas) {
        const u64 block = who << 1 >> 12;
        const u32 warp = (u32)(who >> 6) & 31, first = __builtin_ctz(lane_mask);
        u32& turn = turn_of[who];
        // Divergent lanes may come in several records for one turn.
        const u64 base_address = word(sm, position + 16) & ~MARK, fourth = word(sm, position + 24);
        u32 i = 0;
        for (u32 rest = lane_mask; rest != 0; rest &= rest - 1, i++) {
            const u32 lane = __builtin_ctz(rest);
            u64 address;
            if (kind == KIND_DELTA) {
                address = base_address + (u64)((long long)deltas[i] - 0x80000000ll);
            } else if (kind == KIND_FULL) {
                address = word(sm, position + 16 + 8 * i) & ~MARK;
            } else {
                const u32 stride = kind == KIND_UNIFORM ? 0 : (u32)fourth, half = kind == KIND_UNIFORM ? 0 : fourth >> 32;
                const u32 offset = stride * ((lane & 15) - (first & 15)) + (((lane ^ first) & 16) ? half : 0);
                address = base_address + (u64)(long long)(int)offset;
            }
            const u64 expected = base + 4 * element(pattern, (u32)block, warp * 32 + lane, turn, mask);
            if (pattern != DIVERGENT && address != expected) {
                if (wrong++ < 5) {
                    fprintf(stderr, "block %llu warp %u lane %u turn %u kind %u: %llx, not %llx\n", block, warp, lane,
                            turn, kind, address, expected);
                }
            }
        }
        if ((head_word & 0xffffff) != (u32)pattern) wrong++;
        turn++;
    }
};

static int failures = 0;

static double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <int PATTERN>
static void measure(Reader& reader, const float* values, float* out, u64 elements, u32 blocks, u32 turns, u64* counts,
                    bool verify) {
    const u64 mask = (PATTERN == FAR ? elements : 1 << 18) - 1;
    reader.pattern = PATTERN, reader.turns = turns, reader.mask = mask, reader.verify = verify;
    reader.records = reader.lanes = reader.bytes = reader.exits = reader.wrong = 0;
    reader.turn_of.clear();
    u64 flags = 5 | (u64)reader.log2 << FLAG_CAPACITY_SHIFT | (u64)BLOCK_CELLS << FLAG_COUNTS_SHIFT;
    load<PATTERN, false><<<blocks, 256>>>(values, mask, turns, out, reader.rings, reader.data, counts, flags);
    CHECK(cudaDeviceSynchronize());
    double begin = seconds();
    load<PATTERN, false><<<blocks, 256>>>(values, mask, turns, out, reader.rings, reader.data, counts, flags);
    CHECK(cudaDeviceSynchronize());
    const double plain = seconds() - begin;
    std::atomic<bool> over{false};
    std::thread thread([&] {
        for (;;) {
            const bool last = over.load();
            bool some = false;
            for (u32 sm = 0; sm < reader.sms; sm++) some |= reader.drain(sm);
            if (last && !some) break;
        }
    });
    begin = seconds();
    load<PATTERN, true><<<blocks, 256>>>(values, mask, turns, out, reader.rings, reader.data, counts, flags);
    CHECK(cudaDeviceSynchronize());
    const double kernel = seconds() - begin;
    over = true;
    thread.join();
    const double hooked = seconds() - begin;
    const u64 requests = (u64)blocks * 8 * turns;
    cudaFuncAttributes with, without;
    CHECK(cudaFuncGetAttributes(&with, load<PATTERN, true>));
    CHECK(cudaFuncGetAttributes(&without, load<PATTERN, false>));
    printf("%-17s %s records %10llu lanes %11llu exits %llu wrong %llu | plain %8.3f ms kernel %9.3f ms drained %9.3f ms | "
           "%7.2f ns/request %6.2f M/s %6.2f GB/s | registers %d -> %d local %zu\n",
           NAMES[PATTERN], verify ? "checked" : "timed  ", reader.records, reader.lanes, reader.exits, reader.wrong,
           plain * 1e3, kernel * 1e3, hooked * 1e3, hooked * 1e9 / requests, reader.records / hooked / 1e6,
           reader.bytes / hooked / 1e9, without.numRegs, with.numRegs, with.localSizeBytes);
    const u64 lost = PATTERN == COUNT_ONLY ? reader.records : requests - reader.records;
    failures += reader.wrong != 0 || (PATTERN != DIVERGENT && lost != 0);
    if (PATTERN != DIVERGENT && lost != 0) printf("  LOST %lld records\n", (long long)lost);
    u64 lanes = requests * 32;
    if (PATTERN == DIVERGENT) lanes = lanes / 4 * 3;
    failures += PATTERN != COUNT_ONLY && reader.lanes != lanes;
    if (PATTERN != COUNT_ONLY && reader.lanes != lanes) printf("  LANES differ: %llu not %llu\n", reader.lanes, lanes);
    if (PATTERN == COUNT_ONLY) {
        std::vector<u64> host((u64)BLOCK_CELLS * reader.sms);
        CHECK(cudaMemcpy(host.data(), counts, 8 * host.size(), cudaMemcpyDeviceToHost));
        u64 full = 0;
        for (u32 sm = 0; sm < reader.sms; sm++) full += host[BLOCK_CELLS * sm];
        printf("  counted %llu of %llu\n", full, requests);
        failures += full != requests;
    }
    fflush(stdout);
}

// Addresses that the host has to bring to one origin, shown so that a reader of the figures can check it.
__constant__ int constant_value[4];
static __global__ void places(u64* out) {
    __shared__ int shared_value[8];
    volatile int local_value[4];
    local_value[threadIdx.x & 3] = 1;
    u64 shared_at, local_at;
    asm volatile("cvta.to.shared.u64 %0, %1;" : "=l"(shared_at) : "l"(&shared_value[0]));
    asm volatile("cvta.to.local.u64 %0, %1;" : "=l"(local_at) : "l"((int*)&local_value[0]));
    out[0] = (u64)&constant_value[0];
    out[1] = shared_at;
    out[2] = local_at;
    out[3] = (u64)&shared_value[0];
    out[4] = (u64)(int*)&local_value[0];
}

int main(int argc, char** argv) {
    const u32 turns = argc > 1 ? atoi(argv[1]) : 256, per_sm = argc > 2 ? atoi(argv[2]) : 8;
    const int only = argc > 3 ? atoi(argv[3]) : -1;
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    int driver = 0;
    CHECK(cudaDriverGetVersion(&driver));
    printf("%s, %d SMs, CUDA driver %d\n", properties.name, properties.multiProcessorCount, driver);
    Reader reader;
    reader.sms = properties.multiProcessorCount;
    reader.log2 = 20;
    const u64 bytes = (u64)reader.sms << reader.log2;
    CHECK(cudaHostAlloc((void**)&reader.data, bytes, cudaHostAllocMapped));
    memset(reader.data, 0, bytes);
    CHECK(cudaHostAlloc((void**)&reader.tails, 64 * reader.sms, cudaHostAllocMapped));
    memset(reader.tails, 0, 64 * reader.sms);
    reader.at.assign(reader.sms, 0);
    std::vector<RingControl> rings(reader.sms);
    for (u32 sm = 0; sm < reader.sms; sm++) rings[sm] = RingControl{0, 1ull << reader.log2, 0, reader.tails + 8 * sm};
    CHECK(cudaMalloc((void**)&reader.rings, reader.sms * sizeof(RingControl)));
    CHECK(cudaMemcpy(reader.rings, rings.data(), reader.sms * sizeof(RingControl), cudaMemcpyHostToDevice));
    u64* counts;
    CHECK(cudaMalloc((void**)&counts, 8ull * BLOCK_CELLS * reader.sms));
    CHECK(cudaMemset(counts, 0, 8ull * BLOCK_CELLS * reader.sms));
    const u64 elements = 1ull << 31;
    float *values, *out;
    CHECK(cudaMalloc((void**)&values, 4 * elements));
    const u32 blocks = reader.sms * per_sm;
    CHECK(cudaMalloc((void**)&out, 4ull * blocks * 256));
    reader.base = (u64)values;
    u64* found;
    u64 place[5];
    CHECK(cudaMalloc((void**)&found, sizeof place));
    places<<<1, 1>>>(found);
    CHECK(cudaMemcpy(place, found, sizeof place, cudaMemcpyDeviceToHost));
    void* symbol;
    CHECK(cudaGetSymbolAddress(&symbol, constant_value));
    int reserved = 0;
    CHECK(cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, 0));
    printf("constant: generic %llx, symbol %p; shared: first variable at %llu, reserved %d, generic %llx; local: %llx, generic %llx\n",
           place[0], symbol, place[1], reserved, place[3], place[2], place[4]);
    for (int round = 0; round < 2; round++) {
        const bool verify = round == 0;
        const u32 n = verify ? 32 : turns;
        auto wanted = [&](int pattern) { return only < 0 || only == pattern; };
#define MEASURE(pattern) \
    if (wanted(pattern)) measure<pattern>(reader, values, out, elements, blocks, n, counts, verify)
        MEASURE(COALESCED);
        MEASURE(STRIDED);
        MEASURE(ROWS);
        MEASURE(RANDOM);
        MEASURE(FAR);
        MEASURE(DIVERGENT);
        MEASURE(LINEAR);
        MEASURE(UNIFORM);
        CHECK(cudaMemset(counts, 0, 8ull * BLOCK_CELLS * reader.sms));
        MEASURE(COUNT_ONLY);
    }
    puts(failures == 0 ? "hook_bench: ok" : "hook_bench: FAILED");
    return failures != 0;
}
