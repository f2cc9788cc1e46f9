//! Tests of code generation in parts: modules made at random, divided, must do what they do in one piece, whatever
//! the number of threads.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use warpline_pass::object::{self, EmitOptions, Output};
use warpline_pass::parts::{self, GenerateOptions, Split};
use warpline_pass::{cpu, llvm::Machine};

const PROCESSOR: &str = "x86-64";
const EMIT: EmitOptions = EmitOptions { output: Output::Object, level: 2, pic: true, bound: object::BUILT };

fn parse<'c>(context: &'c Context, text: &str) -> Module<'c> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
    let module = context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("{error}"));
    Machine::host(PROCESSOR).expect("host").adopt(&module);
    module
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit as u64) as usize
    }
}

const FUNCTIONS: usize = 24;

/// A function in the making: a chain of values `%v0`, `%v1`, …
struct Body {
    text: String,
    value: usize,
}

impl Body {
    fn line(&mut self, line: &str) {
        let _ =
            writeln!(self.text, "{}", line.replace("%v", &format!("%v{}", self.value)).replace('#', &self.number()));
    }

    fn next(&mut self, what: &str) {
        let what = what.replace("%v", &format!("%v{}", self.value)).replace('#', &self.number());
        self.value += 1;
        let _ = writeln!(self.text, "%v{} = {what}", self.value);
    }

    /// For names that occur once.
    fn number(&self) -> String {
        self.value.to_string()
    }
}

fn random_function(number: usize, random: &mut Random) -> String {
    let attribute = if random.below(4) == 0 { "noinline" } else { "" };
    let hooked = if number.is_multiple_of(3) { "\"warpline-hooked\"" } else { "" };
    let text = format!(
        "define internal i64 @f{number}(i64 %x, i64 %left) {attribute} {hooked} {{\n\
         %stop = icmp eq i64 %left, 0\nbr i1 %stop, label %end, label %go\nend:\nret i64 %x\ngo:\n\
         %rest = sub i64 %left, 1\n%v0 = add i64 %x, {number}\n"
    );
    let mut body = Body { text, value: 0 };
    // A circle of calls multiplies the work in each round, so there are few.
    for _ in 0..random.below(3) {
        if random.below(3) == 0 {
            body.line(&format!("%p# = getelementptr [4 x ptr], ptr @table, i64 0, i64 {}", random.below(4)));
            body.line("%t# = load ptr, ptr %p#");
            body.next("call i64 %t#(i64 %v, i64 %rest)");
        } else {
            body.next(&format!("call i64 @f{}(i64 %v, i64 %rest)", random.below(FUNCTIONS)));
        }
    }
    let variable = if number == 7 { "@alone" } else { "@state" };
    body.line(&format!("%old = load i64, ptr {variable}"));
    body.next("add i64 %v, %old");
    body.line(&format!("store i64 %v, ptr {variable}"));
    for _ in 0..[3, 40, 900, 2500][random.below(4)] {
        match random.below(4) {
            0 => body.next(&format!("mul i64 %v, {}", random.below(1000) * 2 + 1)),
            1 => body.next(&format!("xor i64 %v, {}", random.below(100_000))),
            2 => body.next("lshr i64 %v, 1"),
            _ => {
                body.line(&format!("%n# = getelementptr [4 x i64], ptr @numbers, i64 0, i64 {}", random.below(4)));
                body.line("%m# = load volatile i64, ptr %n#");
                body.next("add i64 %v, %m#");
            }
        }
    }
    body.line("ret i64 %v\n}");
    body.text
}

/// Functions of very different sizes that call each other directly, in circles and through a table, change variables
/// that they share, and read constants. Each call takes from `%left`, which ends the circles.
fn random_module(seed: u64) -> String {
    let mut random = Random(seed);
    let entries: Vec<_> = (0..4).map(|at| format!("ptr @f{}", at * 5)).collect();
    let mut text = format!(
        "@state = internal global i64 5\n@alone = internal global i64 1\n\
         @numbers = private unnamed_addr constant [4 x i64] [i64 3, i64 1, i64 4, i64 15]\n\
         @table = internal constant [4 x ptr] [{}]\n@last = private constant ptr @f{}\n",
        entries.join(", "),
        FUNCTIONS - 1
    );
    for number in 0..FUNCTIONS {
        text += &random_function(number, &mut random);
    }
    text += "define i64 @run(i64 %x) {\n%f = load ptr, ptr @last\n%a = call i64 %f(i64 %x, i64 6)\n";
    text += "%b = call i64 @f0(i64 %a, i64 6)\n%s = load i64, ptr @state\n%r = xor i64 %b, %s\nret i64 %r\n}\n";
    text
}

fn generate(split: &Split, threads: usize) -> Vec<Vec<u8>> {
    let options = GenerateOptions { processor: PROCESSOR, emit: EMIT, suffix: "unit", threads, keep_ir: false };
    parts::generate(split, &options).expect("generated").into_iter().map(|part| part.bytes).collect()
}

fn output_of(folder: &Path, name: &str, objects: &[Vec<u8>]) -> String {
    let mut linker = Command::new("cc");
    let main = folder.join("main.c");
    std::fs::write(
        &main,
        "#include <stdio.h>\nunsigned long run(unsigned long);\n\
         int main(void) { for (int i = 0; i < 5; ++i) printf(\"%lx\\n\", run(i)); return 0; }\n",
    )
    .expect("written");
    linker.arg(&main);
    for (number, object) in objects.iter().enumerate() {
        let path: PathBuf = folder.join(format!("{name}-{number}.o"));
        std::fs::write(&path, object).expect("written");
        linker.arg(path);
    }
    let program = folder.join(name);
    let output = linker.arg("-o").arg(&program).output().expect("cc is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = Command::new(&program).output().expect("the program starts");
    assert!(output.status.success(), "{:?}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn parts_do_what_the_whole_does() {
    for seed in 1..7 {
        let text = random_module(seed);
        let context = Context::create();
        let whole = parse(&context, &text);
        cpu::optimize(&whole, PROCESSOR).expect("optimised");
        let whole = object::emit(&whole, EMIT).expect("generated");
        let module = parse(&context, &text);
        let split = parts::split(&module, PROCESSOR).expect("split").expect("the module is large");
        assert!(split.parts.len() > 2, "seed {seed}: {} parts", split.parts.len());
        assert!(
            split.parts.iter().any(|part| part.hooked),
            "seed {seed}: functions with hooks have parts of their own"
        );
        assert!(split.parts.iter().any(|part| !part.hooked), "seed {seed}: so have others");
        split.rename(&module, "unit");
        module.verify().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let mut objects = vec![object::emit(&module, EMIT).expect("generated")];
        objects.extend(generate(&split, 3));
        let folder = tempfile::tempdir().expect("folder");
        let expected = output_of(folder.path(), "whole", &[whole]);
        assert_eq!(output_of(folder.path(), "parts", &objects), expected, "seed {seed}");
    }
}

#[test]
fn neither_threads_nor_another_run_change_a_byte() {
    let text = random_module(3);
    let split = || {
        let context = Context::create();
        let module = parse(&context, &text);
        parts::split(&module, PROCESSOR).expect("split").expect("the module is large")
    };
    let (first, second) = (split(), split());
    assert_eq!(first.parts, second.parts);
    assert_eq!(first.shared, second.shared);
    let alone = generate(&first, 1);
    for threads in [2, 3, 40] {
        assert_eq!(generate(&second, threads), alone, "{threads} threads");
    }
}

/// Two units of the same names must link: what their parts share is renamed, everything else is local.
#[test]
fn names_of_two_units_stay_apart() {
    let text = random_module(2);
    let context = Context::create();
    let mut names = Vec::new();
    for suffix in ["one", "two"] {
        let module = parse(&context, &text);
        let split = parts::split(&module, PROCESSOR).expect("split").expect("the module is large");
        split.rename(&module, suffix);
        let options = GenerateOptions { processor: PROCESSOR, emit: EMIT, suffix, threads: 1, keep_ir: true };
        let parts = parts::generate(&split, &options).expect("generated");
        let texts = parts.into_iter().filter_map(|part| part.ir).chain([module.print_to_string().to_string()]);
        let defined = |line: &String| {
            let variable = line.starts_with('@') && !line.contains(" external ");
            let global = line.starts_with("define ") || variable;
            global && !line.contains("internal ") && !line.contains("private ")
        };
        let lines: Vec<String> = texts.flat_map(|text| text.lines().map(String::from).collect::<Vec<_>>()).collect();
        names.push(
            lines
                .iter()
                .filter(|line| defined(line))
                .filter_map(|line| line.split('@').nth(1)?.split(['(', ' ']).next().map(String::from))
                .collect::<Vec<_>>(),
        );
    }
    assert!(names[0].len() > 5, "{names:?}");
    let shared: Vec<_> = names[0].iter().filter(|name| names[1].contains(name)).collect();
    assert_eq!(shared, ["run"]);
}

#[test]
fn small_modules_and_modules_with_aliases_stay_whole() {
    let context = Context::create();
    let small = parse(&context, "define i64 @one() {\nret i64 1\n}\ndefine i64 @two() {\nret i64 2\n}\n");
    assert!(parts::split(&small, PROCESSOR).expect("split runs").is_none());
    let aliased = parse(&context, &(random_module(1) + "@other = alias i64 (i64), ptr @run\n"));
    let before = aliased.print_to_string().to_string();
    assert!(parts::split(&aliased, PROCESSOR).expect("split runs").is_none());
    assert_eq!(aliased.print_to_string().to_string(), before);
}

#[test]
fn large_functions_are_optimised_the_longer_the_less_anybody_waits_for_them() {
    let adds: String = (1..=object::LOADED).map(|at| format!("%a{at} = add i32 %a{}, %x\n", at - 1)).collect();
    let text = format!("define i32 @f(i32 %a0, i32 %x) {{\n{adds}ret i32 %a{}\n}}\n", object::LOADED);
    let context = Context::create();
    let module = parse(&context, &text);
    let (built, none) = EMIT.bounded(&module);
    assert_eq!((built.level, none), (2, None));
    let (loaded, huge) = EmitOptions { bound: object::LOADED, ..EMIT }.bounded(&module);
    assert_eq!((loaded.level, huge.map(|one| one.instructions)), (0, Some(object::LOADED + 1)));
}
