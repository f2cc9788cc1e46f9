// Counters mode: a warp counts the cost of its own request instead of sending a record. Like record.h, this file is
// written over a policy `W`.
//
// It handles only accesses whose width is a power of two of at most 32 bytes, and whose address is a multiple of the
// width; the pass leaves out all others. So each lane touches one sector and one line, and two lanes touch either the
// same bytes or no common bytes.
#pragma once

#include "wire.h"

namespace warpline {

// Returns how many different values the lanes of the mask have. Each value has exactly one lowest lane, so the function
// counts those lanes.
template <class W>
WARPLINE_INLINE u32 distinct(u32 mask, typename W::L64 value) {
    return W::count(W::ballot(mask, W::first_of(W::match(mask, value))));
}

// Adds a request to the cells of its site: the `lanes` of the mask touch `sectors`, `lines` and `bytes`.
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

// Counts a request in global, shared or constant memory. Each lane touches `useful` bytes.
template <class W>
WARPLINE_INLINE void count_access(u64* cell, u32 mask, u32 useful, typename W::L64 address) {
    const u32 sectors = distinct<W>(mask, address >> 5);
    const u32 lines = distinct<W>(mask, address >> 7);
    add_request<W>(cell, mask, sectors, lines, useful * distinct<W>(mask, address));
}

// Counts a request to the lanes' stacks, by offset. The same word of neighbouring lanes is contiguous there: word w of
// lane l is at 128 w + 4 l, so eight lanes share a sector, and no two lanes share bytes. An access of several words
// touches the same number of sectors and lines for each word; the cells count those of one word.
template <class W>
WARPLINE_INLINE void count_local(u64* cell, u32 mask, u32 useful, typename W::L64 offset) {
    const typename W::L64 word = offset >> 2;
    const u32 sectors = distinct<W>(mask, word * 4u + W::widen(W::lane() >> 3));
    add_request<W>(cell, mask, sectors, distinct<W>(mask, word), useful * W::count(mask));
}

}  // namespace warpline
