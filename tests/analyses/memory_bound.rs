//! `--memory`: what an analysis gives up, in which order, and that the profile reports it.

use crate::support::{TraceBuilder, demo};
use warpline::analysis::{Analysis, Finish, GivenUp, NoProgress, analyze_for, analyze_with};
use warpline::models;
use warpline::profile::{BuildInput, Profile, RunFacts, build};
use warpline::races::RaceCheck;
use warpline::simulation::Settings;
use warpline::trace::TraceReader;
use warpline_format::device::Device;
use warpline_format::event::Event;

/// A trace with so many batches in each launch.
fn trace(batches: &[usize]) -> Vec<u8> {
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    for (launch, &batches) in (0..).zip(batches) {
        trace.event(Event::Launch(demo::launch(launch)));
        for _ in 0..batches {
            trace.batch(launch, &demo::batch());
        }
        trace.event(demo::end(launch, 0));
    }
    trace.event(Event::End { launches: batches.len() as u64 });
    trace.finish()
}

/// Settings that grant so many bytes to what grows; `None` grants all.
fn settings(growth: Option<u64>, races: RaceCheck) -> Settings {
    let model = models::find("rtx2080ti").unwrap();
    let mut settings = Settings::new(model.hierarchy().unwrap());
    settings.races = races;
    let at_once = settings.least_bytes(1) - (128 << 20);
    settings.memory = growth.map(|growth| at_once + 2 * growth);
    assert_eq!(settings.growth_bytes(), growth);
    settings
}

fn run(trace: &[u8], settings: &Settings, threads: usize) -> Analysis {
    analyze_with(TraceReader::new(trace).unwrap(), threads, Some(settings), &mut NoProgress).unwrap()
}

fn simulated(trace: &[u8], settings: &Settings, threads: usize) -> Analysis {
    let reader = TraceReader::new(trace).unwrap();
    analyze_for(reader, threads, settings, Device::rtx_2080_ti(), &mut NoProgress).unwrap()
}

fn profile(analysis: &Analysis) -> Profile {
    let facts = RunFacts {
        device: "cpu".into(),
        models: vec!["rtx2080ti".into()],
        rates: vec![models::find("rtx2080ti").unwrap().rates()],
        ended_by_itself: true,
        ..RunFacts::default()
    };
    build(BuildInput { analysis, facts })
}

fn notes(profile: &Profile) -> String {
    profile.run.notes.join("\n")
}

#[test]
fn conflicts_are_given_up_first_and_nothing_else_changes() {
    let trace = trace(&[1, 1]);
    let whole = run(&trace, &settings(None, RaceCheck::Full), 1);
    assert!(whole.given_up.is_empty() && whole.conflicts.is_some());
    for threads in [1, 3] {
        let bounded = run(&trace, &settings(Some(256 << 10), RaceCheck::Full), threads);
        assert_eq!((&bounded.finish, bounded.requests), (&Finish::Complete, whole.requests));
        let [GivenUp::Conflicts { launch }] = bounded.given_up[..] else { panic!("{:?}", bounded.given_up) };
        assert!(launch <= 1 && bounded.conflicts.is_some());
        let profile = profile(&bounded);
        assert!(profile.run.complete);
        assert!(notes(&profile).contains("--memory: conflicts between warps were not checked from launch"));
    }
    let enough = run(&trace, &settings(Some(1 << 30), RaceCheck::Full), 1);
    assert!(enough.given_up.is_empty());
}

#[test]
fn a_launch_that_is_too_large_for_another_order_is_left_out() {
    let batch = demo::batch().bytes.len() as u64;
    let trace = trace(&[1, 1, 1]);
    let whole = simulated(&trace, &settings(None, RaceCheck::Sampled), 1);
    assert_eq!(whole.left_out.len(), 0);
    // Room for nothing of any launch.
    let bounded = simulated(&trace, &settings(Some(batch), RaceCheck::Sampled), 2);
    assert_eq!(bounded.left_out.len(), 3, "{:?}", bounded.left_out);
    assert_eq!((&bounded.finish, bounded.requests), (&Finish::Complete, 0));
    let profile = profile(&bounded);
    assert!(!profile.run.complete);
    assert!(notes(&profile).contains("take more memory than --memory grants"), "{}", notes(&profile));
}

#[test]
fn where_nothing_is_left_to_give_up_the_profile_has_what_came_before() {
    let trace = trace(&[1, 1, 1]);
    let bounded = run(&trace, &settings(Some(0), RaceCheck::Full), 1);
    assert_eq!(bounded.finish, Finish::OutOfMemory);
    let whole = run(&trace, &settings(None, RaceCheck::Full), 1);
    assert!(bounded.requests < whole.requests);
    let profile = profile(&bounded);
    assert!(!profile.run.complete);
    assert!(notes(&profile).contains("--memory: what is known"), "{}", notes(&profile));
}
