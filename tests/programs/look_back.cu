// flags: -O2
// Waiting in the middle of kernels that do much else: each lane looks back at what earlier blocks wrote for its own bin
// (decoupled look-back), and threads take a lock in every round of a loop.
#include "test.h"

constexpr int BINS = 64;
constexpr int ITEMS = 4;
constexpr int BLOCKS = 40;
constexpr unsigned PARTIAL = 1u << 30, TOTAL = 1u << 31, VALUE = PARTIAL - 1;

// Where each key goes when keys are sorted by their lowest bits, block after block.
__global__ void rank_keys(const unsigned *keys, const unsigned *starts, volatile unsigned *states, unsigned *places,
                          unsigned *ticket)
{
    __shared__ unsigned bins[BINS], offsets[BINS], tile;
    int t = threadIdx.x;
    if (t == 0) {
        tile = atomicAdd(ticket, 1);
    }
    bins[t] = 0;
    __syncthreads();
    unsigned own[ITEMS], before[ITEMS];
    for (int item = 0; item < ITEMS; ++item) {
        own[item] = keys[(tile * ITEMS + item) * BINS + t];
    }
    // One thread after the other, so that keys of a bin keep their order.
    for (int item = 0; item < ITEMS; ++item) {
        for (int turn = 0; turn < BINS; ++turn) {
            if (turn == t) {
                before[item] = bins[own[item] % BINS]++;
            }
            __syncthreads();
        }
    }
    unsigned sum = bins[t];
    states[tile * BINS + t] = sum | PARTIAL;
    for (int other = static_cast<int>(tile) - 1; other >= 0; --other) {
        unsigned state = 0;
        do {
            __threadfence_block();
            state = states[other * BINS + t];
        } while (state == 0);
        sum += state & VALUE;
        if (state & TOTAL) {
            break;
        }
    }
    states[tile * BINS + t] = sum | TOTAL;
    offsets[t] = starts[t] + sum - bins[t];
    __syncthreads();
    for (int item = 0; item < ITEMS; ++item) {
        places[(tile * ITEMS + item) * BINS + t] = offsets[own[item] % BINS] + before[item];
    }
}

__device__ int lock_word = 0;

// Only odd threads take the lock, and as often as their number.
__global__ void locked_rounds(const unsigned *in, volatile unsigned *sum, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, kept = in[i];
    for (unsigned round = 0; round <= i % 3; ++round) {
        kept = kept * 3 + round;
        if (i % 2 == 1) {
            bool done = false;
            while (!done) {
                if (atomicCAS(&lock_word, 0, 1) == 0) {
                    *sum = *sum + kept % 7;
                    __threadfence();
                    atomicExch(&lock_word, 0);
                    done = true;
                }
            }
        }
        kept ^= in[(i + round) % 96];
    }
    out[i] = kept;
}

int main()
{
    std::vector<unsigned> keys(BLOCKS * ITEMS * BINS), starts(BINS), next(BINS), want(keys.size());
    unsigned state = 1;
    for (unsigned &key : keys) {
        state = state * 1664525 + 1013904223;
        key = state >> 12;
        ++next[key % BINS];
    }
    for (int bin = 1; bin < BINS; ++bin) {
        starts[bin] = starts[bin - 1] + next[bin - 1];
    }
    next = starts;
    for (size_t i = 0; i < keys.size(); ++i) {
        want[i] = next[keys[i] % BINS]++;
    }
    Device<unsigned> device_keys(keys), device_starts(starts), states(BLOCKS * BINS), places(keys.size()), ticket(1);
    rank_keys<<<BLOCKS, BINS>>>(device_keys, device_starts, states, places, ticket);
    expect_equal("places", places.read(), want);

    std::vector<unsigned> in(keys.begin(), keys.begin() + 96), kept(96);
    unsigned sum = 0;
    for (unsigned i = 0; i < 96; ++i) {
        kept[i] = in[i];
        for (unsigned round = 0; round <= i % 3; ++round) {
            kept[i] = kept[i] * 3 + round;
            sum += i % 2 == 1 ? kept[i] % 7 : 0;
            kept[i] ^= in[(i + round) % 96];
        }
    }
    Device<unsigned> device_in(in), device_sum(1), out(96);
    locked_rounds<<<2, 48>>>(device_in, device_sum, out);
    expect_equal("kept", out.read(), kept);
    expect_equal("sum", device_sum.read()[0], sum);
    return done("look_back");
}
