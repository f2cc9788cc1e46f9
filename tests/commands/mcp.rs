//! `warpline mcp`, as a client of the protocol's own SDK uses it.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ProgressNotificationParam,
    ReadResourceRequestParams, ReadResourceResult, ResourceContents,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RoleClient, RunningService, ServiceError};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ServiceExt as _};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::support::demo_profile::{demo_profile, profile_with_a_finding};
use crate::support_programs::{root, warpline, warpline_cc};
use warpline::profile;
use warpline::report::{brief_json, brief_markdown};

/// A client that counts the notifications of progress.
#[derive(Clone, Default)]
struct Client(Arc<AtomicUsize>);

impl ClientHandler for Client {
    async fn on_progress(&self, _: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

type Connection = RunningService<RoleClient, Client>;

/// Does something with a server that serves a folder.
fn with_server<T>(folder: &Path, options: &[&str], test: impl AsyncFnOnce(&Connection) -> T) -> T {
    with_server_in(folder, options, &[], test)
}

/// The same with further variables in the server's environment.
fn with_server_in<T>(
    folder: &Path,
    options: &[&str],
    environment: &[(&str, &str)],
    test: impl AsyncFnOnce(&Connection) -> T,
) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut command = Command::new(warpline());
        command
            .arg("mcp")
            .arg("--root")
            .arg(folder)
            .args(options)
            .current_dir(folder)
            .envs(environment.iter().copied());
        // The compiler that this test is built with.
        let path = std::env::var("PATH").unwrap_or_default();
        let beside = warpline_cc().parent().expect("a folder").display().to_string();
        command.env("PATH", format!("{beside}:{path}"));
        let transport = TokioChildProcess::new(command).expect("a server");
        let connection = Client::default().serve(transport).await.expect("an introduction");
        let result = test(&connection).await;
        connection.cancel().await.expect("an end");
        result
    })
}

fn call_of(tool: &str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
}

async fn call(connection: &Connection, tool: &str, arguments: Value) -> CallToolResult {
    connection.call_tool(call_of(tool, arguments)).await.unwrap_or_else(|error| panic!("{tool}: {error}"))
}

fn text(result: &CallToolResult) -> String {
    let first = result.content.first().and_then(|content| content.as_text());
    first.map_or_else(String::new, |content| content.text.clone())
}

/// The text of an answer that is no error.
fn good(result: &CallToolResult) -> String {
    assert_ne!(result.is_error, Some(true), "{}", text(result));
    text(result)
}

/// The message of a refusal.
async fn refusal(connection: &Connection, tool: &str, arguments: Value) -> String {
    let result = call(connection, tool, arguments.clone()).await;
    assert_eq!(result.is_error, Some(true), "{tool} {arguments}: {}", text(&result));
    text(&result)
}

/// A folder with two profiles, of which the second has findings.
fn folder_with_profiles() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut before = demo_profile();
    before.kernels[0].metrics.get_mut("global").expect("global memory").sectors *= 2;
    profile::write(&before, &folder.path().join("before.wlprof")).expect("a profile");
    let mut after = profile_with_a_finding();
    let one = after.findings[0].clone();
    after.findings = (1..=60).map(|rank| profile::model::Finding { rank, line: rank, ..one.clone() }).collect();
    profile::write(&after, &folder.path().join("after.wlprof")).expect("a profile");
    folder
}

/// A program that is no CUDA program: what matters is how it is ended.
fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a script");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a script");
    path
}

#[test]
fn tools_have_schemas_and_descriptions() {
    let folder = tempfile::tempdir().expect("a folder");
    let tools = with_server(folder.path(), &[], async |connection| connection.list_all_tools().await.expect("tools"));
    let mut names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    names.sort_unstable();
    let expected =
        ["allocation", "check", "diff", "explain", "findings", "gpus", "kernel", "predict", "profile", "source"];
    assert_eq!(names, expected);
    for tool in &tools {
        let schema = Value::Object((*tool.input_schema).clone());
        let properties = schema["properties"].as_object().expect("properties");
        assert!(properties.contains_key("max_tokens"), "{}", tool.name);
        assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
        assert!(properties.values().all(|field| field["description"].is_string()), "{}: {schema}", tool.name);
        assert!(tool.output_schema.is_some() && tool.description.is_some(), "{}", tool.name);
    }
}

#[test]
fn answers_are_those_of_the_command_line() {
    let folder = folder_with_profiles();
    let after = profile::read(&folder.path().join("after.wlprof")).expect("a profile");
    with_server(folder.path(), &[], async |connection| {
        let findings = good(&call(connection, "findings", json!({"profile": "after.wlprof"})).await);
        let first: Value = serde_json::from_str(findings.lines().next().expect("a finding")).expect("JSON");
        let brief: Value = serde_json::from_str(&brief_json(&after)).expect("JSON");
        assert_eq!(first, brief["findings"][0]);
        let page = good(&call(connection, "explain", json!({"id": "strided-access", "max_tokens": 20_000})).await);
        assert_eq!(page.trim_end(), include_str!("../../docs/findings/strided-access.md").trim_end());
        let before = profile::read(&folder.path().join("before.wlprof")).expect("a profile");
        let diff = warpline::comparison::compare(&before, &after, &Default::default(), None);
        let options = warpline::report::DiffOptions { color: false, top: 50, all: false, width: 120 };
        let expected = warpline::report::diff_markdown(&diff, &before, &after, &options);
        let both = json!({"before": "before.wlprof", "after": "warpline://profile/after.wlprof", "max_tokens": 20_000});
        assert_eq!(good(&call(connection, "diff", both).await).trim_end(), expected.trim_end());
        assert!(!expected.contains("Nothing changed"), "{expected}");
        for (tool, arguments, expected) in [
            ("source", json!({"profile": "after.wlprof"}), "matrix"),
            ("source", json!({"profile": "after.wlprof", "file": "columns.cu", "line": 9}), "columns.cu"),
            ("kernel", json!({"profile": "after.wlprof", "kernel": "columns"}), "LINES"),
            ("kernel", json!({"profile": "after.wlprof"}), "columns"),
            ("allocation", json!({"profile": "after.wlprof", "name": "d_matrix"}), "48.0 KiB"),
            ("allocation", json!({"profile": "after.wlprof"}), "ALLOCATIONS"),
            ("explain", json!({}), "bank-conflict: "),
            ("gpus", json!({}), "MODEL"),
            ("gpus", json!({"model": "A100"}), "sources"),
        ] {
            let shown = good(&call(connection, tool, arguments.clone()).await);
            assert!(shown.contains(expected), "{tool} {arguments}:\n{shown}");
        }
    });
}

#[test]
fn pages_lead_through_all_findings() {
    let folder = folder_with_profiles();
    with_server(folder.path(), &[], async |connection| {
        let (mut ranks, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
        loop {
            let arguments = json!({"profile": "after.wlprof", "max_tokens": 1000, "cursor": cursor});
            let result = call(connection, "findings", arguments).await;
            let shown = good(&result);
            assert!(shown.len() <= 4000, "{} bytes", shown.len());
            let rows = shown.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
            ranks.extend(rows.map(|row| row["rank"].as_u64().expect("a rank")));
            pages += 1;
            cursor = result.structured_content.expect("a position")["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(ranks, (1..=60).collect::<Vec<u64>>());
        assert!(pages > 5, "{pages} pages");
        // Of another answer.
        let stale = json!({"profile": "before.wlprof", "cursor": "3-00000000"});
        assert!(refusal(connection, "findings", stale).await.contains("without a cursor"));
    });
}

#[test]
fn profiles_are_resources() {
    let folder = folder_with_profiles();
    std::fs::create_dir(folder.path().join("sub folder")).expect("a folder");
    std::fs::copy(folder.path().join("after.wlprof"), folder.path().join("sub folder/ü.wlprof")).expect("a copy");
    let outside = tempfile::tempdir().expect("a folder");
    profile::write(&demo_profile(), &outside.path().join("other.wlprof")).expect("a profile");
    symlink(outside.path(), folder.path().join("link")).expect("a link");
    with_server(folder.path(), &[], async |connection| {
        let all = connection.list_all_resources().await.expect("resources");
        let mut uris: Vec<&str> = all.iter().map(|resource| &resource.uri[..]).collect();
        uris.sort_unstable();
        let names = ["after.wlprof", "before.wlprof", "sub%20folder/%C3%BC.wlprof"];
        assert_eq!(uris, names.map(|name| format!("warpline://profile/{name}")));
        let read = async |uri: &str| connection.read_resource(ReadResourceRequestParams::new(uri)).await;
        let brief: ReadResourceResult = read(uris[2]).await.expect("a brief");
        let Some(ResourceContents::TextResourceContents { text, .. }) = brief.contents.first() else {
            panic!("no text")
        };
        assert_eq!(serde_json::from_str::<Value>(text).expect("JSON")["findings_total"], 60);
        for wrong in ["warpline://profile/none.wlprof", "warpline://profile/link/other.wlprof", "file:///etc/passwd"] {
            assert!(matches!(read(wrong).await, Err(ServiceError::McpError(_))), "{wrong}");
        }
    });
}

#[test]
fn an_example_is_profiled_and_predicted() {
    let folder = tempfile::tempdir().expect("a folder");
    for file in ["transpose/transpose.cu", "common/common.h"] {
        let copy = folder.path().join(file);
        std::fs::create_dir(copy.parent().expect("a folder")).expect("a folder");
        std::fs::copy(root().join("examples").join(file), copy).expect("a copy");
    }
    with_server(folder.path(), &[], async |connection| {
        let arguments =
            json!({"sources": ["transpose/transpose.cu"], "arguments": ["64"], "gpu": "a100", "architecture": "sm_80"});
        let result = call(connection, "profile", arguments).await;
        let shown = good(&result);
        let written = profile::read(&folder.path().join("warpline.transpose.wlprof")).expect("a profile");
        assert_eq!(shown, brief_markdown(&written));
        assert_eq!(written.run.models, ["a100"]);
        let uri = result.structured_content.expect("a position")["profile"].clone();
        assert_eq!(uri, "warpline://profile/warpline.transpose.wlprof");
        let kernel = written.kernels[0].name.split('(').next().expect("a name").to_owned();
        let arguments = json!({"profile": uri, "kernel": kernel, "blocks": ["32x8", "16x16"], "top": 2});
        let shown = good(&call(connection, "predict", arguments).await);
        assert!(shown.contains("32x8") || shown.contains("16x16"), "{shown}");
        let checked =
            good(&call(connection, "check", json!({"sources": ["transpose/transpose.cu"], "arguments": ["64"]})).await);
        assert!(checked.starts_with("0 errors"), "{checked}");
        // What the compiler refuses comes back with its message.
        std::fs::write(folder.path().join("wrong.cu"), "int main() { return nothing; }\n").expect("a source");
        let message = refusal(connection, "profile", json!({"sources": ["wrong.cu"]})).await;
        assert!(message.contains("nothing") && message.contains("no profile was written"), "{message}");
    });
}

#[test]
fn an_error_of_a_program_is_found_by_check() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "#include <cstdio>\n__global__ void late(float *data) { data[threadIdx.x + 64] = 1.0f; }\n\
                  int main() { float *data; cudaMalloc(&data, 256); late<<<1, 64>>>(data); return cudaDeviceSynchronize() == 0; }\n";
    std::fs::write(folder.path().join("late.cu"), source).expect("a source");
    with_server(folder.path(), &[], async |connection| {
        let shown = good(&call(connection, "check", json!({"sources": ["late.cu"]})).await);
        assert!(shown.contains("\"id\":\"fault\"") && shown.contains("late.cu"), "{shown}");
    });
}

#[test]
fn runs_report_progress_and_are_cancelled() {
    let folder = tempfile::tempdir().expect("a folder");
    script(folder.path(), "slow", "echo $$ > pid; sleep 600");
    with_server(folder.path(), &[], async |connection| {
        let request =
            ClientRequest::CallToolRequest(CallToolRequest::new(call_of("profile", json!({"program": "slow"}))));
        let handle =
            connection.send_cancellable_request(request, PeerRequestOptions::no_options()).await.expect("a request");
        let pid = folder.path().join("pid");
        let start = Instant::now();
        while connection.service().0.load(Ordering::Relaxed) == 0 || !pid.is_file() {
            assert!(start.elapsed() < Duration::from_secs(60), "no progress");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let pid = std::fs::read_to_string(&pid).expect("a process").trim().to_owned();
        let is_there = || Path::new("/proc").join(&pid).is_dir();
        assert!(is_there());
        handle.cancel(None).await.expect("a notification");
        let start = Instant::now();
        while is_there() {
            assert!(start.elapsed() < Duration::from_secs(60), "the program runs on");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // The server goes on.
        assert!(good(&call(connection, "gpus", json!({})).await).contains("a100"));
    });
}

/// `warpline run` replaces `%q{NAME}` and `%p` in names of files, and names the profiles of ranks itself.
#[test]
fn a_profile_has_the_requested_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "__global__ void one(float *data) { data[threadIdx.x] = 1.0f; }\n\
                  int main() { float *data; cudaMalloc(&data, 256); one<<<1, 64>>>(data); return cudaFree(data); }\n";
    std::fs::write(folder.path().join("one.cu"), source).expect("a source");
    let environment = [("EVIL", "../outside"), ("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "1")];
    let test = async |connection: &Connection| {
        for name in ["%q{EVIL}.wlprof", "50%.wlprof"] {
            good(&call(connection, "profile", json!({"sources": ["one.cu"], "output": name, "max_tokens": 100})).await);
            assert!(folder.path().join(name).is_file(), "{name}");
        }
    };
    with_server_in(folder.path(), &[], &environment, test);
}

#[test]
fn a_run_ends_with_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    script(folder.path(), "slow", "echo $$ > pid; sleep 600");
    let pid = with_server(folder.path(), &[], async |connection| {
        let request =
            ClientRequest::CallToolRequest(CallToolRequest::new(call_of("profile", json!({"program": "slow"}))));
        let options = PeerRequestOptions::no_options();
        let _handle = connection.send_cancellable_request(request, options).await.expect("a request");
        let start = Instant::now();
        while !std::fs::read_to_string(folder.path().join("pid")).is_ok_and(|text| text.ends_with('\n')) {
            assert!(start.elapsed() < Duration::from_secs(60), "the program does not start");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        std::fs::read_to_string(folder.path().join("pid")).expect("a process").trim().to_owned()
    });
    let start = Instant::now();
    while Path::new("/proc").join(&pid).is_dir() {
        assert!(start.elapsed() < Duration::from_secs(60), "the program runs on");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn runs_end_at_their_limits() {
    let folder = tempfile::tempdir().expect("a folder");
    script(folder.path(), "slow", "sleep 600");
    script(folder.path(), "large", "(head -c 600000000 /dev/zero; sleep 600) | tail -c 600000000 > /dev/null");
    with_server(folder.path(), &["--seconds", "20", "--memory", "300M"], async |connection| {
        let start = Instant::now();
        let message = refusal(connection, "profile", json!({"program": "slow", "seconds": 1})).await;
        assert!(message.contains("more than 1 s") && start.elapsed() < Duration::from_secs(15), "{message}");
        let message = refusal(connection, "profile", json!({"program": "large"})).await;
        assert!(message.contains("bytes of memory"), "{message}");
        let message = refusal(connection, "profile", json!({"program": "slow", "seconds": 21})).await;
        assert!(message.contains("pass 1 to 20"), "{message}");
    });
}

#[test]
fn nothing_outside_of_the_folder_is_reached() {
    let folder = folder_with_profiles();
    let outside = tempfile::tempdir().expect("a folder");
    let secret = outside.path().join("secret.wlprof");
    profile::write(&demo_profile(), &secret).expect("a profile");
    std::fs::write(outside.path().join("secret.cu"), "int main() {}\n").expect("a source");
    symlink(&secret, folder.path().join("link.wlprof")).expect("a link");
    symlink(outside.path(), folder.path().join("folder")).expect("a link");
    let secret = secret.display().to_string();
    with_server(folder.path(), &[], async |connection| {
        let names = [&secret[..], "../secret.wlprof", "link.wlprof", "folder/secret.wlprof", "/etc/passwd"];
        for name in
            names.into_iter().chain(["warpline://profile/link.wlprof", "warpline://profile/%2e%2e/secret.wlprof"])
        {
            for (tool, arguments) in [
                ("findings", json!({"profile": name})),
                ("source", json!({"profile": name})),
                ("kernel", json!({"profile": name})),
                ("allocation", json!({"profile": name})),
                ("diff", json!({"before": name, "after": "after.wlprof"})),
                ("predict", json!({"profile": name})),
                ("profile", json!({"program": name})),
                ("check", json!({"sources": [name]})),
            ] {
                let message = refusal(connection, tool, arguments).await;
                let is_refused = ["outside the folders", "leads out of the folders", "No such file"];
                assert!(is_refused.iter().any(|why| message.contains(why)), "{tool} {name}: {message}");
            }
        }
        for arguments in [
            json!({"sources": ["folder/secret.cu"]}),
            json!({"program": "after.wlprof", "output": "../out.wlprof"}),
            json!({"program": "after.wlprof", "output": "link.wlprof"}),
            json!({"program": "after.wlprof", "output": "folder/out.wlprof"}),
            json!({"program": "after.wlprof", "gpu": "/etc/passwd"}),
            json!({"program": "after.wlprof", "gpu": "models/a100.toml"}),
            json!({"sources": []}),
        ] {
            refusal(connection, "profile", arguments).await;
        }
        assert!(!outside.path().join("out.wlprof").exists());
    });
}

#[test]
fn values_do_not_become_options() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.cu"), "int main() {}\n").expect("a source");
    with_server(folder.path(), &[], async |connection| {
        for (name, value) in [
            ("defines", json!(["A=1 -o /tmp/x"])),
            ("defines", json!(["A=1,-fplugin=x"])),
            ("defines", json!(["-o"])),
            ("architecture", json!("sm_80 -o x")),
            ("architecture", json!("native")),
            ("standard", json!("c++17;ls")),
            ("include_folders", json!(["/etc"])),
            ("include_folders", json!(["a.cu"])),
            ("kernels", json!("(")),
            ("gpu", json!("a100,/etc/passwd")),
            ("arguments", json!(["a\u{0}b"])),
            ("max_tokens", json!(u64::MAX)),
            ("seconds", json!(0)),
        ] {
            let mut arguments = json!({"sources": ["a.cu"]});
            arguments[name] = value;
            let message = refusal(connection, "profile", arguments.clone()).await;
            assert!(
                message.contains(name) || message.contains("/etc") || message.contains("a.cu"),
                "{arguments}: {message}"
            );
        }
        // Wrong types are refused by their schema.
        for arguments in [json!({"sources": 7}), json!({"sources": ["a.cu"], "shell": "ls"}), json!({"seconds": -1})] {
            let result = connection.call_tool(call_of("profile", arguments.clone())).await;
            let is_refused = match &result {
                Err(ServiceError::McpError(_)) => true,
                Ok(result) => result.is_error == Some(true),
                Err(_) => false,
            };
            assert!(is_refused, "{arguments}: {result:?}");
        }
        assert!(connection.call_tool(call_of("shell", json!({}))).await.is_err());
    });
}

/// HTTP: without the token there is no answer.
#[test]
fn http_needs_the_token() {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::process::{Command, Stdio};
    let folder = folder_with_profiles();
    let mut server = Command::new(warpline())
        .args(["mcp", "--http", "0", "--root"])
        .arg(folder.path())
        .env("WARPLINE_MCP_TOKEN", "open-sesame")
        .stderr(Stdio::piped())
        .spawn()
        .expect("a server");
    let mut lines = BufReader::new(server.stderr.take().expect("messages")).lines();
    let line = lines.next().expect("a line").expect("text");
    let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address").to_owned();
    assert!(address.starts_with("127.0.0.1:"), "{line}");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let post = |headers: &str| {
        let mut stream = std::net::TcpStream::connect(&address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a limit");
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: {}\r\n{headers}\r\n{body}",
            body.len()
        )
        .expect("a request");
        let mut answer = vec![0; 4096];
        let mut length = 0;
        // The stream of events stays open; what matters comes first.
        while !String::from_utf8_lossy(&answer[..length]).contains("serverInfo") {
            match stream.read(&mut answer[length..]) {
                Ok(0) | Err(_) => break,
                Ok(more) => length += more,
            }
            if String::from_utf8_lossy(&answer[..length]).contains(" 40") {
                break;
            }
        }
        String::from_utf8_lossy(&answer[..length]).into_owned()
    };
    let answers = [
        post(""),
        post("Authorization: Bearer open\r\n"),
        post("Authorization: Bearer open-sesame\r\nOrigin: http://evil.example\r\n"),
        post("Authorization: Bearer open-sesame\r\n"),
    ];
    server.kill().expect("an end");
    server.wait().expect("an end");
    let [without, wrong, foreign, right] = answers;
    assert!(without.starts_with("HTTP/1.1 401") && wrong.starts_with("HTTP/1.1 401"), "{without}\n{wrong}");
    assert!(foreign.starts_with("HTTP/1.1 403"), "{foreign}");
    assert!(right.starts_with("HTTP/1.1 200") && right.contains("\"warpline\""), "{right}");
}
