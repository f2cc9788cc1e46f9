//! Files that a trace from elsewhere names: `sim` reads only what the program was built from, and never waits for one.

use std::ffi::CString;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::support::{TraceBuilder, demo};
use warpline_format::device::Device;
use warpline_format::event::{CallPathFrame, Event};
use warpline_format::site_table::SiteTable;

/// Not a source file, and content that must not be shown.
const SECRET: &str = "root:$6$secret:19000:0:99999:7:::\n";

fn sim(folder: &Path, trace: &[u8], more: &[&str]) -> Output {
    std::fs::write(folder.join("a.wltrace"), trace).unwrap();
    let begun = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpline"));
    command.current_dir(folder).args(["sim", "a.wltrace", "-o", "out.wlprof"]).args(more);
    let output = command.output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    output
}

fn sources(folder: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpline"));
    let output = command.current_dir(folder).args(["report", "--format", "json", "out.wlprof"]).output().unwrap();
    assert!(output.status.success());
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    document["sources"].to_string()
}

/// The demo, with a site table of one's own and more records at the start.
fn trace(table: &SiteTable, more: impl FnOnce(&mut TraceBuilder)) -> Vec<u8> {
    let mut trace = TraceBuilder::default();
    let device = Device::rtx_2080_ti();
    trace.event(Event::Program { executable: "/a".into(), arguments: Vec::new(), device });
    trace.event(Event::Module { id: 0, site_table: table.to_bytes() });
    more(&mut trace);
    let mut launch = demo::launch(0);
    launch.path = 1;
    trace.event(Event::Launch(launch)).batch(0, &demo::batch()).event(demo::end(0, 0));
    trace.event(Event::End { launches: 1 });
    trace.finish()
}

#[test]
fn sim_shows_no_file_but_the_program_s_own_sources() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("shadow");
    std::fs::write(&secret, SECRET.repeat(12)).unwrap();
    let link = folder.path().join("innocent.cu");
    symlink(&secret, &link).unwrap();
    for path in [&secret, &link] {
        let table = demo::table(path.to_str().unwrap());
        // With a wrong checksum, with none, and as earlier releases wrote it.
        for digests in [table.digests.clone(), vec![None; 2], Vec::new()] {
            let bytes = trace(&SiteTable { digests, ..table.clone() }, |_| ());
            let output = sim(folder.path(), &bytes, &[]);
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            assert!(!sources(folder.path()).contains("secret"), "{}", path.display());
            assert!(String::from_utf8_lossy(&output.stderr).contains("--source-root"), "{output:?}");
        }
        let output = sim(folder.path(), &trace(&table, |_| ()), &["--source-root", folder.path().to_str().unwrap()]);
        assert!(output.status.success() && sources(folder.path()).contains("secret"), "{output:?}");
        let output = sim(folder.path(), &trace(&table, |_| ()), &["--source-root", "/usr"]);
        assert!(output.status.success() && !sources(folder.path()).contains("secret"), "{output:?}");
    }
    // What the compiler read is shown, and what it has become since is not.
    let source = folder.path().join("columns.cu");
    std::fs::write(&source, demo::SOURCE).unwrap();
    let own = trace(&demo::table(source.to_str().unwrap()), |_| ());
    assert!(sim(folder.path(), &own, &[]).status.success() && sources(folder.path()).contains("matrix[i * n + j]"));
    std::fs::write(&source, demo::SOURCE.replace("n + j", "n - j")).unwrap();
    assert!(sim(folder.path(), &own, &[]).status.success() && !sources(folder.path()).contains("matrix[i * n"));
}

#[test]
fn pipes_and_endless_devices_stop_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.cu");
    let name = CString::new(pipe.to_str().unwrap()).unwrap();
    // SAFETY: a terminated path of our own.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    for path in [pipe.to_str().unwrap(), "/dev/zero", "/dev/stdin", "/proc/kmsg", "/"] {
        let bytes = trace(&demo::table(path), |trace| {
            for (id, build_id) in [(0, Vec::new()), (1, vec![1, 2, 3])] {
                trace.event(Event::Object { id, path: path.to_owned(), build_id });
            }
            let frame = |object| CallPathFrame { object, offset: 0x1234 };
            trace.event(Event::Path { id: 1, frames: vec![frame(0), frame(1)] });
        });
        let output = sim(folder.path(), &bytes, &["--source-root", "/"]);
        assert_eq!(output.status.code(), Some(0), "{path}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be read"), "{path}: {output:?}");
    }
}

/// Debug information may be split over files that the object names, or that lie in its folder.
#[test]
fn further_files_of_debug_information_stop_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name);
    std::fs::write(inside("x.c"), "int main(void) { return 0; }\n").unwrap();
    let tool = |program: &str, arguments: &[&str]| {
        let status = Command::new(program).current_dir(folder.path()).args(arguments).status().unwrap();
        assert!(status.success(), "{program} {arguments:?}");
    };
    tool("gcc", &["-g", "-gsplit-dwarf", "-c", "x.c", "-o", "x.o"]);
    tool("gcc", &["x.o", "-o", "x"]);
    assert!(inside("x.dwo").exists());
    let bytes = trace(&demo::table("/a.cu"), |trace| {
        trace.event(Event::Object { id: 0, path: inside("x").to_str().unwrap().to_owned(), build_id: Vec::new() });
        trace.event(Event::Path { id: 1, frames: vec![CallPathFrame { object: 0, offset: 0x1130 }] });
    });
    let cannot = |name: &str| {
        let output = sim(folder.path(), &bytes, &[]);
        let described = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{described}");
        assert_eq!(described.contains(&format!("{name}: not a regular file")), !name.is_empty(), "{described}");
    };
    cannot("");
    for name in ["x.dwo", "x.dwp"] {
        _ = std::fs::remove_file(inside(name));
        let path = CString::new(inside(name).to_str().unwrap()).unwrap();
        // SAFETY: a terminated path of our own.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
        cannot(name);
        std::fs::remove_file(inside(name)).unwrap();
    }
    // What would fill memory: 8 MiB of zeros, that claim to be debug information, packed.
    std::fs::write(inside("zeros"), vec![0; 8 << 20]).unwrap();
    tool("objcopy", &["--add-section", ".debug_str=zeros", "/bin/true", "x"]);
    tool("objcopy", &["--compress-debug-sections=zlib", "x"]);
    assert!(std::fs::metadata(inside("x")).unwrap().len() < 1 << 17);
    let output = sim(folder.path(), &bytes, &[]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("64 times the size"), "{output:?}");
}
