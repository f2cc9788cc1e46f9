// The device's side of the protocol as a library of host functions, for runtime/tests/gpu_protocol.rs.
#include "warp_host.h"
#include "../../runtime/device/count.h"
#include "../../runtime/device/record.h"

#include <cstddef>

using namespace warpline;

extern "C" {

// What `wire.rs` must agree with, in the order in which the test lists it.
void wl_layout(u64* out) {
    const u64 values[] = {
        MARK,         RECORD_UNIT,     SHORT_BYTES,      KIND_UNIFORM, KIND_AFFINE,         KIND_DELTA, KIND_FULL,
        KIND_BARRIER, KIND_CALL,       KIND_RETURN,      KIND_EXIT,    KIND_OPERATION,
        FLAG_SLOT_MASK, FLAG_DROP,
        FLAG_CAPACITY_SHIFT, FLAG_COUNTS_SHIFT, sizeof(RingControl), alignof(RingControl), offsetof(RingControl, head),
        offsetof(RingControl, limit), offsetof(RingControl, dropped), offsetof(RingControl, tail), sizeof(Ticket),
        offsetof(Ticket, done), offsetof(Ticket, sms), BLOCK_CELLS, BRANCH_CELLS, NO_ROOM,
        SITE_IDLE, SITE_IDEAL, SITE_SECTORS, SITE_LINES, SITE_CELLS,
    };
    memcpy(out, values, sizeof values);
}

void wl_access(const Target* target, u32 sm, u64 who, u32 space_site, u32 mask, const u64* addresses) {
    HostWarp::current_sm = sm;
    Lanes<u64> lanes;
    memcpy(lanes.v, addresses, sizeof lanes.v);
    send_access<HostWarp>(*target, who, space_site, mask, lanes);
}

void wl_hinted(const Target* target, u32 sm, u64 who, u32 space_site, u32 mask, const u64* addresses, u32 stride) {
    HostWarp::current_sm = sm;
    Lanes<u64> lanes;
    memcpy(lanes.v, addresses, sizeof lanes.v);
    send_hinted<HostWarp>(*target, who, space_site, mask, lanes, stride);
}

// `words` rows of 32 words, and as many more as the function has parameters.
void wl_operation(const Target* target, u32 sm, u64 who, u32 operation, u64 shape, u32 mask, u32 words, const u32* rows) {
    HostWarp::current_sm = sm;
    Lanes<u32> lanes[8];
    for (u32 row = 0; row < 8; row++) memcpy(lanes[row].v, rows + 32 * row, sizeof lanes[row].v);
    send_operation<HostWarp>(*target, who, words, operation, shape, mask, lanes[0], lanes[1], lanes[2], lanes[3],
                             lanes[4], lanes[5], lanes[6], lanes[7]);
}

void wl_count(u64* cell, u32 space, u32 mask, u32 useful, const u64* addresses) {
    Lanes<u64> lanes;
    memcpy(lanes.v, addresses, sizeof lanes.v);
    if (space == SPACE_LOCAL) {
        count_local<HostWarp>(cell, mask, useful, lanes);
    } else {
        count_access<HostWarp>(cell, mask, useful, lanes);
    }
}

// The lanes that this thread's last hook left together.
u32 wl_together() { return HostWarp::together; }

void wl_mark(const Target* target, u32 sm, u64 who, u32 kind, u32 site, u32 mask) {
    HostWarp::current_sm = sm;
    send_short<HostWarp>(ring_of<HostWarp>(*target), head(kind, 0, site), mask, who, MARK, MARK);
}
}
