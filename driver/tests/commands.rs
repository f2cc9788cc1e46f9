//! What `-###` shows: the plan for a command line, without running anything.

mod support;

use support::{Driver, Ran};

/// The commands with what differs between machines and runs replaced by words.
fn plan(program: &str, line: &str) -> String {
    let driver = Driver::new();
    let Ran { stderr, .. } = driver.run(program, &format!("-### {line}")).succeeded();
    let cache = warpline_toolchain::cache::folder().unwrap();
    let cuda = support::cuda().display().to_string();
    let mut text = String::new();
    let variable = |line: &&str| {
        let name = line.strip_prefix("#$ ").and_then(|rest| rest.split_once('='));
        name.is_some_and(|(name, _)| !name.contains([' ', '/']))
    };
    for line in stderr.lines().filter(|line| !variable(line)) {
        let words = line.split(' ').map(|word| {
            let word = word.replace(&cuda, "CUDA");
            let word = replace_folder(&word, &format!("{}/include-", cache.display()), "INCLUDE");
            let word = replace_folder(&word, &format!("{}/toolkit-", cache.display()), "TOOLKIT");
            let word = replace_folder(&word, &format!("{}/warpline-cc.", std::env::temp_dir().display()), "TMP");
            match word.split_once("-cuid=") {
                Some((before, _)) => format!("{before}-cuid=UNIT"),
                None if word.contains("bin/clang++") => "CLANG++".into(),
                None if word.contains("bin/clang") => "CLANG".into(),
                None => word,
            }
        });
        text += &words.collect::<Vec<_>>().join(" ");
        text.push('\n');
    }
    text
}

fn replace_folder(word: &str, start: &str, name: &str) -> String {
    match word.split_once(start) {
        Some((before, after)) => format!("{before}{name}{}", after.find('/').map_or("", |slash| &after[slash..])),
        None => word.into(),
    }
}

#[test]
fn nvcc_compiles_and_links() {
    insta::assert_snapshot!(plan(
        "warpline-nvcc",
        "-O3 -std=c++17 -arch=sm_80 -Xcompiler -Wall,-fPIC -Xlinker -rpath,/x -Iinc -lm -lcudart a.cu b.cpp c.o -o a"
    ));
}

#[test]
fn clang_compiles_to_an_object() {
    insta::assert_snapshot!(plan("warpline-clang++", "-O2 --cuda-gpu-arch=sm_86 -MMD -MF a.d -c a.cu -o out/a.o"));
}

#[test]
fn a_closed_standard_error_fails_nothing() {
    let driver = Driver::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = driver.command(driver.path("warpline-nvcc"));
    let status = command.args(["-###", "-Xptxas", "-v", "-c", "a.cu"]).stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn answers_that_no_one_reads_are_no_error_and_those_that_cannot_be_written_are() {
    let driver = Driver::new();
    for option in ["--help", "--version", "--list-gpu-arch", "--warpline-toolkit"] {
        let script = format!("./warpline-nvcc {option} | true; exit ${{PIPESTATUS[0]}}");
        let ran = driver.output(driver.command("bash").args(["-c", &script])).succeeded();
        assert_eq!(ran.stderr, "", "{option}");
        let full = driver.output(driver.command("bash").args(["-c", &format!("./warpline-nvcc {option} > /dev/full")]));
        assert!(full.code == 1 && full.stderr.contains("cannot write standard output"), "{option}: {}", full.stderr);
    }
}

#[test]
fn separate_compilation() {
    insta::assert_snapshot!(plan("warpline-nvcc", "-rdc=true -G -dc a.cu -o a.o"));
    insta::assert_snapshot!(plan("warpline-nvcc", "-dlink a.o b.o -o link.o"));
}

#[test]
fn clang_alone_makes_text() {
    insta::assert_snapshot!(plan("warpline-nvcc", "-ptx -arch=sm_75 a.cu -o a.ptx"));
    insta::assert_snapshot!(plan("warpline-nvcc", "-E a.cu"));
    insta::assert_snapshot!(plan("warpline-nvcc", "-M a.cu -MT x"));
}

#[test]
fn libraries_and_shared_libraries() {
    insta::assert_snapshot!(plan("warpline-nvcc", "-lib a.o b.o -o libx.a"));
    insta::assert_snapshot!(plan("warpline-nvcc", "-shared -Xcompiler -fPIC a.o -o libx.so"));
}

#[test]
fn fast_math_and_denormals() {
    insta::assert_snapshot!(plan("warpline-nvcc", "-use_fast_math -fmad=false -c a.cu"));
}
