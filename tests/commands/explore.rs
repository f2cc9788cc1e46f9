//! Sessions: keys go in, the picture of a terminal comes out.

#[path = "../support/recording.rs"]
mod recording;

use std::process::Command;

use crate::support::demo_profile::{demo_profile, profile_with_a_finding};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use warpline::explore::{Action, Profiles, Session, draw};
use warpline::profile::Profile;

/// A session in a terminal of a size.
struct Screen {
    session: Session,
    terminal: Terminal<TestBackend>,
}

impl Screen {
    fn new(profile: Profile, before: Option<Profile>, columns: u16, rows: u16) -> Screen {
        let terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let mut screen = Screen { session: Session::new(Profiles { profile, before }), terminal };
        screen.draw();
        screen
    }

    /// Types keys; words in brackets are keys with names.
    fn keys(&mut self, keys: &str) -> Action {
        let mut last = Action::Draw;
        let mut rest = keys;
        while let Some(first) = rest.chars().next() {
            let (code, after) = match rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
                Some((name, after)) => (named(name), after),
                None => (KeyCode::Char(first), &rest[first.len_utf8()..]),
            };
            rest = after;
            last = self.session.key(KeyEvent::new(code, KeyModifiers::NONE));
            self.draw();
        }
        last
    }

    fn draw(&mut self) {
        self.terminal.draw(|frame| draw(&mut self.session, frame, false)).unwrap();
    }

    /// What is seen, without blanks at the ends of lines.
    fn text(&self) -> String {
        let buffer = self.terminal.backend().buffer();
        let rows = buffer.content.chunks(usize::from(buffer.area.width));
        let rows =
            rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned() + "\n");
        rows.collect()
    }

    fn shows(&self, text: &str) -> bool {
        self.text().contains(text)
    }
}

fn named(name: &str) -> KeyCode {
    match name {
        "enter" => KeyCode::Enter,
        "back" => KeyCode::Backspace,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "end" => KeyCode::End,
        "home" => KeyCode::Home,
        "pagedown" => KeyCode::PageDown,
        other => panic!("no key {other}"),
    }
}

/// The source lies in a folder of another name each time.
fn described(screen: &Screen) -> String {
    regex::Regex::new(r"\S*/columns\.cu").unwrap().replace_all(&screen.text(), "columns.cu").into_owned()
}

#[test]
fn a_session_goes_from_the_finding_to_its_line_and_allocation() {
    for (size, columns, rows) in [("small", 80, 24), ("large", 200, 60)] {
        let mut screen = Screen::new(profile_with_a_finding(), None, columns, rows);
        insta::assert_snapshot!(format!("begin_{size}"), described(&screen));
        screen.keys("<enter>");
        insta::assert_snapshot!(format!("finding_{size}"), described(&screen));
        screen.keys("<down><down><enter>");
        assert!(screen.shows("ALLOCATION"), "{}", screen.text());
        screen.keys("<back><back>3");
        insta::assert_snapshot!(format!("lines_{size}"), described(&screen));
        screen.keys("5");
        insta::assert_snapshot!(format!("calls_{size}"), described(&screen));
        screen.keys("2<enter>");
        insta::assert_snapshot!(format!("kernel_{size}"), described(&screen));
        screen.keys("?");
        insta::assert_snapshot!(format!("keys_{size}"), described(&screen));
        assert_eq!(screen.keys("q"), Action::Leave);
    }
}

#[test]
fn lists_sort_by_the_column_that_is_chosen_and_the_other_way_round() {
    let mut screen = Screen::new(demo_profile(), None, 120, 30);
    screen.keys("4");
    let names = |screen: &Screen| {
        let text = screen.text();
        let rows = text.lines().skip(3).take_while(|row| !row.is_empty());
        rows.map(|row| row.split_whitespace().last().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let by_traffic = names(&screen);
    assert!(by_traffic.len() > 2, "{}", screen.text());
    // The size is the first column.
    screen.keys("<left><left><left>s");
    assert!(screen.shows("↓size"), "{}", screen.text());
    let by_size = names(&screen);
    screen.keys("s");
    assert!(screen.shows("↑size"), "{}", screen.text());
    let mut turned = names(&screen);
    turned.reverse();
    assert_eq!(by_size.first(), turned.first());
    screen.keys("r");
    assert_eq!(names(&screen), by_size);
}

#[test]
fn a_filter_leaves_the_rows_that_have_its_words() {
    let mut screen = Screen::new(demo_profile(), None, 100, 30);
    screen.keys("4/MATRIX<enter>");
    assert!(screen.shows("d_matrix") && !screen.shows("d_sums"), "{}", screen.text());
    assert!(screen.shows("only rows with `MATRIX`"));
    screen.keys("/nothing like it<enter><down><enter>s");
    assert!(!screen.shows("d_matrix"));
    screen.keys("<esc>");
    assert!(screen.shows("d_matrix") && screen.shows("d_sums"), "{}", screen.text());
}

#[test]
fn the_editor_opens_at_the_line_of_the_row_or_of_the_page() {
    let profile = profile_with_a_finding();
    let finding = profile.findings[0].clone();
    let mut screen = Screen::new(profile, None, 100, 30);
    let wanted = Action::Edit { file: finding.file.clone(), line: finding.line };
    assert_eq!(screen.keys("e"), wanted);
    assert_eq!(screen.keys("<enter><end>e"), wanted);
    // The keys' page stands nowhere.
    assert_eq!(screen.keys("?e"), Action::Draw);
    assert!(screen.shows("no line of source belongs to this"));
}

#[test]
fn a_comparison_tells_what_changed_and_where() {
    let (before, mut after) = (profile_with_a_finding(), profile_with_a_finding());
    let global = after.kernels[0].metrics.get_mut("global").unwrap();
    (global.sectors, global.requests) = (global.sectors / 4, global.requests / 2);
    after.findings.clear();
    let mut screen = Screen::new(after, Some(before), 100, 40);
    screen.keys("6");
    let text = screen.text();
    assert!(text.contains("FINDINGS that changed") && text.contains("gone"), "{text}");
    assert!(text.contains("global sectors") && text.contains("4.00 x less, better"), "{text}");
    // From a kernel's page to its changes, and from there to the kernel.
    screen.keys("2<enter>c");
    assert!(screen.shows("CHANGES here") && screen.shows("4.00 x less, better"), "{}", screen.text());
    screen.keys("<enter>");
    assert!(screen.shows("KERNEL columns"), "{}", screen.text());
    let mut alone = Screen::new(demo_profile(), None, 100, 40);
    alone.keys("c");
    assert!(alone.shows("give a second profile"), "{}", alone.text());
}

#[test]
fn an_incomplete_profile_says_so_on_every_page() {
    let mut profile = demo_profile();
    profile.run.complete = false;
    profile.run.notes.push("the trace ends early: 3 launches are missing".to_owned());
    let mut screen = Screen::new(profile, None, 80, 24);
    assert!(screen.shows("INCOMPLETE") && screen.shows("the trace ends early"), "{}", screen.text());
    for keys in ["2", "<enter>", "3", "4", "5"] {
        screen.keys(keys);
        assert!(screen.shows("incomplete"), "{}", screen.text());
    }
}

#[test]
fn without_sources_and_without_anything_there_is_still_a_session() {
    let mut profile = profile_with_a_finding();
    profile.sources.clear();
    let mut screen = Screen::new(profile, None, 80, 24);
    screen.keys("<enter><enter>");
    assert!(screen.shows("KERNELS that run it") || screen.shows("nothing is recorded"), "{}", screen.text());
    let mut nothing = demo_profile();
    nothing.kernels.clear();
    nothing.lines.clear();
    nothing.sites.clear();
    nothing.allocations.clear();
    nothing.branches.clear();
    nothing.findings.clear();
    let mut screen = Screen::new(nothing, None, 80, 24);
    for tab in ["1", "2", "3", "4", "5", "6"] {
        screen.keys(tab);
        screen.keys("<down><up><pagedown><home><end><right><left>s<enter>r<esc>/x<enter> *ec<back>");
    }
    assert!(screen.shows("Findings"), "{}", screen.text());
}

#[test]
fn names_of_the_program_do_not_steer_the_terminal() {
    let mut profile = demo_profile();
    let hostile = "a\x1b[2J\x1b]0;title\x07\u{202e}b\tc\n界".to_owned();
    profile.kernels[0].name.clone_from(&hostile);
    profile.allocations[0].name = Some(hostile.clone());
    profile.run.notes.push(hostile.clone());
    profile.run.program = vec![hostile.clone()];
    let file = profile.lines[0].file.clone();
    for text in profile.sources.get_mut(&file).unwrap().values_mut() {
        text.clone_from(&hostile);
    }
    let mut screen = Screen::new(profile, None, 80, 24);
    for keys in ["1", "<end>", "2", "<enter>", "3", "<enter>", "4", "<enter>", "5", "*", "<end>"] {
        screen.keys(keys);
        let text = screen.text();
        let hidden =
            text.chars().find(|&character| character != '\n' && warpline_format::visible::is_hidden(character));
        assert_eq!(hidden, None, "{text}");
    }
    screen.keys("3<home><enter>");
    assert!(screen.shows("\\x1b[2J"), "{}", screen.text());
}

#[test]
fn tiny_terminals_are_no_error() {
    for (columns, rows) in [(1, 1), (5, 3), (20, 6), (40, 10)] {
        let mut screen = Screen::new(profile_with_a_finding(), None, columns, rows);
        for keys in ["<down>", "<enter>", "<end>", "2", "<enter>", "<pagedown>", "5*", "?"] {
            screen.keys(keys);
        }
    }
}

/// Every page that can be reached by following rows, from every list: none of them panics or leads in a circle of itself.
#[test]
fn every_row_leads_somewhere() {
    let profile = profile_with_a_finding();
    for tab in ["1", "2", "3", "4", "5"] {
        for row in 0..12 {
            let mut screen = Screen::new(profile.clone(), None, 120, 40);
            screen.keys(tab);
            screen.keys(&"<down>".repeat(row));
            for step in 0..4 {
                screen.keys("<enter>");
                screen.keys(&"<down>".repeat((row + step) % 5));
                assert!(!screen.shows("nothing is recorded of it"), "{}", screen.text());
            }
        }
    }
}

fn warpline() -> Command {
    Command::new(env!("CARGO_BIN_EXE_warpline"))
}

/// The profile of a worked case and of its cure, as made in a folder that is called the same everywhere.
fn case(name: &str) -> (Profile, Profile) {
    let folder = crate::support_programs::work_folder("recording");
    let source = crate::support_programs::root().join("examples/cases").join(name);
    let profiled = |output: &str, flags: &[String]| {
        let program = crate::support_programs::build(std::slice::from_ref(&source), flags, &folder);
        let file = folder.join(output);
        let mut command = warpline();
        command.arg("run").arg("-o").arg(&file).arg("--").arg(&program);
        let outcome = crate::support_programs::run(&mut command, &folder, output);
        assert!(outcome.status.success(), "{}", outcome.describe());
        let profile = warpline::profile::read(&file).unwrap();
        let text = serde_json::to_string(&profile).unwrap();
        let text = text.replace(crate::support_programs::root().to_str().unwrap(), "/warpline");
        let text = text.replace(&format!("{}/program", folder.display()), "/warpline/program");
        serde_json::from_str(&text).unwrap()
    };
    let optimised = "-O2".to_owned();
    (
        profiled("before", std::slice::from_ref(&optimised)),
        profiled("after", &[optimised.clone(), "-DFIXED".to_owned()]),
    )
}

/// The recording in the README; written anew with `WARPLINE_WRITE_DOCS=1`.
#[test]
fn the_recording_shows_what_a_session_shows() {
    let (before, after) = case("swapped_indices.cu");
    let mut scenes = Vec::new();
    let mut record = |screen: &mut Screen, keys: &[(&str, f64)]| {
        for (keys, seconds) in keys {
            screen.keys(keys);
            screen.terminal.draw(|frame| draw(&mut screen.session, frame, true)).unwrap();
            let screen = screen.terminal.backend().buffer().clone();
            scenes.push(recording::Scene { screen, seconds: *seconds });
        }
    };
    // From the finding to its line and the allocation, then what the cure changed.
    let mut first = Screen::new(before.clone(), None, 100, 26);
    let tour =
        [("", 2.5), ("<enter>", 4.0), ("<enter>", 3.0), ("<back><down><down>", 1.5), ("<enter>", 3.5), ("5", 2.0)];
    record(&mut first, &tour);
    let mut second = Screen::new(after, Some(before), 100, 26);
    record(&mut second, &[("6", 4.0), ("2c", 2.5)]);
    let title = "warpline explore: from a finding to its line and allocation, and what the cure changed";
    let svg = recording::svg(&scenes, title);
    let file = crate::support_programs::root().join("docs/pictures/explore.svg");
    if std::env::var_os("WARPLINE_WRITE_DOCS").is_some() {
        std::fs::write(&file, &svg).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap_or_default(), svg, "make docs writes it anew");
}

#[test]
fn a_real_terminal_is_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("demo.wlprof");
    warpline::profile::write(&profile_with_a_finding(), &file).unwrap();
    // Without a terminal there is no session.
    let output = warpline().arg("explore").arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("explore needs a terminal"));
    // `script` gives it one.
    let command = format!("stty rows 24 cols 80; {} explore {}", env!("CARGO_BIN_EXE_warpline"), file.display());
    let mut child = Command::new("script")
        .args(["-qfec", &command, "/dev/null"])
        .env("TERM", "xterm")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut keys = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut keys, b"2q").unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("KERNELS"), "{text}");
    // The alternate screen is left at the end, and the cursor is back.
    let (entered, left) = (text.rfind("\x1b[?1049h").unwrap(), text.rfind("\x1b[?1049l").unwrap());
    assert!(entered < left && text.contains("\x1b[?25h"), "{text:?}");
}
