//! What a run takes from the GPU model: its choice, registers, the size of L1, and misses that closed forms give.

use super::programs::{profile, report, sources_of};
use super::reproducible::trace_and_profile;
use crate::support_programs::{build, root, run, warpline, warpline_cc, work_folder};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Without `--gpu` the profile is of the GPU that the program's code was built for.
#[test]
fn the_model_follows_the_architecture() {
    let folder = work_folder("default_model");
    let model = |arch: &str| {
        let flags = ["-O2".to_owned(), format!("-arch={arch}")];
        let program = build(&[root().join("examples/saxpy/saxpy.cu")], &flags, &folder);
        let outcome = profile(&program, &["4096".to_owned()], &folder);
        assert!(outcome.status.success(), "{}", outcome.describe());
        let run = report(&folder)["run"].clone();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&run["models"][0]), text(&run["assumptions"]["model_chosen"]))
    };
    assert_eq!(model("sm_90"), ("h100".into(), "the program was built for sm_90".into()));
    // Where the toolkit is too new for the requested architecture, the model is that of the code that runs, and that is
    // reported.
    let option = model("sm_20");
    assert_eq!(option, ("rtx2080ti".into(), "the code of sm_75 runs, although sm_20 was requested".into()));
    let notes = report(&folder)["run"]["notes"].to_string();
    assert!(notes.contains("--gpu gtx480"), "{notes}");
    // By hand as well: the same rule. Without a place for the trace the program runs natively and silently.
    let traces = || {
        let files = std::fs::read_dir(&folder).expect("the test's folder").flatten().map(|entry| entry.path());
        files.filter(|path| path.extension().is_some_and(|end| end == "wltrace")).collect::<Vec<_>>()
    };
    let mut command = Command::new(folder.join("program"));
    let by_hand = run(command.arg("4096"), &folder, "by_hand");
    assert!(by_hand.status.success() && by_hand.stderr.is_empty() && traces().is_empty(), "{}", by_hand.describe());
    let by_hand = run(command.env("WARPLINE_TRACE", "."), &folder, "by_hand");
    assert!(by_hand.status.success() && traces().len() == 1, "{}", by_hand.describe());
    let trace = traces().remove(0);
    let named = folder.join("named.wltrace");
    let by_hand = run(command.env("WARPLINE_TRACE", &named).env("WARPLINE", "0"), &folder, "by_hand");
    assert!(by_hand.status.success() && !named.exists(), "{}", by_hand.describe());
    let by_hand = run(command.env_remove("WARPLINE"), &folder, "by_hand");
    assert!(by_hand.status.success() && named.is_file(), "{}", by_hand.describe());
    let simulated = folder.join("by_hand.wlprof");
    let sim = run(Command::new(warpline()).arg("sim").arg(&trace).arg("-o").arg(&simulated), &folder, "sim");
    assert!(sim.status.success(), "{}", sim.describe());
    let json =
        run(Command::new(warpline()).args(["report", "--format", "json"]).arg(&simulated), &folder, "by_hand_json");
    let document: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(document["run"]["models"][0], "rtx2080ti");
}

/// Registers are those of the code as it is built without hooks and debug information, each model's of its own
/// architecture, in a run and in `sim`, unless they are stated.
#[test]
fn registers_are_those_of_the_code_that_runs_on_a_gpu() {
    let folder = work_folder("registers");
    let source = root().join("examples/matmul/matmul.cu");
    let printed = |program: &Path, arguments: &[&str]| {
        let outcome = run(Command::new(program).args(arguments), &folder, "tool");
        assert!(outcome.status.success(), "{program:?} {arguments:?}: {}", outcome.describe());
        outcome.stdout + &outcome.stderr
    };
    // What the user's own build has, without any of our passes.
    printed(warpline_cc(), &["-ptx", "-O3", "-arch=sm_75", "-o", "plain.ptx", source.to_str().expect("a plain path")]);
    let ptxas = Path::new(printed(warpline_cc(), &["--warpline-toolkit"]).trim()).join("bin/ptxas");
    let models = [("rtx2080ti", "sm_75", 37), ("a100", "sm_80", 32), ("rtx3090", "sm_86", 36)];
    let counts = models.map(|(_, architecture, known)| {
        let text = printed(&ptxas, &["-v", "-arch", architecture, "plain.ptx", "-o", "plain.cubin"]);
        let used = text.split("Used ").nth(1).and_then(|rest| rest.split(' ').next()).and_then(|n| n.parse().ok());
        let used: u64 = used.unwrap_or_else(|| panic!("{text}"));
        if printed(&ptxas, &["--version"]).contains("V13.0.88") {
            assert_eq!(used, known, "{architecture}");
        }
        used
    });
    let flags = ["-O3", "-lineinfo", "-arch=sm_75"].map(str::to_owned);
    let program = build(&[source], &flags, &folder);
    let mut command = Command::new(warpline());
    command.args(["run", "--gpu", "rtx2080ti", "--trace", "kept.wltrace", "-o", "profile.wlprof", "--"]).arg(&program);
    let outcome = run(command.arg("64"), &folder, "profiled");
    assert!(outcome.status.success(), "{}", outcome.describe());
    let launch = || {
        let report = report(&folder);
        let launch = &report["kernels"][0]["launches"][0];
        let number = |key: &str| launch[key].as_u64();
        let about = |key: &str| report["run"]["assumptions"][key].as_str().unwrap_or_default().to_owned();
        ((number("registers"), number("resident_blocks")), about("occupancy"), about("registers"))
    };
    for (index, (model, architecture, _)) in models.into_iter().enumerate() {
        if index > 0 {
            printed(warpline(), &["sim", "kept.wltrace", "--gpu", model, "-o", "profile.wlprof"]);
        }
        let ((registers, _), occupancy, text) = launch();
        assert_eq!((registers, occupancy.as_str()), (Some(counts[index]), "ptxas"), "{model}");
        assert_eq!(text, format!("as built for {architecture}"));
    }
    // No ptxas makes code for a K40c.
    printed(warpline(), &["sim", "kept.wltrace", "--gpu", "k40c", "-o", "profile.wlprof"]);
    let (_, occupancy, text) = launch();
    assert!(occupancy == "assumed" && text.contains("the nearest to sm_35"), "{occupancy} {text}");
    printed(warpline(), &["sim", "kept.wltrace", "--registers", "128", "-o", "profile.wlprof"]);
    assert_eq!(launch(), ((Some(128), Some(2)), "stated".into(), "stated: 128 per thread".into()));
    let run_stated =
        ["run", "--occupancy", "3", "-o", "profile.wlprof", "--", program.to_str().expect("a plain path"), "64"];
    printed(warpline(), &run_stated);
    let ((registers, blocks), occupancy, _) = launch();
    assert_eq!((registers, blocks, occupancy.as_str()), (Some(counts[0]), Some(3), "stated"));
}

/// Registers on architectures for which the program was not built are assembled when a run or a prediction asks for them,
/// and are those of its own code for the other architecture.
#[test]
fn registers_of_other_models_are_found_when_they_are_asked_for() {
    let folder = work_folder("further-registers");
    let flags = |architecture: &str| ["-O3", "-lineinfo", architecture].map(str::to_owned);
    let program = build(&[root().join("examples/matmul/matmul.cu")], &flags("-arch=sm_75"), &folder);
    let profiled = |models: &str| -> Value {
        let mut command = Command::new(warpline());
        command.args(["run", "--gpu", models, "-o", "profile.wlprof", "--"]).arg(&program).arg("64");
        let outcome = run(&mut command, &folder, "profiled");
        assert!(outcome.status.success(), "{}", outcome.describe());
        report(&folder)
    };
    let known = |report: &Value| -> Vec<(u64, u64)> {
        let rows = report["kernels"][0]["addresses"]["resources"].as_array().expect("registers");
        rows.iter().map(|row| (row["architecture"].as_u64().unwrap(), row["registers"].as_u64().unwrap())).collect()
    };
    let own = known(&profiled("rtx2080ti"));
    assert_eq!(own.iter().map(|one| one.0).collect::<Vec<_>>(), [75]);
    let report = profiled("a100");
    let [_, (80, registers)] = known(&report)[..] else { panic!("{:?}", known(&report)) };
    // 37 on sm_75; `registers_are_those_of_the_code_that_runs_on_a_gpu` compares both with the user's own build.
    assert!(registers < own[0].1, "{registers}");
    assert_eq!(report["kernels"][0]["launches"][0]["registers"], registers);
    let assumptions = &report["run"]["assumptions"];
    assert_eq!((&assumptions["occupancy"], &assumptions["registers"]), (&"ptxas".into(), &"as built for sm_80".into()));
    let all: Vec<u64> = known(&profiled("h100,rtx2080ti,b200")).into_iter().map(|one| one.0).collect();
    assert_eq!(all, [75, 90, 100]);

    profiled("rtx2080ti");
    let predicted = |model: &str| -> (Value, String) {
        let mut command = Command::new(warpline());
        command.args(["predict", "profile.wlprof", "--kernel", "matmul_tiled", "--block", "16x16", "--format", "json"]);
        let outcome = run(command.args(["--gpu", model]), &folder, "predicted");
        assert!(outcome.status.success(), "{}", outcome.describe());
        let document: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        (document["configurations"][0]["blocks_per_sm"].clone(), document["assumptions"].to_string())
    };
    // 256 threads with 32 registers each: eight blocks have all 2048 threads of an SM.
    let (blocks, assumptions) = predicted("a100");
    assert!(blocks == 8 && !assumptions.contains("registers"), "{blocks} {assumptions}");
    std::fs::remove_file(&program).expect("the program was there");
    let (blocks, assumptions) = predicted("a100");
    assert!(blocks == 6 && assumptions.contains("registers are those on sm_75"), "{blocks} {assumptions}");
}

/// L1 has the size that the program prefers, and Kepler's holds global loads only if the program was compiled for that.
#[test]
fn l1_follows_what_the_program_prefers() {
    let folder = work_folder("cache_preference_models");
    let hits = |executable: &Path, model: &str| {
        let (_, report) = trace_and_profile(executable, &["--gpu", model], &[], &folder);
        let kernels = report["kernels"].as_array().expect("kernels");
        kernels
            .iter()
            .map(|kernel| kernel["metrics"]["global"]["l1"]["load_hits"].as_u64().unwrap_or(0))
            .collect::<Vec<_>>()
    };
    let flags = |more: &[&str]| ["-O2"].iter().chain(more).map(|flag| (*flag).to_owned()).collect::<Vec<_>>();
    let program = build(&sources_of("cache_preference"), &flags(&[]), &folder);
    // Three of the four rounds hit in 48 KiB, few loads in 16; Fermi has no even division.
    let fermi = hits(&program, "gtx480");
    assert!(fermi[1] == 600 && fermi[0] < 300 && [fermi[2], fermi[3]] == [fermi[0]; 2], "{fermi:?}");
    // 120 KiB, or 24 where shared memory takes 96 of them. A request has four sectors.
    let volta = hits(&program, "v100");
    assert!([volta[0], volta[1], volta[3]] == [2400; 3] && volta[2] < 2400, "{volta:?}");
    assert_eq!(hits(&program, "k40c"), [0; 4]);
    let program = build(&sources_of("cache_preference"), &flags(&["-Xptxas", "-dlcm=ca"]), &folder);
    let kepler = hits(&program, "k40c");
    assert!([kepler[1], kepler[3]] == [2400; 2] && kepler[0] < 1200 && kepler[2] == kepler[0], "{kepler:?}");
    let program = build(&sources_of("cache_preference"), &flags(&["-Xptxas", "-dlcm=cg"]), &folder);
    assert_eq!(hits(&program, "v100"), [0; 4]);
}

/// DELTA's pointer chases (Zhang and Shcherbakov, MEMSYS 2020) through the whole tool: misses of the loads at L1 and 2,
/// as their closed forms have them. Sizes and strides are in integers of 4 bytes.
#[test]
fn pointer_chases_miss_as_their_closed_forms_say() {
    const K: u64 = 1024;
    let folder = work_folder("pointer_chases");
    let executable = build(&sources_of("chase"), &["-O2".to_owned()], &folder);
    let misses = |model: &str, chase: [u64; 4]| {
        let mut command = Command::new(warpline());
        command.args(["run", "--gpu", model, "--l2-copies", "cold", "-o"]).arg(folder.join("profile.wlprof"));
        command.arg("--").arg(&executable).args(chase.map(|number| number.to_string()));
        let outcome = run(&mut command, &folder, "profiled");
        assert!(outcome.status.success(), "{model} {chase:?}: {}", outcome.describe());
        let report = report(&folder);
        // The compiler unrolls the loop: the load has several sites.
        let sites = report["sites"].as_array().into_iter().flatten();
        let loads: Vec<&Value> = sites.filter(|site| site["op"] == "load").map(|site| &site["metrics"]).collect();
        let sum = |of: &dyn Fn(&Value) -> Option<u64>| -> u64 { loads.iter().filter_map(|load| of(load)).sum() };
        let level = |name: &str| {
            let count = |what: &str| sum(&|load| load[name][what].as_u64());
            count("load_lookups") - count("load_hits")
        };
        assert_eq!(sum(&|load| load["requests"].as_u64()), chase[2], "{model} {chase:?}");
        [level("l1"), level("l2")]
    };
    for model in ["vega10", "vega20"] {
        // Lines of 64 bytes, 16 KiB of L1 in four sets, 4 MiB of L2.
        for s in [1, 16, 64] {
            let first = 64 / s.max(16);
            assert_eq!(misses(model, [64, s, 8 * K, 0]), [first, first], "{model}: all hits at L1, stride {s}");
        }
        let (n, m) = (64 * K, 64 * K);
        for s in [1, 4, 16, 256] {
            let l1 = if s < 16 { m * s / 16 } else { m };
            let l2 = n / s.max(16);
            assert_eq!(misses(model, [n, s, m, 0]), [l1, l2], "{model}: misses L1, stride {s}");
        }
        let n = 2048 * K;
        assert_eq!(misses(model, [n, 16, 2 * n / 16, 0]), [n / 8, n / 8], "{model}: misses both levels");
    }
    // Sectors of 32 bytes; three quarters of L1 are walked three times. What goes past it looks nothing up there.
    for (model, n) in [("v100", 20 * K), ("rtx2080ti", 10 * K), ("a100", 20 * K)] {
        for s in [1, 8, 64] {
            let first = n / s.max(8);
            assert_eq!(misses(model, [n, s, 3 * n / s, 0]), [first, first], "{model}: fits L1, stride {s}");
        }
        let n = 256 * K;
        assert_eq!(misses(model, [n, 8, 2 * n / 8, 1]), [0, n / 8], "{model}: past L1, within L2");
    }
}

/// The chases of `warpline validate`, on two models.
#[test]
fn simulated_caches_miss_as_their_closed_forms_say() {
    let folder = work_folder("validate");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/validate/chases.cu");
    let program = build(&[source], &["-O2".to_owned()], &folder);
    for model in ["v100", "rtx2080ti"] {
        let mut command = Command::new(warpline());
        command.args(["validate", "--gpu", model, "--format", "json", "--program"]).arg(&program);
        let outcome = run(&mut command, &folder, "validated");
        assert!(outcome.status.success(), "{model}: {}", outcome.describe());
        let document: Value = serde_json::from_str(&outcome.stdout).expect("a JSON document");
        let cases = document["cases"].as_array().expect("cases");
        assert!(cases.len() > 10, "{model}");
        for case in cases {
            for level in ["l1", "l2"] {
                let of = &case[level];
                assert!(of["closed_form"].is_null() || of["closed_form"] == of["simulated"], "{model}: {case}");
            }
        }
    }
}
