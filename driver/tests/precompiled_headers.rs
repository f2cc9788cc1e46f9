//! Precompiled headers make compilations faster, and nothing else.

mod support;

use std::path::{Path, PathBuf};
use support::{Driver, Ran};

const SOURCE: &str = "#include <cmath>\n#include <vector>\n#include \"own.h\"\n\
    __global__ void scale(float *data, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) data[i] *= FACTOR; }\n\
    int main() { std::vector<float> v(64, std::sqrt(4.f)); float *d; cudaMalloc(&d, 256);\n\
    cudaMemcpy(d, v.data(), 256, cudaMemcpyHostToDevice); scale<<<1, 64>>>(d, 64);\n\
    return cudaMemcpy(v.data(), d, 256, cudaMemcpyDeviceToHost); }\n";

/// A project, and a cache in which there is only the toolkit.
fn project() -> Driver {
    let driver = Driver::new();
    driver.write("a.cu", SOURCE);
    driver.write("include/own.h", "#define FACTOR 2.f\n");
    let cache = warpline_toolchain::cache::folder().unwrap();
    std::fs::create_dir_all(driver.path("cache/warpline")).unwrap();
    for entry in
        cache.read_dir().unwrap().flatten().filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"cuda-"))
    {
        std::os::unix::fs::symlink(entry.path(), driver.path("cache/warpline").join(entry.file_name())).unwrap();
    }
    driver
}

fn compile(driver: &Driver, line: &str) -> Ran {
    let mut command = driver.command(driver.path("warpline-nvcc"));
    command.env("XDG_CACHE_HOME", driver.path("cache"));
    driver.output(command.args(line.split(' ')))
}

fn headers(driver: &Driver) -> Vec<PathBuf> {
    let Ok(entries) = driver.path("cache/warpline/headers").read_dir() else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "pch"));
    paths.sort();
    paths
}

/// Compiles to an object; returns its bytes and the dependencies.
fn object(driver: &Driver, more: &str) -> (Vec<u8>, String) {
    let ran = compile(driver, &format!("-Iinclude -MD -c a.cu -o a.o{more}")).succeeded();
    assert_eq!(ran.stderr, "");
    let read = |name: &str| std::fs::read(driver.path(name)).unwrap();
    (read("a.o"), String::from_utf8(read("a.d")).unwrap())
}

#[test]
fn objects_are_the_same_with_them() {
    let driver = project();
    let first = object(&driver, "");
    assert_eq!(headers(&driver), [""; 0].map(PathBuf::from), "the first may be the only one");
    assert!(first.1.contains("include/own.h") && !first.1.contains("precompiled"), "{}", first.1);
    for number in 2..4 {
        assert!(object(&driver, "") == first, "compilation {number}");
        assert_eq!(headers(&driver).len(), 2, "one for each side");
    }
    assert!(object(&driver, " --warpline-no-precompiled-headers") == first);
    // Folders do not change what is read from elsewhere, macros do.
    compile(&driver, "-Iinclude -I/nowhere -c a.cu -o b.o").succeeded();
    assert!(std::fs::read(driver.path("b.o")).unwrap() == first.0);
    assert_eq!(headers(&driver).len(), 2);
    for _ in 0..2 {
        compile(&driver, "-Iinclude -DNDEBUG -c a.cu -o b.o").succeeded();
    }
    assert_eq!(headers(&driver).len(), 4);
}

#[test]
fn relocatable_objects_are_the_same_with_them() {
    let driver = project();
    let objects = [0; 3].map(|_| object(&driver, " -rdc=true").0);
    assert!(objects[1] == objects[0] && objects[2] == objects[0]);
    assert_eq!(headers(&driver).len(), 2);
}

#[test]
fn errors_are_those_of_the_source() {
    let driver = project();
    driver.write("a.cu", "int f() { return x; }\n");
    let printed = [0; 3].map(|_| compile(&driver, "-c a.cu -o a.o"));
    assert!(printed[0].stderr.contains("a.cu:1:18: error: use of undeclared identifier 'x'"), "{}", printed[0].stderr);
    for ran in &printed {
        assert_eq!((ran.code, &ran.stderr), (printed[0].code, &printed[0].stderr));
    }
}

#[test]
fn a_projects_header_of_the_same_name_is_found() {
    let driver = project();
    object(&driver, "");
    object(&driver, "");
    driver
        .write("include/warpline/compatibility.h", "#define FROM_PROJECT\n#include_next <warpline/compatibility.h>\n");
    driver.write("a.cu", &format!("#ifndef FROM_PROJECT\n#error of another\n#endif\n{SOURCE}"));
    object(&driver, "");
    std::fs::remove_file(driver.path("include/warpline/compatibility.h")).unwrap();
    assert!(compile(&driver, "-Iinclude -c a.cu -o a.o").stderr.contains("of another"));
}

#[test]
fn a_damaged_one_is_made_anew() {
    let driver = project();
    let first = object(&driver, "");
    object(&driver, "");
    let whole: Vec<Vec<u8>> = headers(&driver).iter().map(|path| std::fs::read(path).unwrap()).collect();
    let damages: [fn(&Path); 3] = [
        |path| std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(100_000).unwrap(),
        |path| std::fs::write(path, "no header").unwrap(),
        |path| std::fs::remove_file(path).unwrap(),
    ];
    for damage in damages {
        headers(&driver).iter().for_each(|path| damage(path));
        for _ in 0..3 {
            assert!(object(&driver, "") == first);
        }
        let sizes = |headers: &[Vec<u8>]| headers.iter().map(Vec::len).collect::<Vec<_>>();
        let now: Vec<Vec<u8>> = headers(&driver).iter().map(|path| std::fs::read(path).unwrap()).collect();
        assert_eq!(sizes(&now), sizes(&whole));
    }
}

#[test]
fn who_shows_commands_sees_the_ones_that_need_no_cache() {
    let driver = project();
    for _ in 0..3 {
        let ran = compile(&driver, "-### -Iinclude -c a.cu -o a.o").succeeded();
        assert!(!ran.stderr.contains("pch"), "{}", ran.stderr);
    }
    assert_eq!(headers(&driver).len(), 0);
}
