use super::*;

fn parse(line: &str, dialect: Dialect) -> Invocation {
    Invocation::parse(&response::split(line), dialect).unwrap()
}

fn nvcc(line: &str) -> Invocation {
    parse(line, Dialect::Nvcc)
}

fn link_arguments(invocation: &Invocation) -> Vec<String> {
    let item = |item: &LinkItem| match item {
        LinkItem::Input(index) => invocation.inputs[*index].path.clone(),
        LinkItem::Argument(argument) => argument.clone(),
    };
    invocation.link.iter().map(item).collect()
}

#[test]
fn a_usual_nvcc_line_is_understood() {
    let made = nvcc(
        "-O3 -std=c++17 -gencode arch=compute_80,code=[sm_80,compute_80] -Xcompiler -Wall,-fPIC -Iinc -lineinfo \
         --expt-relaxed-constexpr -rdc=true -c kernel.cu -o kernel.o",
    );
    assert_eq!(made.action, Action::Object);
    assert_eq!(made.inputs, [Input { path: "kernel.cu".into(), language: Language::Cuda, known_as: None }]);
    assert_eq!(made.output.as_deref(), Some(Path::new("kernel.o")));
    assert_eq!(made.architectures, [80]);
    assert_eq!((made.host_level(), made.device_level()), ("3", "3"));
    assert_eq!(made.common, ["-std=c++17", "-Iinc"]);
    assert_eq!(made.host, ["-Wall", "-fPIC"]);
    assert!(made.relocatable);
    assert!(made.ignored.is_empty());
}

#[test]
fn a_usual_clang_line_is_understood() {
    let made = parse("-x cuda --cuda-gpu-arch=sm_86 -O2 -g a.cc -lcudart -L/x -pthread -o a", Dialect::Clang);
    assert_eq!(made.action, Action::Link);
    assert_eq!(made.inputs[0].language, Language::Cuda);
    assert_eq!(made.architectures, [86]);
    assert_eq!((made.host_level(), made.device_level()), ("2", "2"));
    assert_eq!(link_arguments(&made), ["a.cc", "-lcudart", "-L/x", "-pthread"]);
    assert_eq!(made.common, ["-pthread"]);
}

#[test]
fn levels_without_o_are_each_dialects() {
    assert_eq!((nvcc("a.cu").host_level(), nvcc("a.cu").device_level()), ("2", "3"));
    assert_eq!((nvcc("-O0 a.cu").host_level(), nvcc("-O0 a.cu").device_level()), ("0", "0"));
    assert_eq!(nvcc("-O1 -G -dopt=on a.cu").device_level(), "1");
    assert_eq!(nvcc("-O2 -G a.cu").device_level(), "0");
    let clang = parse("a.cu", Dialect::Clang);
    assert_eq!((clang.host_level(), clang.device_level()), ("0", "0"));
}

#[test]
fn inputs_and_libraries_keep_their_order() {
    let made = nvcc("a.cu -lm b.cpp libx.a -Xlinker -rpath,/y c.o -Wl,-z,now libz.so.1 -o out");
    assert_eq!(
        link_arguments(&made),
        ["a.cu", "-lm", "b.cpp", "libx.a", "-Xlinker", "-rpath", "-Xlinker", "/y", "c.o", "-Wl,-z,now", "libz.so.1"]
    );
    let languages: Vec<Language> = made.inputs.iter().map(|input| input.language).collect();
    use Language::{Cuda, Cxx, Object};
    assert_eq!(languages, [Cuda, Cxx, Object, Object, Object]);
}

#[test]
fn x_concerns_the_sources_after_it() {
    let made = nvcc("a.cpp -x cu b.cpp c.o -x c++ d.cu -x none e.cu");
    let languages: Vec<Language> = made.inputs.iter().map(|input| input.language).collect();
    use Language::{Cuda, Cxx, Object};
    assert_eq!(languages, [Cxx, Cuda, Object, Cxx, Cuda]);
}

#[test]
fn unknown_flags_reach_the_compiler() {
    let made = nvcc("-march=native -fopenmp -Wextra a.cu");
    assert_eq!(made.common, ["-march=native", "-fopenmp", "-Wextra"]);
    assert_eq!(link_arguments(&made), ["-march=native", "-fopenmp", "a.cu"]);
}

#[test]
fn separate_values_are_no_inputs() {
    let made =
        parse("-Xclang -ast-dump -mllvm -x1 -include h.h -isystem s -target x86_64-linux-gnu a.cu", Dialect::Clang);
    assert_eq!(made.inputs.len(), 1);
    assert_eq!(
        made.common,
        ["-Xclang", "-ast-dump", "-mllvm", "-x1", "-include", "h.h", "-isystem", "s", "--target=x86_64-linux-gnu"]
    );
}

#[test]
fn host_lists_are_split_as_nvcc_does() {
    assert_eq!(commas("-Wall,-fPIC"), ["-Wall", "-fPIC"]);
    assert_eq!(commas(r#"-DA=\"1\,2\",-O2"#), [r#"-DA="1,2""#, "-O2"].map(|part| part.replace('"', "")));
    assert_eq!(commas("-Wall -fPIC"), ["-Wall", "-fPIC"]);
    assert_eq!(commas(r#""-Wl,-z",-g"#), ["-Wl,-z", "-g"]);
}

#[test]
fn what_has_no_effect_is_named() {
    let made = nvcc("-dlto -Xcudafe --diag_suppress=177 --maxrregcount=32 a.cu");
    assert_eq!(made.ignored, ["-dlto", "-Xcudafe --diag_suppress=177"]);
    assert_eq!(made.ptxas, ["-maxrregcount=32"]);
}

#[test]
fn the_host_s_source_goes_to_a_file() {
    let made = nvcc("-cuda src/kernel.cu");
    assert_eq!((made.action, made.clang_only), (Action::Clang, vec!["-E".to_string()]));
    assert_eq!(made.output.as_deref(), Some(Path::new("kernel.cu.cpp.ii")));
    assert_eq!(nvcc("-cuda kernel.cu -o kernel.ii").output.as_deref(), Some(Path::new("kernel.ii")));
}

#[test]
fn dependencies_are_requested() {
    let made = nvcc("-MD -MT kernel.o -MF kernel.d -c kernel.cu -o kernel.o");
    assert_eq!(made.dependencies, ["-MD"]);
    assert_eq!(made.dependency_file.as_deref(), Some(Path::new("kernel.d")));
    assert_eq!(made.dependency_targets, [("-MT", "kernel.o".into())]);
}

#[test]
fn wrong_lines_say_why() {
    let error = |line: &str| Invocation::parse(&response::split(line), Dialect::Nvcc).unwrap_err().to_string();
    assert_eq!(error("-c"), "no input files");
    assert_eq!(error("-c a.cu b.cu -o x.o"), "cannot specify -o when generating multiple output files");
    assert_eq!(error("-arch=gfx90a a.cu"), "unsupported CUDA gpu architecture: gfx90a");
    assert_eq!(error("-arch=sm_34 a.cu"), "unsupported CUDA gpu architecture: sm_34");
    assert_eq!(
        error("-gencode arch=compute_75,code=sm_76 -arch=sm_80 a.cu"),
        "unsupported CUDA gpu architecture: sm_76"
    );
    assert_eq!(error("-x fortran a.f"), "language not recognized: 'fortran'");
    assert!(error("--device=tpu a.cu").contains("expected cpu, gpu"));
    assert!(error("-optix-ir a.cu").contains("-optix-ir requests a result that only nvcc makes"));
    assert_eq!(error("-rdc=maybe a.cu"), "-rdc=maybe: expected true or false");
}

#[test]
fn standard_input_needs_a_language() {
    let error = |line: &str| Invocation::parse(&response::split(line), Dialect::Clang).unwrap_err().to_string();
    assert!(error("- -c").contains("-x required"));
    for line in ["-x c++ - -c", "-x cuda - -c", "-x cuda - b.cpp"] {
        assert!(Invocation::parse(&response::split(line), Dialect::Clang).is_ok(), "{line}");
    }
}
