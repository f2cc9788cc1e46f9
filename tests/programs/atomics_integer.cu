// Integer atomics on global and on shared memory, 32 and 64 bits, and the values they return.
#include "test.h"

// There is no signed 64-bit addition; programs use the unsigned one.
__device__ void add_to(long long *address, long long value)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(address), static_cast<unsigned long long>(value));
}

template <typename T>
__device__ void add_to(T *address, T value)
{
    atomicAdd(address, value);
}

template <typename T>
struct Cells {
    T add, sub, least, most, all, any, odd, last;
};

template <typename T>
__device__ void update(Cells<T> *cells, T value)
{
    add_to(&cells->add, value);
    atomicMin(&cells->least, value);
    atomicMax(&cells->most, value);
    atomicAnd(&cells->all, static_cast<T>(value | 0x0f));
    atomicOr(&cells->any, static_cast<T>(value & 0x1ff0));
    atomicXor(&cells->odd, value);
}

template <typename T>
__global__ void on_global(Cells<T> *cells, const T *values)
{
    update(cells, values[blockIdx.x * blockDim.x + threadIdx.x]);
}

template <typename T>
__global__ void on_shared(Cells<T> *cells, const T *values)
{
    __shared__ Cells<T> mine;
    if (threadIdx.x == 0) {
        mine = *cells;
    }
    __syncthreads();
    for (unsigned block = 0; block < 2; ++block) {
        update(&mine, values[block * blockDim.x + threadIdx.x]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        *cells = mine;
    }
}

template <typename T>
static void test()
{
    const int threads = 100;
    std::vector<T> values(2 * threads);
    Cells<T> start{}, want{};
    start.least = want.least = static_cast<T>(1) << (8 * sizeof(T) - 3);
    start.all = want.all = static_cast<T>(~static_cast<T>(0));
    for (int i = 0; i < 2 * threads; ++i) {
        T value = static_cast<T>(static_cast<T>(i * 2654435761u) << (sizeof(T) == 8 ? 13 : 0)) - static_cast<T>(i);
        values[i] = value;
        want.add = static_cast<T>(static_cast<unsigned long long>(want.add) + static_cast<unsigned long long>(value));
        want.least = std::min(want.least, value);
        want.most = std::max(want.most, value);
        want.all &= value | 0x0f;
        want.any |= value & 0x1ff0;
        want.odd ^= value;
    }
    Device<T> d_values(values);
    for (bool shared : {false, true}) {
        Device<Cells<T>> cells(std::vector<Cells<T>>{start});
        if (shared) {
            on_shared<T><<<1, threads>>>(cells, d_values);
        } else {
            on_global<T><<<2, threads>>>(cells, d_values);
        }
        Cells<T> got = cells.read()[0];
        expect_equal("add", got.add, want.add);
        expect_equal("min", got.least, want.least);
        expect_equal("max", got.most, want.most);
        expect_equal("and", got.all, want.all);
        expect_equal("or", got.any, want.any);
        expect_equal("xor", got.odd, want.odd);
    }
}

// Every thread draws a number; each number must be drawn once.
__global__ void tickets(unsigned *counter, unsigned *drawn, unsigned long long *wide, unsigned *wide_drawn)
{
    __shared__ unsigned local;
    if (threadIdx.x == 0) {
        local = 0;
    }
    __syncthreads();
    unsigned ticket = atomicAdd(counter, 1u);
    atomicAdd(&drawn[ticket], 1u);
    unsigned long long other = atomicAdd(wide, 1ull << 33) >> 33;
    atomicAdd(&wide_drawn[other], 1u);
    unsigned mine = atomicAdd(&local, 2u) / 2;
    atomicAdd(&drawn[mine], 256u);
}

__global__ void wrapping(unsigned *cells, unsigned *before)
{
    before[threadIdx.x] = atomicInc(&cells[0], 9u);
    atomicDec(&cells[1], 6u);
    atomicSub(&cells[2], 3u);
    before[64 + threadIdx.x] = atomicExch(&cells[3], threadIdx.x + 1);
}

// Exchange and compare-and-swap: a stack of all threads as a linked list, and a maximum by hand.
__global__ void linked(int *head, int *next, unsigned long long *most, int *wins)
{
    int me = blockIdx.x * blockDim.x + threadIdx.x;
    int seen = *head;
    int expected;
    do {
        expected = seen;
        next[me] = expected;
        seen = atomicCAS(head, expected, me);
    } while (seen != expected);

    unsigned long long value = (me * 7919ull) % 1009 << 20;
    unsigned long long old = *most;
    while (old < value) {
        unsigned long long assumed = old;
        old = atomicCAS(most, assumed, value);
        if (old == assumed) {
            break;
        }
    }
    if (atomicCAS(&wins[me % 5], 0, me + 1) == 0) {
        atomicAdd(&wins[5], 1);
    }
}

__global__ void scopes(int *cells)
{
    atomicAdd_block(&cells[0], 1);
    atomicAdd_system(&cells[1], 2);
    atomicMax_system(&cells[2], static_cast<int>(threadIdx.x));
    atomicOr_block(&cells[3], 1 << threadIdx.x % 8);
}

int main()
{
    test<int>();
    test<unsigned>();
    test<long long>();
    test<unsigned long long>();

    Device<unsigned> counter(1), drawn(192), wide_drawn(192);
    Device<unsigned long long> wide(1);
    tickets<<<2, 96>>>(counter, drawn, wide, wide_drawn);
    std::vector<unsigned> want(192, 1), want_wide(192, 1);
    for (int i = 0; i < 96; ++i) {
        want[i] += 2 * 256;
    }
    expect_equal("tickets", drawn.read(), want);
    expect_equal("64-bit tickets", wide_drawn.read(), want_wide);

    Device<unsigned> cells(std::vector<unsigned>{0, 4, 1000, 0}), before(128);
    wrapping<<<1, 64>>>(cells, before);
    expect_equal("inc, dec, sub", std::vector<unsigned>(cells.read()),
                 std::vector<unsigned>{64 % 10, [] {
                                           unsigned value = 4;
                                           for (int i = 0; i < 64; ++i) {
                                               value = value == 0 || value > 6 ? 6 : value - 1;
                                           }
                                           return value;
                                       }(),
                                       1000 - 64 * 3, cells.read()[3]});
    std::vector<unsigned> got = before.read();
    std::vector<int> seen(10, 0);
    std::vector<bool> exchanged(65, false);
    for (int i = 0; i < 64; ++i) {
        EXPECT(got[i] < 10);
        ++seen[got[i] % 10];
        exchanged[got[64 + i] % 65] = true;
    }
    exchanged[cells.read()[3]] = true;
    for (int i = 0; i < 10; ++i) {
        EXPECT(seen[i] == (i < 4 ? 7 : 6));
    }
    for (bool value : exchanged) {
        EXPECT(value);
    }

    Device<int> head(std::vector<int>{-1}), next(200), wins(6);
    Device<unsigned long long> most(1);
    linked<<<4, 50>>>(head, next, most, wins);
    std::vector<int> links = next.read();
    std::vector<bool> met(200, false);
    int at = head.read()[0], length = 0;
    while (at >= 0 && at < 200 && !met[at]) {
        met[at] = true;
        at = links[at];
        ++length;
    }
    expect_equal("list", length, 200);
    expect_equal("end of list", at, -1);
    unsigned long long want_most = 0;
    for (int i = 0; i < 200; ++i) {
        want_most = std::max(want_most, (i * 7919ull) % 1009 << 20);
    }
    expect_equal("maximum", most.read()[0], want_most);
    expect_equal("winners", wins.read()[5], 5);

    Device<int> scoped(4);
    scopes<<<2, 40>>>(scoped);
    expect_equal("scopes", scoped.read(), std::vector<int>{80, 160, 39, 255});
    return done("atomics_integer");
}
