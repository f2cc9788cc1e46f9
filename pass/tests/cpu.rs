//! Tests of the lowering to the CPU device: kernels, some written for it and some made at random, run in every version
//! and on every kind of host processor that this one can imitate, and must agree with the same source compiled as plain
//! C++ that runs one thread after another.

#[allow(dead_code)] // Each test file uses a part of it.
mod common;
#[path = "cpu/instructions.rs"]
mod instructions;

use common::lowering::{Form, folder, hooked, lowered, program, run};
use inkwell::context::Context;
use inkwell::values::AnyValue;
use std::fmt::Write;
use std::path::Path;
use warpline_format::operation::Followed;
use warpline_pass::cpu::Generated;

/// Lowers kernels of `flow.h`'s kind for `processor`, runs all versions against plain C++.
fn compare(name: &str, source: &str, kernels: &str, processor: &'static str, cautious: bool) {
    let form = Form { processor, cautious, ..Form::default() };
    run(&program(&folder(&format!("{name}-{processor}-{cautious}")), source, kernels, form), &[]);
}

fn hand_written() -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cpu/flow.h");
    let text = std::fs::read_to_string(here).expect("flow.h");
    let list: Vec<_> = text.split("X(").skip(1).filter_map(|part| part.split_once(')').map(|(name, _)| name)).collect();
    format!("#define KERNELS(X) {}\n", list.iter().map(|name| format!("X({name})")).collect::<Vec<_>>().join(" "))
}

fn has(feature: &str) -> bool {
    std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.split_whitespace().any(|word| word == feature))
}

#[test]
fn hand_written_kernels_agree_with_plain_code() {
    compare("hand", "", &hand_written(), "native", false);
}

#[test]
fn the_cautious_version_agrees_too() {
    compare("hand", "", &hand_written(), "native", true);
}

#[test]
fn avx2_hosts_agree() {
    if has("avx2") {
        compare("hand", "", &hand_written(), "x86-64-v3", false);
    }
}

#[test]
fn sse_hosts_agree() {
    compare("hand", "", &hand_written(), "x86-64-v2", false);
}

/// Makes kernels with random control flow: loops with several exits, jumps out of nests, uniform and divergent
/// conditions. All loops are bounded. With `waits`, some read memory that others could write, so that lanes after them
/// might have to get on meanwhile.
struct Generator {
    state: u64,
    waits: bool,
    text: String,
    labels: u32,
    loops: u32,
}

impl Generator {
    fn below(&mut self, limit: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % limit
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{text}");
    }

    fn value(&mut self) -> String {
        match self.below(9) {
            0 => "a".into(),
            1 => "b".into(),
            2 => "c".into(),
            3 => "i".into(),
            4 => "threadIdx.x".into(),
            5 => "blockIdx.x".into(),
            6 => format!("in[(a + {}) % n]", self.below(50)),
            7 => "in[(i + b) % n]".into(),
            _ => format!("{}u", self.below(100)),
        }
    }

    fn condition(&mut self) -> String {
        let (left, right) = (self.value(), self.value());
        match self.below(5) {
            0 => format!("({left} & {}) == 0", 1 << self.below(4)),
            1 => format!("{left} > {right}"),
            2 => format!("({left} ^ {right}) % 3 == 1"),
            3 => format!("(int){left} < (int)({right} - 40)"),
            _ => format!("n % {} == 0", self.below(3) + 2),
        }
    }

    fn statements(&mut self, depth: u32, in_loop: bool) {
        for _ in 0..=self.below(3) {
            let (left, right) = (self.value(), self.value());
            match self.below(if depth == 0 { 4 } else { 9 }) {
                0 => self.line(&format!("a = a * 3 + {left};")),
                1 => self.line(&format!("b ^= {left} + {right};")),
                2 => self.line(&format!("c += {left} >> ({right} & 7);")),
                3 => self.line(&format!("if ({left} & 1) a -= {right};")),
                4 | 5 => {
                    let condition = self.condition();
                    self.line(&format!("if ({condition}) {{"));
                    self.statements(depth - 1, in_loop);
                    if self.below(2) == 0 {
                        self.line("} else {");
                        self.statements(depth - 1, in_loop);
                    }
                    self.line("}");
                }
                6 | 7 => {
                    let name = format!("k{}", self.loops);
                    self.loops += 1;
                    let bound = match self.below(3) {
                        0 => format!("{}", self.below(6) + 1),
                        1 => "(a & 7)".into(),
                        _ => "(i % 5)".into(),
                    };
                    self.line(&format!("for (unsigned {name} = 0; {name} < {bound}; ++{name}) {{"));
                    self.statements(depth - 1, true);
                    let condition = self.condition();
                    if self.waits && self.below(2) == 0 {
                        let what = if self.below(2) == 0 { "break" } else { "{ out[i] = a; break; }" };
                        self.line(&format!("if (((const volatile unsigned *)in)[(a + {name}) % n] % 3 == 1) {what};"));
                    }
                    match self.below(4) {
                        0 => self.line(&format!("if ({condition}) break;")),
                        1 => self.line(&format!("if ({condition}) continue;")),
                        2 if self.labels < 3 => self.line(&format!("if ({condition}) goto end{};", self.labels)),
                        _ => self.line(&format!("c += {name};")),
                    }
                    self.statements(depth - 1, true);
                    self.line("}");
                }
                _ => {
                    let condition = self.condition();
                    let what = if in_loop { "continue" } else { "{ out[i] = a; return; }" };
                    self.line(&format!("if ({condition} && (c & 3) == 2) {what};"));
                }
            }
        }
    }

    fn kernel(seed: u64, waits: bool) -> String {
        let mut generator = Generator { state: seed, waits, text: String::new(), labels: 0, loops: 0 };
        let g = &mut generator;
        g.line(&format!("KERNEL random{seed}(const unsigned *in, unsigned *out, int n) {{"));
        g.line("unsigned i = THREAD; if (i >= n) return;");
        g.line("unsigned a = in[i], b = i, c = 0;");
        for label in 0..3 {
            g.labels = label;
            g.statements(3, false);
            g.line(&format!("goto end{label}; end{label}: b += a;"));
        }
        g.line("out[i] = a ^ b * 3 ^ c * 7; }");
        generator.text
    }
}

fn random(seeds: std::ops::Range<u64>, waits: bool) -> (String, String) {
    let mut list = String::from("#define KERNELS(X)");
    let mut source = String::new();
    for seed in seeds {
        source += &Generator::kernel(seed, waits);
        let _ = write!(list, " X(random{seed})");
    }
    (source, list + "\n")
}

#[test]
fn random_control_flow_agrees_with_plain_code() {
    let (source, list) = random(1..7, false);
    compare("random", &source, &list, "native", false);
}

/// Each thread writes its own element, so all kernels that read only `in` can run thread by thread.
#[test]
fn random_control_flow_agrees_thread_by_thread() {
    let (source, list) = random(18..24, false);
    let form = Form { serial: usize::MAX, ..Form::default() };
    for (name, source, list) in [("serial-random", source.as_str(), list), ("serial-hand", "", hand_written())] {
        let text = run(&program(&folder(name), source, &list, form), &[]);
        let serial: usize = text.lines().filter(|line| line.contains("thread by thread")).count();
        assert!(serial >= 6, "{text}");
    }
}

#[test]
fn random_control_flow_agrees_in_the_cautious_version() {
    let (source, list) = random(7..10, false);
    compare("random", &source, &list, "native", true);
}

#[test]
fn random_control_flow_agrees_where_parts_of_it_are_cautious() {
    let (source, list) = random(10..18, true);
    compare("waiting", &source, &list, "native", false);
}

/// Returns the IR of a source that is lowered without hooks and not optimised.
fn native(name: &str, text: &str) -> String {
    let source = folder(name).join("source.cu");
    std::fs::write(&source, text).expect("source written");
    let context = Context::create();
    let (module, table) = hooked(&context, &source);
    let form = Form { generated: Generated::Native, optimize: false, ..Form::default() };
    lowered(&module, &table, form).print_to_string().to_string()
}

/// Only kernels whose blocks influence each other by plain accesses alone may run on several host threads.
#[test]
fn independent_blocks_are_recognised() {
    let text = "#define GLOBAL extern \"C\" __attribute__((global)) void\n\
                extern \"C\" int printf(const char *, ...);\n\
                __attribute__((device)) int (*table[2])(int);\n\
                __attribute__((device)) int one(int a) { return a + 1; }\n\
                GLOBAL plain(int *p, int a) { p[a] = p[0] + 1; }\n\
                GLOBAL barrier(int *p, int a) { p[a] = 1; __syncthreads(); p[a + 1] = p[a]; }\n\
                GLOBAL assembly(float *p, int a) { asm(\"rcp.approx.f32 %0, %1;\" : \"=f\"(p[a]) : \"f\"(p[0])); }\n\
                GLOBAL atomic(int *p, int a) { __atomic_fetch_add(p, a, __ATOMIC_RELAXED); }\n\
                GLOBAL poll(volatile int *p, int a) { p[a] = p[0]; }\n\
                GLOBAL fence(int *p, int a) { p[a] = 1; __nvvm_membar_gl(); p[a + 1] = 2; }\n\
                GLOBAL clock(long long *p, int a) { p[a] = __nvvm_read_ptx_sreg_clock64(); }\n\
                GLOBAL reduce(int *p, int a) { asm volatile(\"red.global.add.s32 [%0], %1;\" :: \"l\"(p), \"r\"(a)); }\n\
                GLOBAL indirect(int *p, int a) { table[0] = one; p[a] = table[a & 1](a); }\n";
    let text = native("independent", text);
    let list = text.lines().find(|line| line.starts_with("@warpline.kernels =")).expect("a list of kernels");
    // Each kernel has its name, its number and its flags.
    let flags = |entry: &str| -> Option<u32> { entry.split("i32 ").nth(2)?.split(',').next()?.parse().ok() };
    let found: Vec<bool> = list
        .split("{ ptr @warpline.text")
        .skip(1)
        .filter_map(flags)
        .map(|flags| flags & warpline_format::abi::kernel_flags::INDEPENDENT_BLOCKS != 0)
        .collect();
    assert_eq!(found, [true, true, true, false, false, false, false, false, false], "{list}");
}

/// Threads run one after the other if they gather in loops of different lengths, and if none reads what another writes.
#[test]
fn kernels_that_run_thread_by_thread_are_recognised() {
    let text = "#define GLOBAL extern \"C\" __attribute__((global)) void\n\
                #define i __nvvm_read_ptx_sreg_tid_x()\n\
                #define LOOP for (int k = r[i]; k < r[i + 1]; ++k)\n\
                struct Pair { const int *r; const float *x; };\n\
                GLOBAL gathers(int *r, float *x, float *y) { float s = 0; LOOP s += x[r[k]]; y[i] = s; }\n\
                GLOBAL own(Pair p, float *y) { int *r = (int *)p.r; float s = y[i]; LOOP s += p.x[r[k]]; y[i] = s; }\n\
                GLOBAL others(int *r, float *y) { float s = 0; LOOP s += y[r[k]]; y[i] = s; }\n\
                GLOBAL moves(int *r, float *x, float *y) {\n\
                    int t = i; _Pragma(\"unroll 1\") for (int k = 0; k < r[t]; ++k) y[t + k] = y[t + k] * 2 + x[r[x[k + 99 * t] > 0]]; }\n\
                GLOBAL even(int *r, float *x, float *y, int n) {\n\
                    float s = 0; for (int k = 0; k < n; ++k) s += x[r[k * 99 + i]]; y[i] = s; }\n\
                GLOBAL chain(int *r, int *y) { int k = i; while (r[k] >= 0) k = r[k]; y[i] = k; }\n\
                GLOBAL computes(int *r, float *x, float *y) {\n\
                    float s = 0; LOOP { float a = x[k]; for (int j = 0; j < 20; ++j) a = a * a + 0.5f; s += a; } y[i] = s; }\n\
                GLOBAL indirect(int *r, float **x, float *y) { float s = 0; LOOP s += x[0][r[k]]; y[i] = s; }\n\
                GLOBAL atomic(int *r, float *x, int *y) { LOOP __atomic_fetch_add(y + r[k], 1, __ATOMIC_RELAXED); }\n\
                GLOBAL vote(int *r, float *x, float *y) {\n\
                    float s = 0; LOOP s += x[r[k]]; y[i] = __nvvm_vote_any_sync(~0u, s > 0); }\n";
    let text = native("serial", text);
    let is_serial = |name: &&str| text.contains(&format!("void @warpline.native.serial.{name}("));
    let names = ["gathers", "own", "others", "moves", "even", "chain", "computes", "indirect", "atomic", "vote"];
    let found: Vec<&str> = names.into_iter().filter(is_serial).collect();
    assert_eq!(found, ["gathers", "own"]);
    // Each pointer's offset in the parameters, and whether the kernel loads (1) or stores (2) through it.
    let lists: Vec<&str> = text.lines().filter(|line| line.starts_with("@warpline.pointers")).collect();
    let pointers = |uses: &[(u32, u32)]| -> String {
        let list = uses.iter().map(|(offset, uses)| format!("{{ i32, i32 }} {{ i32 {offset}, i32 {uses} }}"));
        format!("[{}]", list.collect::<Vec<_>>().join(", "))
    };
    assert_eq!(lists.len(), 2, "{lists:?}");
    assert!(lists[0].contains(&pointers(&[(0, 1), (8, 1), (16, 2)])), "{lists:?}");
    assert!(lists[1].contains(&pointers(&[(0, 1), (8, 1), (16, 3)])), "{lists:?}");
}

/// A module without functions with hooks is completed by one with those of a kernel and of what it calls.
#[test]
fn functions_with_hooks_are_generated_for_one_kernel() {
    let folder = folder("completed");
    let source = folder.join("completed.cu");
    let text = "#define GLOBAL extern \"C\" __attribute__((global)) void\n\
                __attribute__((device)) int state;\n\
                extern \"C\" __attribute__((device, noinline)) int own(int *p, int a) { return p[a] + state; }\n\
                extern \"C\" __attribute__((device, noinline)) int other(int *p, int a) { return p[a] - 1; }\n\
                extern \"C\" __attribute__((device, noinline)) int taken(int *p, int a) { return p[2 * a]; }\n\
                __attribute__((device)) int (*table[])(int *, int) = {taken};\n\
                GLOBAL one(int *p, int a) { p[0] = own(p, a) + (table[a & 1] == taken); }\n\
                GLOBAL two(int *p, int a) { p[0] = other(p, a) + table[a](p, a); }\n";
    std::fs::write(&source, text).expect("source written");
    let functions = |generated| {
        let context = Context::create();
        let (module, table) = hooked(&context, &source);
        let module = lowered(&module, &table, Form { generated, optimize: false, ..Form::default() });
        let names = module.get_functions().filter(|function| function.count_basic_blocks() > 0);
        let names = names.map(|function| function.get_name().to_string_lossy().into_owned());
        let hooked = names.filter_map(|name| name.strip_prefix("warpline.hooked.").map(str::to_owned));
        let mut hooked: Vec<String> = hooked.filter(|name| !name.ends_with(".body")).collect();
        hooked.sort();
        (hooked.join(" "), module.get_global("warpline.slot.state").is_some())
    };
    assert_eq!(functions(Generated::Native).0, "");
    assert_eq!(functions(Generated::HookedOf("one")).0, "general.one own");
    assert_eq!(functions(Generated::HookedOf("two")).0, "general.two other taken");
    assert_eq!(functions(Generated::All).0, "general.one general.two other own taken");
    assert!(functions(Generated::HookedOf("one")).1, "the variable's slot is the object's own");
}

/// One loop that holds many divergent branches: what is made of it, which is what compiling takes time for, must grow
/// with their number, not with its square.
#[test]
fn kernels_with_hooks_only_record_the_same() {
    let source = "KERNEL one(const unsigned *in, unsigned *out, int n) { unsigned i = THREAD; if (i < n) out[i] = in[in[i] % n]; }\n";
    let made = |name: &str, generated| {
        let form = Form { generated, ..Form::default() };
        let program = program(&folder(name), source, "#define KERNELS(X) X(one)\n", form);
        let code = std::fs::read(program.with_file_name("device.o")).expect("object kept");
        let text = run(&program, &[]);
        let records = text.split(" results").next().map(str::to_owned).expect("the stub prints records");
        (records, code.len())
    };
    let (both, hooked) = (made("hooked-and-native", Generated::All), made("hooked-only", Generated::Hooked));
    assert!(both.0.starts_with("one: records "), "{}", both.0);
    assert_eq!(both.0, hooked.0);
    assert!(hooked.1 < both.1, "{} bytes instead of {}", hooked.1, both.1);
}

#[test]
fn code_is_near_linear_in_blocks() {
    let instructions = |count: u32| {
        let mut source = String::from(
            "#include \"cuda.h\"\nextern \"C\" __global__ void many(const unsigned *in, unsigned *out, int n) {\n\
             unsigned i = TX, a = in[i];\nfor (int k = 0; k < n; ++k) {\n",
        );
        for branch in 0..count {
            let _ = writeln!(
                source,
                "if (a & {}) {{ a = a * {} + in[a % n]; }} else {{ a ^= out[(a + {branch}) % n]; out[i] = a; }}",
                1 << (branch % 9),
                branch * 2 + 3
            );
        }
        source += "}\nout[i] = a;\n}\n";
        let path = folder("blocks").join(format!("many{count}.cu"));
        std::fs::write(&path, source).expect("source written");
        let context = Context::create();
        let (module, table) = hooked(&context, &path);
        let result = lowered(&module, &table, Form::default());
        let blocks = result.get_functions().flat_map(|function| function.get_basic_blocks());
        blocks.map(|block| block.get_instructions().count()).sum::<usize>()
    };
    let (small, large) = (instructions(20), instructions(80));
    // Four times the blocks; a quadratic lowering makes sixteen times as many.
    assert!(large > small && large < small * 5, "{small} instructions for 20 branches, {large} for 80");
}

/// Kernels in which one lane waits: only where the others of its warp could do something about it, a dispatcher is
/// needed.
#[test]
fn lanes_that_can_only_wait_need_no_caution() {
    let path = folder("caution").join("waits.cu");
    let kernel = |name: &str, body: &str| {
        format!(
            "extern \"C\" __global__ void {name}(volatile int *flag, const float *in, float *out) {{\n\
             unsigned i = BX * BLOCK + TX;\n{body}\nout[i] = in[i] + in[i + 1] + in[i + 2] + in[i + 3];\n}}\n"
        )
    };
    let source = String::from("#include \"cuda.h\"\n")
        + &kernel("barrier", "if (TX == 0) { while (*flag != 7) {} } __nvvm_bar_sync(0);")
        + &kernel(
            "two",
            "if (TX == 0) { while (*flag != 7) {} } if (TX == 1) { while (*flag != 8) {} } __nvvm_bar_sync(0);",
        )
        + &kernel("no_barrier", "if (TX == 0) { while (*flag != 7) {} }")
        + &kernel("helped", "if (TX == 0) { while (*flag != 7) {} } if (TX == 3) *flag = 7; __nvvm_bar_sync(0);")
        + &kernel(
            "rounds",
            "for (int r = 0; r < 9; ++r) { if (TX == 0) { while (*flag != r) {} } __nvvm_bar_sync(0); *flag = r + 1; }",
        )
        + &kernel("counted", "for (int r = 0;; ++r) { if (*flag + TX == 7) { *flag = 9; if (r > 3) break; } }")
        + &kernel("later", "if (TX == 0) { while (*flag != 7) {} } __nvvm_bar_sync(0); *flag = 7;");
    std::fs::write(&path, source).expect("source written");
    let context = Context::create();
    let (module, table) = hooked(&context, &path);
    let result = lowered(&module, &table, Form::default());
    let fast = |name: &str| {
        let function = result.get_function(&format!("warpline.native.general.{name}")).expect("lowered");
        !function.print_to_string().to_string().contains("dispatch")
    };
    let found = ["barrier", "two", "no_barrier", "helped", "rounds", "counted", "later"].map(fast);
    assert_eq!(found, [true, true, false, false, true, false, true]);
    // Around the loop the kernel is lowered as any other, in all versions that gain something.
    assert!(result.get_function("warpline.native.linear.helped").is_some());
}

/// Operations are numbered in order, with their positions; code that follows values calls the runtime for each, and
/// other code for none.
#[test]
fn floating_point_operations_are_followed_on_request() {
    use warpline_format::operation::OperationClass::{Arithmetic, Conversion, Division, Load, Store};
    let folder = folder("operations");
    let source = folder.join("operations.cu");
    let text = "extern \"C\" __attribute__((global)) void mix(const float *in, float *out, double *wide) {\n\
                float a = in[0];\n\
                float b = a / in[1];\n\
                out[0] = a * in[2] + b;\n\
                out[1] = (float)(wide[0] - 1.0);\n\
                out[2] = b - a;\n}\n";
    std::fs::write(&source, text).expect("source written");
    let context = Context::create();
    let (module, table) = hooked(&context, &source);
    let followed = Followed { exceptions: true, ..Followed::default() };
    let options = warpline_pass::device::HookOptions::default();
    let table = warpline_pass::device::number_operations(&module, table, &options, &followed);
    let found: Vec<_> = table
        .operations
        .iter()
        .map(|one| (one.class, one.name.as_str(), table.frames[one.chain[0] as usize].line))
        .collect();
    let wanted = [
        (Load, "load", 2),
        (Load, "load", 3),
        (Division, "divide", 3),
        (Load, "load", 4),
        (Arithmetic, "multiply-add", 4),
        (Store, "store", 4),
        (Load, "load", 5),
        (Arithmetic, "add", 5),
        (Conversion, "convert", 5),
        (Store, "store", 5),
        (Arithmetic, "subtract", 6),
        (Store, "store", 6),
    ];
    assert_eq!(found, wanted);
    let text = |values: bool| {
        let options = warpline_pass::cpu::Options {
            processor: "x86-64-v3",
            descriptor: "warpline_module",
            visible: true,
            fat_binary: &[],
            emulated: None,
            registers: &std::collections::BTreeMap::new(),
            cautious: false,
            any_shape: true,
            large: warpline_pass::cpu::LARGE,
            serial: warpline_pass::cpu::SERIAL,
            generated: Generated::Hooked,
            values,
            carried: &[],
            optimize: false,
        };
        let lowered = warpline_pass::cpu::lower(&module, Some(&table), &options).expect("lowered");
        lowered.print_to_string().to_string()
    };
    let calls = |text: &str| text.matches("call void @__wl_operation(").count();
    assert_eq!((calls(&text(false)), calls(&text(true))), (0, wanted.len()));
}

/// Operations of the kinds that are recorded have numbers, on the lines that are recorded.
#[test]
fn recorded_operations_are_those_of_the_kinds_and_lines() {
    let folder = folder("recorded");
    let source = folder.join("recorded.cu");
    let text = "extern \"C\" __attribute__((global)) void mix(const int *in, float *out, int shift) {\n\
                int a = in[0] / in[1];\n\
                out[0] = a;\n\
                out[1] = out[2] < 1.0f ? in[2] >> shift : 3.0f;\n}\n";
    std::fs::write(&source, text).expect("source written");
    let found = |names: &str, lines: &[(&str, u32)]| -> Vec<(String, u32)> {
        let context = Context::create();
        let (module, table) = hooked(&context, &source);
        let lines = lines.iter().map(|(file, line)| ((*file).to_owned(), *line)).collect();
        let followed = Followed { lines, ..Followed::from_names(names).expect("names of kinds") };
        let options = warpline_pass::device::HookOptions::default();
        let table = warpline_pass::device::number_operations(&module, table, &options, &followed);
        let rows = table.operations.iter();
        rows.map(|one| (one.name.clone(), table.frames[one.chain[0] as usize].line)).collect()
    };
    let owned = |rows: &[(&str, u32)]| rows.iter().map(|(name, line)| ((*name).to_owned(), *line)).collect::<Vec<_>>();
    assert_eq!(found("float", &[]), owned(&[("less", 4)]));
    let integers = [("signed divide", 2), ("convert", 3), ("signed shift right", 4), ("convert", 4)];
    assert_eq!(found("int", &[]), owned(&integers));
    assert_eq!(found("int,float", &[("recorded.cu", 3)]), owned(&[("convert", 3)]));
    let memory = found("memory", &[]);
    assert_eq!(memory.iter().filter(|(name, _)| name == "load").count(), 4, "{memory:?}");
    assert_eq!(memory.iter().filter(|(name, _)| name == "store").count(), 2, "{memory:?}");
}
