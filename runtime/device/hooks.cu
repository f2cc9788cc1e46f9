// The hooks that instrumented kernels call. docs/design/borders.md section 2 describes each kind of hook. The launch's
// `Target` is passed as four more arguments. The pass links this file's bitcode into the module and inlines every call.
#include "warp.h"
#include "count.h"
#include "record.h"

#define HOOK extern "C" __attribute__((device, always_inline))
#define TARGET warpline::RingControl *rings, unsigned char *data, unsigned long long *counts, unsigned long long flags

namespace warpline {

using W = GpuWarp;

// The code uses builtins instead of inline assembly, so that the compiler may keep the values in registers across
// hooks.
WARPLINE_INLINE u32 thread_x() { return (u32)__nvvm_read_ptx_sreg_tid_x(); }
WARPLINE_INLINE u32 thread_y() { return (u32)__nvvm_read_ptx_sreg_tid_y(); }
WARPLINE_INLINE u32 thread_z() { return (u32)__nvvm_read_ptx_sreg_tid_z(); }
WARPLINE_INLINE u32 threads_x() { return (u32)__nvvm_read_ptx_sreg_ntid_x(); }
WARPLINE_INLINE u32 threads_y() { return (u32)__nvvm_read_ptx_sreg_ntid_y(); }
WARPLINE_INLINE u32 threads_z() { return (u32)__nvvm_read_ptx_sreg_ntid_z(); }
WARPLINE_INLINE u32 block_x() { return (u32)__nvvm_read_ptx_sreg_ctaid_x(); }
WARPLINE_INLINE u32 block_y() { return (u32)__nvvm_read_ptx_sreg_ctaid_y(); }
WARPLINE_INLINE u32 block_z() { return (u32)__nvvm_read_ptx_sreg_ctaid_z(); }
WARPLINE_INLINE u32 blocks_x() { return (u32)__nvvm_read_ptx_sreg_nctaid_x(); }
WARPLINE_INLINE u32 blocks_y() { return (u32)__nvvm_read_ptx_sreg_nctaid_y(); }

WARPLINE_INLINE u32 warp_in_block() {
    return ((thread_z() * threads_y() + thread_y()) * threads_x() + thread_x()) >> 5;
}

// Nothing here is volatile, so the compiler computes the value once per kernel.
WARPLINE_INLINE u64 who(u64 flags) {
    const u64 block = ((u64)block_z() * blocks_y() + block_y()) * blocks_x() + block_x();
    return MARK | block << 11 | warp_in_block() << 6 | (flags & FLAG_SLOT_MASK);
}

// Returns the lanes with which the warp was started.
WARPLINE_INLINE u32 live_lanes() {
    const u32 left = threads_x() * threads_y() * threads_z() - 32 * warp_in_block();
    return left >= 32 ? ~0u : (1u << left) - 1;
}

// Returns the space of a generic address. In shared or local space, also writes the address's offset in the space.
WARPLINE_INLINE u32 space_of(u64 address, u32* offset) {
    u32 space;
    asm("{ .reg .pred s, l; .reg .u64 a, b;\n\t"
        "isspacep.shared s, %2; isspacep.local l, %2;\n\t"
        "selp.u32 %0, 2, 1, s; selp.u32 %0, 3, %0, l;\n\t"
        "cvta.to.shared.u64 a, %2; cvta.to.local.u64 b, %2;\n\t"
        "selp.u64 a, b, a, l; cvt.u32.u64 %1, a; }"
        : "=&r"(space), "=r"(*offset)
        : "l"(address));
    return space;
}

WARPLINE_INLINE u64* cells(const Target& target, u32 first) {
    return target.counts + (u64)W::sm() * (u32)(target.flags >> FLAG_COUNTS_SHIFT) + first;
}

WARPLINE_INLINE void send(const Target& target, u32 space_site, u64 address) {
    send_access<W>(target, who(target.flags), space_site, W::active(), address);
}

WARPLINE_INLINE void mark(const Target& target, u32 kind, u32 site) {
    send_short<W>(ring_of<W>(target), head(kind, 0, site), W::active(), who(target.flags), MARK, MARK);
}

// Sends the values of an operation. It is a function, because a kernel has many operations, and inlined code for each of
// them would be most of the kernel.
__attribute__((device, noinline)) void operation(TARGET, u32 number, u64 shape, u32 words, u32 a, u32 b, u32 c, u32 d,
                                                 u32 e, u32 f, u32 g, u32 h) {
    const u32 everyone = W::active();
    if (number >> 31 == 0) {
        const Target target{rings, data, counts, flags};
        send_operation<W>(target, who(flags), words, number, shape, W::active(), a, b, c, d, e, f, g, h);
    }
    W::reconverge(everyone);
}

}  // namespace warpline

using namespace warpline;
#define GATHER const Target target{rings, data, counts, flags}

HOOK void __warpline_gpu_access_global(TARGET, u32 site, u64 address) {
    GATHER;
    send(target, SPACE_GLOBAL << 24 | site, address);
}
HOOK void __warpline_gpu_access_shared(TARGET, u32 site, u32 address) {
    GATHER;
    send(target, SPACE_SHARED << 24 | site, address);
}
HOOK void __warpline_gpu_access_local(TARGET, u32 site, u32 address) {
    GATHER;
    send(target, SPACE_LOCAL << 24 | site, address);
}
// `address` is the generic address of a constant variable; the host identifies the variable by it.
HOOK void __warpline_gpu_access_constant(TARGET, u32 site, u64 address) {
    GATHER;
    send(target, SPACE_CONSTANT << 24 | site, address);
}
// Lanes of one instruction may access several spaces. The hook sends one record for each space that occurs.
HOOK void __warpline_gpu_access_generic(TARGET, u32 site, u64 address) {
    GATHER;
    u32 offset;
    const u32 space = space_of(address, &offset);
    const u64 place = space == SPACE_GLOBAL ? address : (u64)offset;
    const u32 everyone = W::active();
    u32 rest = everyone;
    // All lanes execute every iteration; a lane sends its record in the iteration for its own space.
    while (rest != 0) {
        const u32 now = W::shuffle(rest, space, W::lowest(rest));
        const u32 mask = W::ballot(rest, space == now);
        if (space == now) {
            send_access<W>(target, who(flags), now << 24 | site, mask, place);
            break;
        }
        rest &= ~mask;
    }
    W::reconverge(everyone);
}

// The pass expects a distance of `stride` bytes from lane to lane.
HOOK void __warpline_gpu_access_hinted(TARGET, u32 space_site, u64 address, u32 stride) {
    GATHER;
    send_hinted<W>(target, who(flags), space_site, W::active(), address, stride);
}

// Sends the values of an operation: `words` words of 32 bits, of which the later ones are not used. The highest bit of
// the number is set in lanes that do not execute the operation.
HOOK void __warpline_gpu_operation(TARGET, u32 operation, u64 shape, u32 words, u32 a, u32 b, u32 c, u32 d, u32 e, u32 f, u32 g, u32 h) {
    warpline::operation(rings, data, counts, flags, operation, shape, words, a, b, c, d, e, f, g, h);
}

HOOK void __warpline_gpu_call(TARGET, u32 call_site) {
    GATHER;
    mark(target, KIND_CALL, call_site);
}
HOOK void __warpline_gpu_return(TARGET) {
    GATHER;
    mark(target, KIND_RETURN, 0);
}
HOOK void __warpline_gpu_barrier(TARGET) {
    GATHER;
    mark(target, KIND_BARRIER, 0);
}
// Called before a kernel's `ret`. After this record, the host can give the warp slot to the next block.
HOOK void __warpline_gpu_exit(TARGET) {
    GATHER;
    mark(target, KIND_EXIT, 0);
}

// `first` is the first of the block's BLOCK_CELLS cells. Full warps, which are the common case, need only one addition.
HOOK void __warpline_gpu_block(TARGET, u32 first) {
    GATHER;
    const u32 mask = W::active();
    if (W::elected(mask)) {
        u64* cell = cells(target, first);
        if (mask == ~0u) {
            W::add_device(cell, 1);
        } else {
            W::add_device(cell + 1, 1);
            W::add_device(cell + 2, W::count(mask));
            if (mask == live_lanes()) W::add_device(cell + 3, 1);
        }
    }
    W::reconverge(mask);
}

// `first` is the first of BRANCH_CELLS cells; two cells for each side follow them.
HOOK void __warpline_gpu_branch(TARGET, u32 first, bool condition) {
    GATHER;
    const u32 mask = W::active();
    const u32 taken = W::ballot(mask, condition);
    if (W::elected(mask)) {
        u64* cell = cells(target, first);
        const bool mixed = taken != 0 && taken != mask;
        if (mask == ~0u && !mixed) {
            W::add_device(cell + BRANCH_CELLS + (taken != 0 ? 0 : 2), 1);
        } else {
            W::add_device(cell, 1);
            if (mixed) W::add_device(cell + 1, 1);
            if (taken != 0) W::add_device(cell + BRANCH_CELLS + 1, W::count(taken));
            if (taken != mask) W::add_device(cell + BRANCH_CELLS + 3, W::count(mask & ~taken));
        }
    }
    W::reconverge(mask);
}

HOOK void __warpline_gpu_switch(TARGET, u32 first, u32 side) {
    GATHER;
    const u32 mask = W::active();
    u64* cell = cells(target, first);
    const bool one = W::all(mask, side == W::shuffle(mask, side, W::lowest(mask)));
    if (one && mask == ~0u) {
        if (W::elected(mask)) W::add_device(cell + BRANCH_CELLS + 2 * side, 1);
    } else {
        // Each lane does one addition; the hardware combines additions to one address.
        W::add_device(cell + BRANCH_CELLS + 2 * side + 1, 1);
        if (W::elected(mask)) {
            W::add_device(cell, 1);
            if (!one) W::add_device(cell + 1, 1);
        }
    }
    W::reconverge(mask);
}

// Counters mode. `first` is the site's first cell in the space, and `useful` is the number of bytes that a lane
// touches.
HOOK void __warpline_gpu_count_global(TARGET, u32 first, u32 useful, u64 address) {
    GATHER;
    count_access<W>(cells(target, first), W::active(), useful, address);
}
HOOK void __warpline_gpu_count_shared(TARGET, u32 first, u32 useful, u32 address) {
    GATHER;
    count_access<W>(cells(target, first), W::active(), useful, address);
}
HOOK void __warpline_gpu_count_constant(TARGET, u32 first, u32 useful, u64 address) {
    GATHER;
    count_access<W>(cells(target, first), W::active(), useful, address);
}
HOOK void __warpline_gpu_count_local(TARGET, u32 first, u32 useful, u32 address) {
    GATHER;
    count_local<W>(cells(target, first), W::active(), useful, address);
}
// The cells for global, shared and local memory follow one another.
HOOK void __warpline_gpu_count_generic(TARGET, u32 first, u32 useful, u64 address) {
    GATHER;
    u32 offset;
    const u32 space = space_of(address, &offset);
    const u64 place = space == SPACE_GLOBAL ? address : (u64)offset;
    const u32 everyone = W::active();
    u32 rest = everyone;
    while (rest != 0) {
        const u32 now = W::shuffle(rest, space, W::lowest(rest));
        const u32 mask = W::ballot(rest, space == now);
        if (space == now) {
            u64* cell = cells(target, first + (now - SPACE_GLOBAL) * SITE_CELLS);
            if (now == SPACE_LOCAL) {
                count_local<W>(cell, mask, useful, place);
            } else {
                count_access<W>(cell, mask, useful, place);
            }
            break;
        }
        rest &= ~mask;
    }
    W::reconverge(everyone);
}
// Runs after a hooked kernel in its stream. It sums the kernel's count cells and clears them for the next launch. It
// also reports the positions of the rings, so that the host can detect when it has read the whole launch.
extern "C" __attribute__((global)) void __warpline_finish(TARGET, Ticket* ticket, u64* arrived) {
    const u64 cells_per_sm = flags >> FLAG_COUNTS_SHIFT;
    const u64 sms = ticket->sms;
    u64* positions = (u64*)(ticket + 1);
    u64* dropped = positions + sms;
    u64* sums = dropped + sms;
    const u64 threads = (u64)threads_x() * blocks_x();
    const u64 self = (u64)block_x() * threads_x() + thread_x();
    for (u64 cell = self; cell < cells_per_sm; cell += threads) {
        u64 sum = 0;
        for (u64 sm = 0; sm < sms; sm++) {
            sum += counts[sm * cells_per_sm + cell];
            counts[sm * cells_per_sm + cell] = 0;
        }
        sums[cell] = sum;
    }
    for (u64 sm = self; sm < sms; sm += threads) {
        positions[sm] = W::load_device(&rings[sm].head);
        dropped[sm] = W::load_device(&rings[sm].dropped);
    }
    asm volatile("fence.acq_rel.sys;" ::: "memory");
    asm volatile("bar.sync 0;" ::: "memory");
    if (thread_x() == 0) {
        u64 before;
        asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], 1;" : "=l"(before) : "l"(arrived) : "memory");
        if (before + 1 == blocks_x()) {
            W::store_device(arrived, 0);
            asm volatile("st.release.sys.global.u64 [%0], 1;" ::"l"(&ticket->done) : "memory");
        }
    }
}
