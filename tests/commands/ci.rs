//! What services for continuous integration are given, without the services: their files are read as they read them,
//! their scripts run as they run them.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::recordings::{StoreFolder, moving, stderr, stdout};
use crate::support_programs::{root, warpline, warpline_cc};
use yaml_rust2::{Yaml, YamlLoader};

const ACTION: &str = ".github/actions/warpline";

fn yaml(path: &str) -> Yaml {
    let text = std::fs::read_to_string(root().join(path)).unwrap();
    let mut documents = YamlLoader::load_from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert_eq!(documents.len(), 1, "{path}");
    documents.remove(0)
}

fn list(value: &Yaml) -> Vec<&Yaml> {
    value.as_vec().map(|all| all.iter().collect()).unwrap_or_default()
}

/// Names that an expression `${{ … }}` takes of a context, as `inputs.run`.
fn used(text: &str, context: &str) -> Vec<String> {
    let begin = format!("{context}.");
    let name = |part: &str| part.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == '_').collect();
    text.split(&begin).skip(1).map(name).collect()
}

#[test]
fn the_action_is_one() {
    let action = yaml(&format!("{ACTION}/action.yml"));
    let text = std::fs::read_to_string(root().join(ACTION).join("action.yml")).unwrap();
    assert_eq!(action["runs"]["using"].as_str(), Some("composite"));
    let inputs = action["inputs"].as_hash().unwrap();
    for (name, input) in inputs {
        assert!(input["description"].as_str().is_some() && input["default"].as_str().is_some(), "{name:?}");
        assert!(used(&text, "inputs").contains(&name.as_str().unwrap().to_owned()), "{name:?} is used");
    }
    for name in used(&text, "inputs") {
        assert!(inputs.contains_key(&Yaml::String(name.clone())), "{name}");
    }
    let steps = list(&action["runs"]["steps"]);
    for step in &steps {
        match (step["run"].as_str(), step["uses"].as_str()) {
            (Some(run), None) => {
                assert_eq!(step["shell"].as_str(), Some("sh"), "{run}");
                // What a user gives is data: it reaches a shell through variables alone.
                assert!(!run.contains("${{"), "{run}");
                if let Some(script) = run.strip_prefix("sh \"$GITHUB_ACTION_PATH/") {
                    assert!(root().join(ACTION).join(script.trim_end_matches('"')).is_file(), "{run}");
                }
            }
            (None, Some(uses)) => assert!(uses.contains("@v"), "{uses}"),
            _ => panic!("a step runs or uses something: {step:?}"),
        }
    }
    let ids: Vec<&str> = steps.iter().filter_map(|step| step["id"].as_str()).collect();
    assert!(used(&text, "steps").iter().all(|id| ids.contains(&id.as_str())), "{ids:?}");
    // What the gate's outputs are called is what its script writes.
    let script = std::fs::read_to_string(root().join(ACTION).join("gate.sh")).unwrap();
    for name in action["outputs"].as_hash().unwrap().keys() {
        assert!(
            script.contains(&format!("output {} ", name.as_str().unwrap()))
                || script.contains(&format!("{}=", name.as_str().unwrap()))
        );
    }
}

#[test]
fn the_workflow_uses_the_action_as_it_is() {
    let workflow = yaml(".github/workflows/warpline.yml");
    let action = yaml(&format!("{ACTION}/action.yml"));
    let steps = list(&workflow["jobs"]["gate"]["steps"]);
    let own = steps.iter().find(|step| step["uses"].as_str() == Some("./.github/actions/warpline")).unwrap();
    for name in own["with"].as_hash().unwrap().keys() {
        assert!(action["inputs"].as_hash().unwrap().contains_key(name), "{name:?}");
    }
    let checkout =
        steps.iter().find(|step| step["uses"].as_str().is_some_and(|uses| uses.contains("checkout"))).unwrap();
    assert_eq!(checkout["with"]["fetch-depth"].as_i64(), Some(0), "ancestors are there");
}

#[test]
fn the_template_is_one() {
    let template = yaml(".gitlab/warpline.gitlab-ci.yml");
    let job = &template[".warpline"];
    assert!(job["before_script"].as_vec().is_some() && job["cache"].as_vec().is_some());
    // GitLab supports these keys of a job; another one is an error there.
    let known = ["image", "variables", "before_script", "rules", "cache", "artifacts"];
    for key in job.as_hash().unwrap().keys() {
        assert!(known.contains(&key.as_str().unwrap()), "{key:?}");
    }
    let lines = list(&job["before_script"]).into_iter().chain(list(&template[".warpline-gate"]["script"]));
    for line in lines {
        let line = line.as_str().expect("a command is text");
        let output = Command::new("sh").args(["-n", "-c", line]).output().unwrap();
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        for word in line.split('"').filter(|word| word.ends_with(".sh")) {
            assert!(root().join(word.trim_start_matches("$WARPLINE_HOME/")).is_file(), "{word}");
        }
    }
}

#[test]
fn scripts_are_plain_and_name_no_host() {
    for entry in std::fs::read_dir(root().join(ACTION)).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("://"), "{}", path.display());
        if path.extension().is_some_and(|extension| extension == "sh") {
            let output = Command::new("sh").arg("-n").arg(&path).output().unwrap();
            assert!(output.status.success() && text.starts_with("#!/bin/sh\n"), "{}", stderr(&output));
        }
    }
}

/// A script as a service runs it: little is set but what the service sets.
fn script(name: &str, folder: &Path, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new("sh");
    command.arg(root().join(ACTION).join(name)).current_dir(folder).env_clear();
    command.env("PATH", path(&[])).env("HOME", folder.join("home")).envs(variables.iter().copied());
    command.output().unwrap()
}

/// The search path with folders before it.
fn path(before: &[&Path]) -> String {
    let before = before.iter().map(|folder| folder.display().to_string());
    before.chain(std::env::var("PATH")).collect::<Vec<_>>().join(":")
}

/// What a script passed to a service: `name=value` by line.
fn described(file: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// A program of a test's own on the search path.
fn stub(folder: &Path, name: &str, text: &str) {
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A stand-in for the sources of Warpline.
fn sources(folder: &Path) -> PathBuf {
    let home = folder.join("warpline");
    for part in ["scripts", "format", "pass", "runtime", "driver", "src", "models", "docs/findings"] {
        std::fs::create_dir_all(home.join(part)).unwrap();
    }
    std::fs::write(home.join("Cargo.toml"), "").unwrap();
    std::fs::write(home.join("Cargo.lock"), "").unwrap();
    std::fs::write(home.join("src/lib.rs"), "one").unwrap();
    stub(&home.join("scripts"), "setup.sh", "echo \"$APT_CONFIG\" >>\"$HOME/setups\"");
    home
}

#[test]
fn the_key_follows_the_sources() {
    let folder = tempfile::tempdir().unwrap();
    let home = sources(folder.path());
    let file = folder.path().join("outputs");
    let variables = [("WARPLINE_HOME", home.to_str().unwrap()), ("GITHUB_OUTPUT", file.to_str().unwrap())];
    let key = || {
        let output = script("key.sh", folder.path(), &variables);
        assert!(output.status.success(), "{}", stderr(&output));
        let described = described(&file);
        assert!(stdout(&output).contains(&format!("key={}", described["key"])));
        assert!(described["cache"].ends_with("home/.cache/warpline-ci"), "{described:?}");
        described["key"].clone()
    };
    let first = key();
    assert_eq!((first.len(), &first), (32, &key()));
    std::fs::write(home.join("src/lib.rs"), "two").unwrap();
    assert_ne!(first, key());
}

#[test]
fn the_set_up_is_made_once_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let home = sources(folder.path());
    let tools = folder.path().join("tools");
    std::fs::create_dir_all(folder.path().join("home")).unwrap();
    let build = "echo \"$*\" >>\"$HOME/builds\"; mkdir -p target/release; for b in warpline warpline-cc; do \
                 printf '#!/bin/sh\\necho stub 1.0\\n' >target/release/$b; chmod 755 target/release/$b; done";
    stub(&tools, "cargo", build);
    let (file, search) = (folder.path().join("path"), path(&[&tools]));
    let variables =
        [("WARPLINE_HOME", home.to_str().unwrap()), ("GITHUB_PATH", file.to_str().unwrap()), ("PATH", &search)];
    for _ in 0..2 {
        let output = script("setup.sh", folder.path(), &variables);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stdout(&output), "stub 1.0\n");
    }
    let builds = std::fs::read_to_string(folder.path().join("home/builds")).unwrap();
    assert_eq!(builds.lines().count(), 1, "{builds}");
    assert!(builds.contains("--release --locked"), "{builds}");
    let cache = folder.path().join("home/.cache/warpline-ci");
    let line = format!("{}\n", cache.join("bin").display());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), line.repeat(2));
    for link in ["warpline-nvcc", "warpline-clang++"] {
        assert_eq!(std::fs::read_link(cache.join("bin").join(link)).unwrap(), Path::new("warpline-cc"));
    }
    // The toolkit's parts go where the cache is kept, and so do packages where the script may install them.
    assert_eq!(std::fs::read_link(folder.path().join("home/.cache/warpline")).unwrap(), cache.join("wheels"));
    let setups = std::fs::read_to_string(folder.path().join("home/setups")).unwrap();
    assert_eq!(setups.lines().count(), 2);
    if let Some(config) = setups.lines().next().filter(|line| !line.is_empty()) {
        let config = std::fs::read_to_string(config).unwrap();
        assert!(config.contains(&format!("Dir::Cache::archives \"{}/apt\"", cache.display())), "{config}");
    }
    stub(&home.join("scripts"), "setup.sh", "echo 'setup: nothing works' >&2; exit 6");
    let output = script("setup.sh", folder.path(), &variables);
    assert_eq!(output.status.code(), Some(6));
}

/// What a gate in a service came to.
struct Gated {
    code: Option<i32>,
    outputs: BTreeMap<String, String>,
    summary: String,
    text: String,
}

/// Runs the gate as a service does, at a commit.
fn gated(place: &StoreFolder, sectors: u64, commit: &str, service: &[(&str, &str)]) -> Gated {
    place.profile("app.wlprof", &moving(sectors));
    let (outputs, summary) = (place.path().join("outputs"), place.path().join("summary"));
    for file in [&outputs, &summary] {
        _ = std::fs::remove_file(file);
    }
    let search = path(&[warpline().parent().unwrap()]);
    let common = [
        ("PATH", search.as_str()),
        ("GITHUB_SHA", commit),
        ("GITHUB_OUTPUT", outputs.to_str().unwrap()),
        ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()),
    ];
    let output = script("gate.sh", place.path(), &[&common, service].concat());
    Gated {
        code: output.status.code(),
        outputs: described(&outputs),
        summary: std::fs::read_to_string(&summary).unwrap_or_default(),
        text: format!("{}{}", stdout(&output), stderr(&output)),
    }
}

const PUSH: [(&str, &str); 2] = [("GITHUB_EVENT_NAME", "push"), ("GITHUB_REF_NAME", "main")];
const PULL: [(&str, &str); 2] = [("GITHUB_EVENT_NAME", "pull_request"), ("GITHUB_REF_NAME", "12/merge")];

#[test]
fn a_project_goes_through_the_gate() {
    let place = StoreFolder::new();
    // The first pull request: nothing is recorded, nothing is kept, nothing is red.
    let first = gated(&place, 128, "aaaaaaa0", &PULL);
    assert_eq!(first.code, Some(0), "{}", first.text);
    assert!(first.summary.contains("no baseline") && !place.store().exists(), "{}", first.summary);
    let pushed = gated(&place, 128, "aaaaaaa1", &PUSH);
    assert_eq!((pushed.code, pushed.outputs["recorded"].as_str()), (Some(0), "true"), "{}", pushed.text);
    let held = gated(&place, 128, "bbbbbbb2", &PULL);
    assert_eq!((held.code, held.outputs["exit-code"].as_str()), (Some(0), "0"), "{}", held.text);
    assert!(held.summary.contains(":white_check_mark:") && !held.outputs.contains_key("recorded"), "{}", held.summary);
    let broken = gated(&place, 256, "ccccccc3", &PULL);
    assert_eq!((broken.code, broken.outputs["exit-code"].as_str()), (Some(5), "5"), "{}", broken.text);
    assert!(broken.summary.contains(":x:") && broken.summary.contains("aaaaaaa1"), "{}", broken.summary);
    for name in ["markdown", "sarif", "benchmark", "json"] {
        let file = place.path().join(&broken.outputs[name]);
        assert!(std::fs::metadata(&file).unwrap().len() > 2, "{}", file.display());
    }
    // A pull request keeps nothing, also where its branch is called as the project's is.
    let fork =
        gated(&place, 256, "ddddddd4", &[("GITHUB_EVENT_NAME", "pull_request_target"), ("GITHUB_REF_NAME", "main")]);
    assert!(!fork.outputs.contains_key("recorded"), "{}", fork.text);
    // What is pushed all the same is red once, and what the next one is held to.
    let pushed = gated(&place, 256, "ccccccc3", &PUSH);
    assert_eq!((pushed.code, pushed.outputs["recorded"].as_str()), (Some(5), "true"), "{}", pushed.text);
    assert_eq!(gated(&place, 256, "eeeeeee5", &PUSH).code, Some(0));
    let text = place.done(&["history", "walk", "global.sectors"]);
    assert!(text.contains("3 recordings, 1 change"), "{text}");
}

#[test]
fn the_gate_is_reported_what_its_user_says() {
    let place = StoreFolder::new();
    std::fs::write(place.path().join("my limits.toml"), "[kernels.walk]\n\"global.sectors\" = { hard = 100 }\n")
        .unwrap();
    let limits = [&PULL[..], &[("WARPLINE_LIMITS", "my limits.toml")]].concat();
    assert_eq!(gated(&place, 128, "aaaaaaa1", &limits).code, Some(5));
    assert_eq!(gated(&place, 99, "aaaaaaa1", &limits).code, Some(0));
    let strict = [&PULL[..], &[("WARPLINE_ALLOW_NO_BASELINE", "false")]].concat();
    assert_eq!(gated(&place, 128, "aaaaaaa1", &strict).code, Some(4));
    let compiler = |text| [&PUSH[..], &[("WARPLINE_COMPILER", text), ("WARPLINE_STORE", "kept here")]].concat();
    assert_eq!(gated(&place, 128, "aaaaaaa1", &compiler("-O2 -arch=sm_80")).code, Some(0));
    assert!(place.path().join("kept here").exists());
    assert_eq!(gated(&place, 128, "bbbbbbb2", &compiler("-O3")).code, Some(2));
    let missing = [&PULL[..], &[("WARPLINE_PROFILES", "*.none")]].concat();
    let output = gated(&place, 128, "aaaaaaa1", &missing);
    assert!(output.code == Some(2) && output.text.contains("there is no profile *.none"), "{}", output.text);
    // GitLab's variables.
    let gitlab = [
        ("CI_COMMIT_REF_NAME", "trunk"),
        ("CI_PIPELINE_SOURCE", "push"),
        ("WARPLINE_BASELINE", "trunk"),
        ("GITHUB_SHA", ""),
        ("CI_COMMIT_SHA", "fffffff6"),
    ];
    let output = gated(&place, 128, "", &gitlab);
    assert!(output.code == Some(0) && output.text.contains("fffffff6 of trunk"), "{}", output.text);
}

#[test]
fn the_examples_are_profiled() {
    let place = StoreFolder::new();
    let tools = place.path().join("tools");
    std::fs::create_dir(&tools).unwrap();
    for tool in [warpline(), warpline_cc()] {
        std::os::unix::fs::symlink(tool, tools.join(tool.file_name().unwrap())).unwrap();
    }
    let output = Command::new("sh")
        .arg(root().join(ACTION).join("examples.sh"))
        .arg("saxpy")
        .current_dir(place.path())
        .env("PATH", path(&[&tools]))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    assert!(place.path().join("profiles/saxpy.wlprof").is_file());
    // Every example that it names is one.
    let text = std::fs::read_to_string(root().join(ACTION).join("examples.sh")).unwrap();
    let names = text.split("set -- ").nth(1).unwrap().lines().next().unwrap();
    for name in names.split_whitespace() {
        assert!(root().join(format!("examples/{name}/{name}.cu")).is_file(), "{name}");
    }
}
