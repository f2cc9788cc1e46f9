//! What each kind of hook becomes in PTX, from device IR written by hand.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use warpline_format::access::Space;
use warpline_format::gpu::{COUNTED_SUFFIX, HOOKED_SUFFIX};
use warpline_format::site_table::{Block, Branch, CacheOp, Op, Site, SiteTable};
use warpline_pass::gpu::{emit_ptx, instrument};

const HEADER: &str = r#"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare void @__warpline_access_generic(i32, ptr)
declare void @__warpline_access_global(i32, ptr addrspace(1))
declare void @__warpline_access_shared(i32, ptr addrspace(3))
declare void @__warpline_access_constant(i32, ptr addrspace(4))
declare void @__warpline_access_local(i32, ptr addrspace(5))
declare void @__warpline_block(i32)
declare void @__warpline_branch(i32, i1)
declare void @__warpline_switch(i32, i32)
declare void @__warpline_call(i32)
declare void @__warpline_return()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
attributes #0 = { noinline "target-cpu"="sm_70" "target-features"="+ptx63,+sm_70" }
"#;

fn parse<'c>(context: &'c Context, body: &str) -> Module<'c> {
    let text = format!("{HEADER}{body}");
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "hooks");
    context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("{error}"))
}

fn table() -> SiteTable {
    let sides = |sides| Branch { sides, ..Branch::default() };
    let (blocks, branches) = (vec![Block::default(); 2], vec![sides(2), sides(3)]);
    // Site 6 is one that counters mode cannot count.
    let sites = (0..8).map(|number| Site {
        function: 0,
        op: Op::Load,
        space: if number == 5 { Space::Generic } else { Space::Global },
        bytes: 4,
        byte_mask: None,
        align: if number == 6 { 1 } else { 4 },
        cache: CacheOp::Default,
        chain: vec![0],
        approximate: false,
        in_library: false,
    });
    SiteTable { blocks, branches, sites: sites.collect(), ..SiteTable::default() }
}

/// PTX and what is not covered.
fn ptx(body: &str) -> (String, Vec<String>) {
    let context = Context::create();
    let code = instrument(&parse(&context, body), &table()).expect("instrumentation");
    let text = emit_ptx(&code, "sm_70").expect("PTX");
    (String::from_utf8(text).expect("text"), code.not_covered.clone())
}

/// The body of an entry or function.
fn body<'p>(ptx: &'p str, name: &str) -> &'p str {
    let start = ptx.find(&format!("{name}(")).unwrap_or_else(|| panic!("no {name} in {ptx}"));
    let rest = &ptx[start..];
    &rest[..rest.find("\n}").unwrap_or(rest.len())]
}

/// A kernel with one hook.
fn kernel(call: &str) -> String {
    let declared =
        "ptr %g, ptr addrspace(1) %p, ptr addrspace(3) %h, ptr addrspace(4) %k, ptr addrspace(5) %l, i1 %c, i32 %s";
    format!("define ptx_kernel void @k({declared}) #0 {{\n  {call}\n  ret void\n}}\n")
}

#[test]
fn each_hook_costs_what_it_must() {
    // The kernel's end is a hook too: a record of 32 bytes, sent by one lane with two stores.
    let end = (1, 0, 0, 0, 2);
    // Calls, and what is added: atomics, reductions, shuffles, votes, stores to the host. An access has three forms:
    // two stores of the leader; or the leader's two or three, and one per lane of 32 or 64 bits.
    let cases = [
        // An argument of a kernel is expected to be one address for all lanes.
        ("call void @__warpline_access_global(i32 7, ptr addrspace(1) %p)", HINTED),
        ("call void @__warpline_access_shared(i32 7, ptr addrspace(3) %h)", HINTED),
        ("call void @__warpline_access_constant(i32 7, ptr addrspace(4) %k)", HINTED),
        ("call void @__warpline_access_local(i32 7, ptr addrspace(5) %l)", HINTED),
        ("call void @__warpline_access_generic(i32 7, ptr %g)", (2, 0, 7, 3, 6)),
        (LINEAR, HINTED),
        (SCATTERED, ACCESS),
        ("call void @__warpline_block(i32 1)", (0, 4, 0, 0, 0)),
        ("call void @__warpline_branch(i32 0, i1 %c)", (0, 5, 0, 1, 0)),
        ("call void @__warpline_switch(i32 1, i32 %s)", (0, 4, 1, 1, 0)),
        ("call void @__warpline_call(i32 3)", (1, 0, 0, 0, 2)),
        ("call void @__warpline_return()", (1, 0, 0, 0, 2)),
        ("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)", (1, 0, 0, 0, 2)),
    ];
    for (call, expected) in cases {
        let (ptx, _) = ptx(&kernel(call));
        let hooked = body(&ptx, &format!("k{HOOKED_SUFFIX}"));
        let count = |instruction: &str| hooked.matches(instruction).count();
        let found = (
            count("atom.relaxed.gpu.global.add.u64"),
            count("red.relaxed.gpu.global.add.u64"),
            count("shfl.sync"),
            count("vote.sync"),
            count("st.relaxed.sys"),
        );
        let wanted = (expected.0 + end.0, expected.1, expected.2, expected.3, expected.4 + end.4);
        // One addition counts dropped records wherever a ring is used.
        let rings = expected.0 + end.0;
        let wanted = (wanted.0, wanted.1 + rings, wanted.2, wanted.3, wanted.4);
        assert_eq!(found, wanted, "{call}\n{hooked}");
        assert_eq!(count("match.all.sync"), usize::from(expected == HINTED), "{call}\n{hooked}");
        // No fence, no stack, no call.
        for costly in ["membar", "fence", "st.local", "ld.local", "call"] {
            assert!(!hooked.contains(costly), "{call}: {costly}\n{hooked}");
        }
        let original = body(&ptx, ".entry k");
        assert!(!original.contains("atom.") && !original.contains("activemask"), "{original}");
    }
}

/// An access with a hint: one operation tests the hint. Else base and distance of the halves are computed, and a record
/// has full addresses where that fails too.
const HINTED: (usize, usize, usize, usize, usize) = (2, 0, 5, 1, 4);

/// Lanes 12 bytes apart, through a loop that adds the same to all.
const LINEAR: &str = "%t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %o = mul i32 %b, 77
  %i = add i32 %t, %o
  br label %loop
loop:
  %j = phi i32 [ %i, %0 ], [ %n, %loop ]
  %x = sext i32 %j to i64
  %q = getelementptr [3 x float], ptr addrspace(1) %p, i64 %x
  call void @__warpline_access_global(i32 7, ptr addrspace(1) %q)
  %n = add i32 %j, %s
  %z = icmp slt i32 %n, 1000
  br i1 %z, label %loop, label %end
end:";

/// Lanes at the squares of their numbers.
const SCATTERED: &str = "%t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %o = mul i32 %t, %t
  %q = getelementptr float, ptr addrspace(1) %p, i32 %o
  call void @__warpline_access_global(i32 7, ptr addrspace(1) %q)";

#[test]
fn counting_hooks_add_and_send_nothing() {
    // What is added: reductions, matches, ballots. The request's cells are four.
    let cases = [
        ("call void @__warpline_access_global(i32 7, ptr addrspace(1) %p)", (4, 3, 3)),
        ("call void @__warpline_access_shared(i32 7, ptr addrspace(3) %h)", (4, 3, 3)),
        ("call void @__warpline_access_constant(i32 7, ptr addrspace(4) %k)", (4, 3, 3)),
        ("call void @__warpline_access_local(i32 7, ptr addrspace(5) %l)", (4, 2, 2)),
        ("call void @__warpline_access_generic(i32 5, ptr %g)", (8, 5, 6)),
        ("call void @__warpline_access_global(i32 6, ptr addrspace(1) %p)", (0, 0, 0)),
        ("call void @__warpline_block(i32 1)", (4, 0, 0)),
        ("call void @__warpline_branch(i32 0, i1 %c)", (5, 0, 1)),
        ("call void @__warpline_call(i32 3)", (0, 0, 0)),
        ("call void @__warpline_return()", (0, 0, 0)),
        ("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)", (0, 0, 0)),
    ];
    for (call, expected) in cases {
        let (ptx, _) = ptx(&kernel(call));
        let counting = body(&ptx, &format!("k{COUNTED_SUFFIX}"));
        let count = |instruction: &str| counting.matches(instruction).count();
        let found = (count("red.relaxed.gpu.global.add.u64"), count("match.any.sync"), count("vote.sync.ballot"));
        assert_eq!(found, expected, "{call}\n{counting}");
        for costly in ["atom.", "st.relaxed.sys", "membar", "fence", "st.local", "ld.local", "call"] {
            assert!(!counting.contains(costly), "{call}: {costly}\n{counting}");
        }
    }
}

const ACCESS: (usize, usize, usize, usize, usize) = (2, 0, 6, 2, 6);

#[test]
fn functions_that_are_called_carry_the_parameters() {
    let (ptx, not_covered) = ptx(r#"
        define internal i32 @walk(ptr addrspace(1) %p, i32 %n) #0 {
        entry:
          call void @__warpline_access_global(i32 1, ptr addrspace(1) %p)
          %v = load i32, ptr addrspace(1) %p
          %stop = icmp eq i32 %n, 0
          br i1 %stop, label %done, label %again
        again:
          %m = sub i32 %n, 1
          %r = call i32 @walk(ptr addrspace(1) %p, i32 %m)
          ret i32 %r
        done:
          ret i32 %v
        }
        define ptx_kernel void @k(ptr addrspace(1) %p, ptr %f) #0 {
          call void @__warpline_call(i32 0)
          %r = call i32 @walk(ptr addrspace(1) %p, i32 3)
          call void @__warpline_return()
          store i32 %r, ptr addrspace(1) %p
          call void %f()
          ret void
        }
    "#);
    // The clone calls clones, itself included; the original calls originals.
    let clone = body(&ptx, &format!(") walk{HOOKED_SUFFIX}"));
    assert!(clone.contains("atom.relaxed") || ptx.matches("atom.relaxed").count() >= 4);
    assert!(body(&ptx, &format!(".entry k{HOOKED_SUFFIX}")).contains(&format!("walk{HOOKED_SUFFIX}")));
    let original = body(&ptx, ".entry k");
    assert!(original.contains("walk") && !original.contains(HOOKED_SUFFIX), "{original}");
    assert_eq!(not_covered, ["k"], "the call through a pointer is reported");
}

#[test]
fn kernels_that_launch_kernels_are_refused() {
    let context = Context::create();
    let body = "declare ptr @__cudaCDP2GetParameterBuffer(i64, i64)
        define ptx_kernel void @parent() #0 {
          %buffer = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 8)
          ret void
        }";
    let Err(error) = instrument(&parse(&context, body), &table()) else { panic!("instrumented") };
    assert!(error.to_string().starts_with("parent launches kernels"), "{error}");
}
