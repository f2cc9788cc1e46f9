// Counters mode: what a request costs, counted by its own warp instead of sent. Written over a policy `W` as record.h.
//
// Only for accesses whose width is a power of two, at most 32 bytes, and whose address is a multiple of it (the pass
// leaves others out). Then a lane touches one sector and one line, and two lanes touch the same bytes or none in common.
#pragma once

#include "wire.h"

namespace warpline {

// How many values differ among the lanes of the mask: each value has one lowest lane.
template <class W>
WARPLINE_INLINE u32 distinct(u32 mask, typename W::L64 value) {
    return W::count(W::ballot(mask, W::first_of(W::match(mask, value))));
}

// Adds a request to the cells of its site: `lanes` of the mask touch `sectors`, `lines` and `bytes`.
template <class W>
WARPLINE_INLINE void add_request(u64* cell, u32 mask, u32 sectors, u32 lines, u32 bytes) {
    if (W::elected(mask)) {
        W::add_device(cell + SITE_SECTORS + sectors - 1, 1);
        W::add_device(cell + SITE_LINES + lines - 1, 1);
        W::add_device(cell + SITE_IDEAL, (bytes + 31) / 32);
        if (mask != ~0u) W::add_device(cell + SITE_IDLE, 32 - W::count(mask));
    }
    W::reconverge(mask);
}

// A request in global, shared or constant memory; `useful` bytes of a lane are really touched.
template <class W>
WARPLINE_INLINE void count_access(u64* cell, u32 mask, u32 useful, typename W::L64 address) {
    const u32 sectors = distinct<W>(mask, address >> 5);
    const u32 lines = distinct<W>(mask, address >> 7);
    add_request<W>(cell, mask, sectors, lines, useful * distinct<W>(mask, address));
}

// A request to the lanes' stacks, by offset. The same word of neighbouring lanes is contiguous there: word w of lane l
// lies at 128 w + 4 l, so eight lanes share a sector, and no two lanes share bytes. An access of several words touches as
// many sectors and lines of each; the cells count those of one word.
template <class W>
WARPLINE_INLINE void count_local(u64* cell, u32 mask, u32 useful, typename W::L64 offset) {
    const typename W::L64 word = offset >> 2;
    const u32 sectors = distinct<W>(mask, word * 4u + W::widen(W::lane() >> 3));
    add_request<W>(cell, mask, sectors, distinct<W>(mask, word), useful * W::count(mask));
}

}  // namespace warpline
