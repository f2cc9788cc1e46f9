//! Separate stacks for warps, and switching between them.
//!
//! A switch ends with an indirect jump, never with a return. The processor predicts returns from its own record of
//! calls, and a switch makes this record wrong. The switch is inlined, so that the call of the runtime function around
//! it and the return of this function remain a pair for the predictor.

use std::arch::{asm, global_asm};

/// The size of a warp's stack in bytes. The system allocates a page only when it is touched.
pub const STACK_BYTES: usize = 256 << 10;
/// The size of a warp's stack in bytes for kernels that recurse or call through pointers.
pub const DEEP_STACK_BYTES: usize = 32 << 20;
/// The size in bytes of the guard below a stack.
pub const GUARD: usize = 4096;

/// The function that a fibre runs. It never returns; it ends by switching to another flow.
pub type Entry = extern "C" fn(*mut u8) -> !;

global_asm!(
    ".pushsection .text.__wl_fibre_start,\"ax\",@progbits",
    ".globl __wl_fibre_start",
    ".hidden __wl_fibre_start",
    ".type __wl_fibre_start,@function",
    ".p2align 4",
    "__wl_fibre_start:",
    ".cfi_startproc",
    // The unwinder stops here, because a fibre has no caller.
    ".cfi_undefined rip",
    "pop rdi",
    "pop rax",
    "xor ebp, ebp",
    "call rax",
    "ud2",
    ".cfi_endproc",
    ".size __wl_fibre_start, . - __wl_fibre_start",
    ".popsection",
);

unsafe extern "C" {
    fn __wl_fibre_start();
}

/// A suspended control flow, represented by its stack pointer. The word at this address is the address at which it
/// continues; the two words above are its `rbx` and `rbp`.
pub type Suspended = *mut u8;

/// Suspends the current flow, stores it in `from`, and continues with `to`.
///
/// # Safety
/// `to` was stored by a switch, or created by [`Stack::prepare`], and has not been resumed since; its stack
/// still exists. The current flow is resumed at most once.
#[inline(always)]
pub unsafe fn switch(from: *mut Suspended, to: Suspended) {
    // SAFETY: all registers that the ABI requires a callee to preserve are stored, or declared as clobbered. The
    // control words of the floating-point units are the same in all flows.
    unsafe {
        asm!(
            "lea rax, [rip + 2f]",
            "push rbp",
            "push rbx",
            "push rax",
            "mov [rdi], rsp",
            "mov rsp, rsi",
            "pop rax",
            "jmp rax",
            "2:",
            "pop rbx",
            "pop rbp",
            inout("rdi") from => _,
            inout("rsi") to => _,
            out("rax") _, out("r12") _, out("r13") _, out("r14") _, out("r15") _,
            clobber_abi("C"),
        );
    }
}

/// Returns the instruction pointer and the stack pointer with which an interrupted flow must continue, so that it
/// switches to `to`.
///
/// # Safety
/// The requirements of [`switch`] apply.
pub unsafe fn landing(to: Suspended) -> (u64, u64) {
    // SAFETY: a suspended flow's stack pointer refers to the address at which the flow continues.
    (unsafe { *to.cast::<u64>() }, to as u64 + 8)
}

/// A mapped stack with a guard page below it.
#[derive(Debug)]
pub struct Stack {
    memory: *mut u8,
    bytes: usize,
}

impl Stack {
    /// Maps a stack of `bytes` bytes.
    pub fn new(bytes: usize) -> std::io::Result<Stack> {
        // SAFETY: the call creates a new anonymous mapping.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes + GUARD,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK,
                -1,
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: the page is the first page of the new mapping.
        if unsafe { libc::mprotect(memory, GUARD, libc::PROT_NONE) } != 0 {
            let error = std::io::Error::last_os_error();
            // SAFETY: nothing uses the mapping yet.
            unsafe { libc::munmap(memory, bytes + GUARD) };
            return Err(error);
        }
        Ok(Stack { memory: memory.cast(), bytes })
    }

    /// Returns the number of usable bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Prepares the stack, so that the first switch to it runs `entry(argument)`.
    pub fn prepare(&mut self, entry: Entry, argument: *mut u8) -> Suspended {
        // SAFETY: the words are at the top of the mapping. After the start code has popped all three words, the stack
        // pointer is 16 bytes below the top, with the alignment that the start code's call needs.
        unsafe {
            let words = self.memory.add(GUARD + self.bytes - 40).cast::<u64>();
            words.write(__wl_fibre_start as *const () as u64);
            words.add(1).write(argument as u64);
            words.add(2).write(entry as usize as u64);
            words.cast()
        }
    }

    /// Returns the first address of the guard page below the stack.
    pub fn guard(&self) -> u64 {
        self.memory as u64
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: this stack owns the mapping, and no flow uses it any more.
        unsafe { libc::munmap(self.memory.cast(), self.bytes + GUARD) };
    }
}

/// Stacks that are available for reuse. The stack that was used last is reused first, because its pages are still in
/// the cache.
#[derive(Debug, Default)]
pub struct StackPool {
    free: Vec<Stack>,
    bytes: usize,
}

impl StackPool {
    /// Returns a stack of at least `bytes` bytes.
    pub fn take(&mut self, bytes: usize) -> std::io::Result<Stack> {
        if bytes != self.bytes {
            // Kernels of one kind usually run one after another; keeping stacks of both sizes would waste memory.
            self.free.clear();
            self.bytes = bytes;
        }
        match self.free.pop() {
            Some(stack) => Ok(stack),
            None => Stack::new(bytes),
        }
    }

    /// Returns a stack to the pool.
    pub fn give(&mut self, stack: Stack) {
        if stack.bytes == self.bytes {
            self.free.push(stack);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pair {
        main: Suspended,
        fibre: Suspended,
        sum: u64,
    }

    extern "C" fn count(argument: *mut u8) -> ! {
        let pair: *mut Pair = argument.cast();
        let mut local = [1u64; 100];
        for step in 0.. {
            // SAFETY: the test keeps the pair alive and runs one flow at a time.
            unsafe {
                local[step % 100] += step as u64;
                (*pair).sum += local[step % 100];
                assert_eq!(std::ptr::from_ref(&local) as usize % 8, 0);
                switch(&raw mut (*pair).fibre, (*pair).main);
            }
        }
        unreachable!("the loop has no end");
    }

    #[test]
    fn flows_keep_their_registers_and_stacks() {
        let mut stack = Stack::new(STACK_BYTES).unwrap();
        let mut pair = Pair { main: std::ptr::null_mut(), fibre: std::ptr::null_mut(), sum: 0 };
        pair.fibre = stack.prepare(count, (&raw mut pair).cast());
        let mut expected = 0;
        let pair: *mut Pair = &raw mut pair;
        for step in 0..50u64 {
            // SAFETY: the reasons of the first block apply.
            unsafe { switch(&raw mut (*pair).main, (*pair).fibre) };
            expected += 1 + step;
            assert_eq!(unsafe { (*pair).sum }, expected);
        }
    }

    #[test]
    fn a_pool_gives_the_last_stack_first() {
        let mut pool = StackPool::default();
        let first = pool.take(STACK_BYTES).unwrap();
        let second = pool.take(STACK_BYTES).unwrap();
        let address = second.memory;
        pool.give(first);
        pool.give(second);
        assert_eq!(pool.take(STACK_BYTES).unwrap().memory, address);
        assert!(pool.take(DEEP_STACK_BYTES).unwrap().bytes() > STACK_BYTES);
        assert!(pool.free.is_empty());
    }
}
