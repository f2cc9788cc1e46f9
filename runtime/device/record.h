// Encodes a record and writes it into the ring, for one warp. The code is written once over a policy `W`, so that the
// same source runs on the GPU (`warp.h`: a lane value is a register) and in host tests (tests/gpu/warp_host.h: a lane
// value is an array of 32).
//
// Values of type W::L32 and W::L64 differ between lanes; plain u32 and u64 are the same in all lanes.
#pragma once

#include "wire.h"

namespace warpline {

// The ring of the SM on which the warp runs.
struct Ring {
    RingControl* control;
    unsigned char* data;
    u64 capacity;
    bool drop;
};

template <class W>
WARPLINE_INLINE Ring ring_of(const Target& target) {
    const u32 sm = W::sm();
    const u32 log2 = (u32)(target.flags >> FLAG_CAPACITY_SHIFT) & 31;
    return Ring{target.rings + sm, target.data + ((u64)sm << log2), 1ull << log2, (target.flags & FLAG_DROP) != 0};
}

constexpr u64 NO_ROOM = ~0ull;

// Reserves `bytes` in the ring and returns their position; waits while the ring is full. Runs in one lane.
template <class W>
WARPLINE_INLINE u64 reserve(const Ring& ring, u64 bytes) {
    if (ring.drop) {
        // Checks for free space before it reserves. Warps that check at the same time may still reserve too much; they
        // wait below until the host has read enough of the existing records.
        const u64 need = W::load_device(&ring.control->head) + bytes;
        if (need > W::load_device(&ring.control->limit)) {
            const u64 limit = W::load_host(ring.control->tail) + ring.capacity;
            W::store_device(&ring.control->limit, limit);
            if (need > limit) {
                W::add_device(&ring.control->dropped, 1);
                return NO_ROOM;
            }
        }
    }
    const u64 position = W::fetch_add_device(&ring.control->head, bytes);
    const u64 need = position + bytes;
    // The stores that follow depend on this test, and no GPU performs stores ahead of a branch on which they depend. An
    // acquire here would invalidate the L1 at each record.
    u64 limit = W::load_device(&ring.control->limit);
    while (need > limit) {
        const u64 fresh = W::load_host(ring.control->tail) + ring.capacity;
        if (fresh > limit) {
            // Two lanes may store in either order. If an older value remains, the only effect is that a lane checks
            // once more.
            W::store_device(&ring.control->limit, fresh);
        } else {
            W::pause();
        }
        limit = fresh;
    }
    return position;
}

template <class W>
WARPLINE_INLINE void send_short(const Ring& ring, u32 first_word, u32 mask, u64 who, u64 third, u64 fourth) {
    if (W::elected(mask)) {
        const u64 position = reserve<W>(ring, SHORT_BYTES);
        if (position != NO_ROOM) {
            // Records start at multiples of 32 bytes, so a short record never extends past the ring's end.
            unsigned char* at = ring.data + (position & (ring.capacity - 1));
            W::store_pair(at, (u64)first_word | (u64)mask << 32, who);
            W::store_pair(at + 16, third, fourth);
        }
    }
    W::reconverge(mask);
}

template <class W>
WARPLINE_INLINE void send_regular(const Ring& ring, u64 who, u32 space_site, u32 mask, u64 base, u32 stride, u32 half) {
    const u64 fourth = (u64)stride | (u64)half << 32;
    const u32 kind = fourth == 0 ? KIND_UNIFORM : KIND_AFFINE;
    send_short<W>(ring, kind << 28 | space_site, mask, who, MARK | base, fourth == 0 ? 1 : fourth);
}

// Sends a request whose lanes are expected to be `stride` bytes apart. One operation tests this. If it is true, the
// record needs only the lowest lane's address. If it is not, the stride may still hold within each half warp, as for
// the rows of a tile that is 16 wide.
template <class W>
WARPLINE_INLINE void send_hinted(const Target& target, u64 who, u32 space_site, u32 mask, typename W::L64 address,
                                 u32 stride) {
    const typename W::L32 lane = W::lane();
    const u32 first = W::lowest(mask);
    const Ring ring = ring_of<W>(target);
    u64 base = W::own(address, first);
    u32 half = 16 * stride;
    bool regular = W::agree(mask, address - W::widen(lane * stride));
    if (!regular) {
        base = W::shuffle64(mask, address, first);
        const typename W::L64 offset = address - base;
        const typename W::L32 low = W::low(offset);
        const typename W::L32 rest = low - stride * ((lane & 15u) - (first & 15u));
        half = W::shuffle(mask, rest, W::highest(mask));
        const typename W::L32 expected = W::select(((lane ^ first) & 16u) != 0u, half);
        regular = W::all(mask, (offset == W::widen(low)) & (rest == expected));
    }
    if (regular) {
        send_regular<W>(ring, who, space_site, mask, base, stride, half);
        return;
    }
    const u32 used = 16 + 8 * W::count(mask);
    u64 position = 0;
    if (W::elected(mask)) {
        position = reserve<W>(ring, (used + (RECORD_UNIT - 1)) & ~(RECORD_UNIT - 1));
        if (position != NO_ROOM) {
            unsigned char* at = ring.data + (position & (ring.capacity - 1));
            W::store_pair(at, (u64)(KIND_FULL << 28 | space_site) | (u64)mask << 32, who);
        }
    }
    position = W::broadcast64(mask, position, first);
    if (position != NO_ROOM) W::scatter64(mask, ring.data, position + 16, ring.capacity - 1, address | MARK);
    W::reconverge(mask);
}

// Sends a request with any addresses.
template <class W>
WARPLINE_INLINE void send_access(const Target& target, u64 who, u32 space_site, u32 mask, typename W::L64 address) {
    const u32 first = W::lowest(mask);
    const u64 base = W::shuffle64(mask, address, first);
    const typename W::L64 offset = address - base;
    const typename W::L32 low = W::low(offset);
    const u32 neighbour = first + (mask >> first >> 1 & 1);
    const u32 stride = W::shuffle(mask, low, neighbour);
    const typename W::L32 lane = W::lane();
    const typename W::L32 rest = low - stride * ((lane & 15u) - (first & 15u));
    const u32 half = W::shuffle(mask, rest, W::highest(mask));
    const typename W::Flag narrow = offset == W::widen(low);
    const typename W::L32 expected = W::select(((lane ^ first) & 16u) != 0u, half);
    const Ring ring = ring_of<W>(target);
    if (W::all(mask, narrow & (rest == expected))) {
        send_regular<W>(ring, who, space_site, mask, base, stride, half);
        return;
    }
    const u32 lanes = W::count(mask);
    const bool deltas = W::all(mask, narrow & (low != 0x80000000u));
    const u32 used = deltas ? 24 + 4 * lanes : 16 + 8 * lanes;
    const u32 bytes = (used + (RECORD_UNIT - 1)) & ~(RECORD_UNIT - 1);
    u64 position = 0;
    if (W::elected(mask)) {
        position = reserve<W>(ring, bytes);
        if (position != NO_ROOM) {
            unsigned char* at = ring.data + (position & (ring.capacity - 1));
            const u32 kind = deltas ? KIND_DELTA : KIND_FULL;
            W::store_pair(at, (u64)(kind << 28 | space_site) | (u64)mask << 32, who);
            if (deltas) W::store_word(at + 16, MARK | base);
        }
    }
    position = W::broadcast64(mask, position, first);
    if (position != NO_ROOM) {
        if (deltas) {
            W::scatter32(mask, ring.data, position + 24, ring.capacity - 1, low + 0x80000000u);
        } else {
            W::scatter64(mask, ring.data, position + 16, ring.capacity - 1, address | MARK);
        }
    }
    W::reconverge(mask);
}

// Writes word `index` of the `words` words of an operation's values, for all lanes, if there are so many. Lanes whose
// word is 0 write 1; the word before the values names them. All lanes write that word, which is the same for all.
template <class W>
WARPLINE_INLINE void send_word(const Ring& ring, u64 values, u32 mask, u32 words, u32 index, typename W::L32 word) {
    if (index >= words) return;
    const typename W::Flag zero = word == 0u;
    W::store_word(ring.data + ((values + 8 * index) & (ring.capacity - 1)), MARK | W::ballot(mask, zero));
    const u64 lanes = values + 8 * words + 4 * W::count(mask) * index;
    W::scatter32(mask, ring.data, lanes, ring.capacity - 1, word + W::select(zero, 1));
}

// Sends the values of an operation: `words` words of 32 bits per lane.
template <class W>
WARPLINE_INLINE void send_operation(const Target& target, u64 who, u32 words, u32 operation, u64 shape, u32 mask,
                                    typename W::L32 a, typename W::L32 b, typename W::L32 c, typename W::L32 d,
                                    typename W::L32 e, typename W::L32 f, typename W::L32 g, typename W::L32 h) {
    const Ring ring = ring_of<W>(target);
    const u32 used = 24 + 8 * words + 4 * words * W::count(mask);
    u64 position = 0;
    if (W::elected(mask)) {
        position = reserve<W>(ring, (used + (RECORD_UNIT - 1)) & ~(RECORD_UNIT - 1));
        if (position != NO_ROOM) {
            unsigned char* at = ring.data + (position & (ring.capacity - 1));
            W::store_pair(at, (u64)head(KIND_OPERATION, words, operation) | (u64)mask << 32, who);
            W::store_word(at + 16, MARK | shape);
        }
    }
    position = W::broadcast64(mask, position, W::lowest(mask));
    if (position != NO_ROOM) {
        const u64 values = position + 24;
        send_word<W>(ring, values, mask, words, 0, a);
        send_word<W>(ring, values, mask, words, 1, b);
        send_word<W>(ring, values, mask, words, 2, c);
        send_word<W>(ring, values, mask, words, 3, d);
        send_word<W>(ring, values, mask, words, 4, e);
        send_word<W>(ring, values, mask, words, 5, f);
        send_word<W>(ring, values, mask, words, 6, g);
        send_word<W>(ring, values, mask, words, 7, h);
    }
    W::reconverge(mask);
}

}  // namespace warpline
