//! Sends arbitrary input to `warpline mcp`: any bytes, and any arguments of the tools.

use std::path::PathBuf;
use std::sync::OnceLock;

use warpline_mcp::{Settings, Transport, exchange};

const INTRODUCTION: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"#,
    r#""clientInfo":{"name":"fuzz","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n"
);

/// The content of a file next to the served folder; no response may contain it.
const SECRET: &str = "what only the neighbour of the folder contains";

/// Sends the bytes alone, and again after a handshake.
pub fn run(data: &[u8]) {
    for input in [data.to_vec(), [INTRODUCTION.as_bytes(), data, b"\n"].concat()] {
        let answers = exchange(settings(), &input).expect("a folder");
        let text = String::from_utf8_lossy(&answers);
        assert!(!text.contains(SECRET), "{text}");
        // If a tool panics, its task catches the panic, and the response contains these words.
        assert!(!text.contains("please report this"), "{text}");
        for line in text.lines() {
            assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
        }
    }
}

/// Creates a folder with a profile and a source. It contains no executable, so nothing runs.
fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("warpline-fuzz-mcp-{}", std::process::id()));
        let root = folder.join("root");
        std::fs::create_dir_all(&root).expect("a folder");
        std::fs::write(folder.join("secret"), SECRET).expect("a file");
        std::fs::write(root.join("a.cu"), "int main() {}\n").expect("a file");
        warpline::profile::write(&profile(), &root.join("a.wlprof")).expect("a profile");
        Settings {
            roots: vec![root],
            executable: PathBuf::from("/nonexistent/warpline"),
            transport: Transport::Stdio,
            seconds: 1,
            memory: 1 << 30,
        }
    })
}

fn profile() -> warpline::profile::Profile {
    use warpline::profile::model::{Kernel, Line, SCHEMA, VERSION};
    let kernel = Kernel { name: "sum(float*)".to_owned(), file: "/a.cu".to_owned(), line: 1, ..Kernel::default() };
    let line = Line { file: "/a.cu".to_owned(), line: 2, ..Line::default() };
    warpline::profile::Profile {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        kernels: vec![kernel],
        lines: vec![line],
        sources: [("/a.cu".to_owned(), [(2, "data[i] += 1;".to_owned())].into())].into(),
        ..Default::default()
    }
}

/// Returns calls of all tools, and messages that are not calls.
#[allow(dead_code, reason = "the fuzz target takes its seeds from files")]
pub fn seeds() -> Vec<Vec<u8>> {
    let call = |number: usize, tool: &str, arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        )
    };
    let calls = [
        (
            "findings",
            r#"{"profile":"a.wlprof","severity":"note","kernel":"sum","max_tokens":100,"cursor":"1-00000000"}"#,
        ),
        ("source", r#"{"profile":"a.wlprof","file":"a.cu","line":2}"#),
        ("kernel", r#"{"profile":"warpline://profile/a.wlprof","kernel":"s.*"}"#),
        ("allocation", r#"{"profile":"../secret","name":"x"}"#),
        ("diff", r#"{"before":"a.wlprof","after":"/etc/passwd"}"#),
        ("explain", r#"{"id":"bank-conflict"}"#),
        ("gpus", r#"{"model":"a100"}"#),
        ("predict", r#"{"profile":"a.wlprof","blocks":["32x8"],"set":["n=1"],"top":3,"seconds":1}"#),
        (
            "profile",
            r#"{"sources":["a.cu"],"defines":["N=1"],"architecture":"sm_80","standard":"c++17","output":"o.wlprof"}"#,
        ),
        ("check", r#"{"program":"a.cu","arguments":["1"],"kernels":"s","gpu":"t4"}"#),
    ];
    let mut all: Vec<Vec<u8>> =
        (1..).zip(calls).map(|(number, (tool, arguments))| call(number, tool, arguments).into_bytes()).collect();
    for other in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"resources/list","params":{"cursor":"50"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"warpline://profile/a.wlprof"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        INTRODUCTION,
        "[]\n{\n\u{feff}",
    ] {
        all.push(other.as_bytes().to_vec());
    }
    all
}
