//! A real browser without a window, driven through its debugging protocol on two pipes: no server, no driver program.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What takes longer than this hangs; generous, because machines may be busy.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Names under which systems have it.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

pub struct Browser {
    process: Child,
    to: ChildStdin,
    from: ChildStdout,
    unread: Vec<u8>,
    calls: u64,
    session: Option<String>,
    /// Errors of scripts, and what tried to reach a network.
    pub complaints: Vec<String>,
    _folder: tempfile::TempDir,
}

fn installed() -> PathBuf {
    let folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let mut places = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places
        .find(|place| place.is_file())
        .expect("a browser is missing: run scripts/setup.sh --tests, which installs chromium")
}

impl Browser {
    pub fn start() -> Browser {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // The protocol is spoken on descriptors 3 and 4; the shell makes these of its input and output.
        let mut command = Command::new("sh");
        command.arg("-c").arg("exec \"$@\" 3<&0 4>&1 >/dev/null 2>/dev/null").arg("sh").arg(installed());
        command.args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
        ]);
        command.args(["--disable-dev-shm-usage", "--no-first-run"]);
        command.arg(format!("--user-data-dir={}", folder.path().display())).arg("about:blank");
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell that starts the browser");
        let (to, from) = (process.stdin.take().expect("a pipe"), process.stdout.take().expect("a pipe"));
        let mut browser = Browser {
            process,
            to,
            from,
            unread: Vec::new(),
            calls: 0,
            session: None,
            complaints: Vec::new(),
            _folder: folder,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Runtime.enable", "Network.enable"] {
            browser.call(domain, json!({}));
        }
        browser
    }

    fn message(&mut self) -> Value {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == 0) {
                let rest = self.unread.split_off(end + 1);
                let message = std::mem::replace(&mut self.unread, rest);
                return serde_json::from_slice(&message[..end]).expect("the browser speaks JSON");
            }
            let mut piece = vec![0; 1 << 16];
            let length = self.from.read(&mut piece).expect("the browser's pipe");
            assert!(length > 0, "the browser ended");
            self.unread.extend_from_slice(&piece[..length]);
        }
    }

    /// Calls a method of the protocol.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let id = self.calls;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser's pipe");
        loop {
            let mut answer = self.message();
            match answer["method"].as_str() {
                Some("Runtime.exceptionThrown") => self.complaints.push(answer["params"].to_string()),
                Some("Runtime.consoleAPICalled") if answer["params"]["type"] == "error" => {
                    self.complaints.push(answer["params"]["args"].to_string());
                }
                Some("Network.requestWillBeSent") => {
                    let url = answer["params"]["request"]["url"].as_str().unwrap_or_default();
                    if !["file:", "data:", "about:"].iter().any(|scheme| url.starts_with(scheme)) {
                        self.complaints.push(format!("fetched {url}"));
                    }
                }
                _ => {}
            }
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].take();
            }
        }
    }

    /// Value of an expression; promises are waited for.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.call("Runtime.evaluate", parameters);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].take()
    }

    pub fn text(&mut self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_default().to_owned()
    }

    /// Sets the window's size and the colour scheme of the system.
    pub fn look(&mut self, width: u32, height: u32, colors: &str) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let features = json!([{ "name": "prefers-color-scheme", "value": colors }]);
        self.call("Emulation.setEmulatedMedia", json!({ "media": "screen", "features": features }));
    }

    /// Opens a page of the report and waits until it is drawn.
    pub fn open(&mut self, page: &Path) {
        self.call("Page.navigate", json!({ "url": format!("file://{}", page.display()) }));
        let started = Instant::now();
        let ready = "document.readyState === 'complete' && (document.documentElement.dataset.ready !== undefined || document.querySelector('#main .empty:not(#loading)') !== null)";
        while self.value(ready) != true {
            assert!(started.elapsed() < TIME_LIMIT, "{} is not drawn: {:?}", page.display(), self.complaints);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Goes to a view and waits for two frames, after which all is drawn.
    pub fn go(&mut self, route: &str) {
        let hash = json!(format!("#/{route}"));
        self.value(&format!(
            "new Promise((done) => {{ location.hash = {hash}; setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => done(true))), 0); }})"
        ));
    }

    /// Presses a key as a person would.
    pub fn press(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "ArrowDown" => 40,
            "Tab" => 9,
            _ => 0,
        };
        let text = if key == "Enter" { "\r" } else { text };
        let mut down = json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": code });
        if !text.is_empty() {
            down["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", down);
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code }));
        self.value("new Promise((done) => setTimeout(() => requestAnimationFrame(() => done(true)), 0))");
    }

    /// Values of the figures that the page shows, by name; one that stands there several times has them all.
    pub fn figures(&mut self) -> Vec<(String, String)> {
        let list = self.value("[...document.querySelectorAll('main [data-figure]')].map((one) => [one.dataset.figure, one.dataset.value])");
        serde_json::from_value(list).expect("pairs of texts")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
