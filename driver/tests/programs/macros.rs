//! Macros that a command line defines, and those that nvcc defines.

use super::support::Driver;

/// Names that builds define, many of which are names of parameters in `cuda.h`, cuRAND's headers or clang's wrapper.
const NAMES: &str = "N X Y V q o tid bid n i x y z a b c T M K L P W H D nx ny nz dim size len count data src dst stream array \
                     width height flags device block grid index offset SIZE BLOCK WIDTH HEIGHT REAL DEBUG kernel min max";

#[test]
fn macros_of_the_command_line_do_not_reach_cudas_headers() {
    let driver = Driver::new();
    let program = "#ifndef EARLY\n#error a file that is included before the source sees macros, too\n#endif\n\
        #include \"check.h\"\n__global__ void Kernel(int *Out) { *Out = N + HOSTS + SQUARE(3); }\n\
        int main() { int *Out; cudaMallocManaged(&Out, 4); Kernel<<<1, 1>>>(Out); cudaDeviceSynchronize();\n\
        return *Out != 1024 + 5 + 9 || M_PI > 3.15 || LAST != 2; }\n";
    driver.write("p.cu", program);
    driver.write("check.h", "#if !defined(NDEBUG) || defined(GONE)\n#error -D or -U is lost\n#endif\n");
    driver.write("before.h", "#if N == 1024\n#define EARLY\n#endif\n");
    let mut command = driver.command(driver.path("warpline-nvcc"));
    let names = NAMES.split_whitespace().filter(|&name| name != "N").map(|name| format!("-D{name}=1024"));
    command.args([
        "-DN=1024",
        "-DNDEBUG",
        "-DGONE",
        "-U",
        "GONE",
        "-DM_PI=4",
        "-DLAST=1",
        "-DLAST=2",
        "-DSQUARE(A)=A*A",
    ]);
    command.args(["-Xcompiler", "-DHOSTS=5", "-include", "before.h", "p.cu", "-o", "p"]).args(names);
    let ran = driver.output(&mut command).succeeded();
    assert_eq!(ran.stderr, "");
    driver.program("p").succeeded();
}

#[test]
fn messages_and_dependencies_name_the_command_line_as_clang_does() {
    let driver = Driver::new();
    driver.write("p.cu", "int values[N];\n");
    let ran = driver.run("warpline-clang++", "-DN=-1 -c p.cu");
    assert!(ran.code != 0 && ran.stderr.contains("<command line>:") && !ran.stderr.contains("command_line_macros"));
    driver.run("warpline-nvcc", "-DN=1 -MMD -MF p.d -c p.cu").succeeded();
    assert_eq!(std::fs::read_to_string(driver.path("p.d")).unwrap(), "p.o: p.cu\n");
}

/// The headers that clang's wrapper reads before a source, and Warpline's own.
fn headers_before_sources(driver: &Driver) -> Vec<String> {
    driver.write("empty.cu", "");
    let rule = driver.run("warpline-nvcc", "-M empty.cu").succeeded().stdout;
    let words = rule.split_whitespace().filter(|word| word.starts_with('/'));
    let ours = |word: &&str| ["/cuda", "/cu13", "/warpline/"].iter().any(|folder| word.contains(folder));
    words.filter(ours).map(str::to_owned).collect()
}

#[test]
fn names_that_the_headers_test_stay_on_the_command_line() {
    let driver = Driver::new();
    let headers = headers_before_sources(&driver);
    assert!(headers.iter().any(|header| header.ends_with("/cuda.h")), "{headers:?}");
    let mut tested = std::collections::BTreeSet::new();
    for header in headers {
        let text = std::fs::read_to_string(header).unwrap().replace("\\\n", " ");
        for line in text.lines().filter_map(|line| line.trim_start().strip_prefix('#')) {
            let line = line.trim_start().split(['<', '"']).next().unwrap_or_default();
            let line = line.split("/*").next().unwrap_or_default().split("//").next().unwrap_or_default();
            let Some(condition) = line.strip_prefix("if").or_else(|| line.strip_prefix("elif")) else { continue };
            let words = condition.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            let names = words.filter(|word| word.starts_with(|first: char| first.is_ascii_alphabetic()));
            tested.extend(names.filter(|&name| !["def", "ndef", "defined"].contains(&name)).map(str::to_owned));
        }
    }
    assert!(tested.contains("CUDA_API_PER_THREAD_DEFAULT_STREAM") && tested.contains("NDEBUG"), "{tested:?}");
    let line: String = tested.iter().map(|name| format!("-D{name} ")).collect();
    let plan = driver.run("warpline-nvcc", &format!("-### -c empty.cu {line}")).succeeded().stderr;
    let late: Vec<_> = tested.iter().filter(|name| !plan.contains(&format!("-D{name}"))).collect();
    assert!(late.is_empty(), "conditions in headers test these names, which they do not see: {late:?}");
}
