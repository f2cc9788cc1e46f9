//! Changes inputs at random and runs an entry on them, on stable Rust and without coverage: for a few seconds in `make
//! test`, and for minutes in `make test-all`. An input that panics or takes too much time or memory is stored in a
//! file.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The maximum time for one input, in seconds, with the slow code of tests on a busy machine.
const MOST_SECONDS: u64 = 30;
/// The maximum size of a generated input in bytes.
const MOST_BYTES: usize = 1 << 16;

/// SplitMix64 by Sebastiano Vigna, which is small and good enough to select positions.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Creates an input from `seeds`.
pub type Change = fn(&[Vec<u8>], &mut Random) -> Vec<u8>;

/// Runs `entry` on changed `seeds` for a number of rounds, with the same inputs in every run.
pub fn run(name: &str, seeds: &[Vec<u8>], rounds: u64, entry: fn(&[u8])) {
    run_with(changed, name, seeds, rounds, entry);
}

/// The variant of [`run`] with changes of another kind.
pub fn run_with(change: Change, name: &str, seeds: &[Vec<u8>], rounds: u64, entry: fn(&[u8])) {
    inputs(change, name, seeds, Some(rounds), Duration::MAX, 1, entry);
}

/// Runs `entry` on changed `seeds` for `WARPLINE_FUZZ_SECONDS` (default: two minutes). The start value is
/// `WARPLINE_FUZZ_SEED` (default: different each time).
pub fn at_length(name: &str, seeds: &[Vec<u8>], entry: fn(&[u8])) {
    at_length_with(changed, name, seeds, entry);
}

/// The variant of [`at_length`] with changes of another kind.
pub fn at_length_with(change: Change, name: &str, seeds: &[Vec<u8>], entry: fn(&[u8])) {
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |now| now.as_secs());
    let seconds = Duration::from_secs(number("WARPLINE_FUZZ_SECONDS").unwrap_or(120));
    inputs(change, name, seeds, None, seconds, number("WARPLINE_FUZZ_SEED").unwrap_or_else(now), entry);
}

fn inputs(
    change: Change,
    name: &str,
    seeds: &[Vec<u8>],
    rounds: Option<u64>,
    seconds: Duration,
    seed: u64,
    entry: fn(&[u8]),
) {
    let begun = Instant::now();
    limit_memory();
    let kept = std::env::temp_dir().join(format!("warpline-fuzz-{name}.{}", std::process::id()));
    let watch = Watch::new(name, kept.clone());
    seeds.iter().for_each(|seed| entry(seed));
    let mut random = Random(seed);
    let mut round = 0;
    while rounds.is_none_or(|rounds| round < rounds) && begun.elapsed() < seconds {
        let input = change(seeds, &mut random);
        std::fs::write(&kept, &input).expect("room for the input");
        watch.begin();
        if let Err(panic) = std::panic::catch_unwind(|| entry(&input)) {
            eprintln!("{name}: seed {seed}, round {round}: the input is {}", kept.display());
            std::panic::resume_unwind(panic);
        }
        watch.end();
        round += 1;
    }
    _ = std::fs::remove_file(&kept);
    eprintln!("{name}: {round} inputs from seed {seed}");
}

/// Returns an input with a few changes.
fn changed(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = seeds[random.below(seeds.len())].clone();
    for _ in 0..1 + random.below(4) {
        alter(&mut input, seeds, random);
    }
    input.truncate(MOST_BYTES);
    input
}

fn alter(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len());
    let length = (1 + random.below(64)).min(input.len() - at);
    match random.below(9) {
        0 if !input.is_empty() => input[at] ^= 1 << random.below(8),
        1 if !input.is_empty() => input[at] = random.next() as u8,
        // Numbers at the ends of their ranges, both plain and in postcard's encoding.
        2 if !input.is_empty() => {
            let width = [1, 2, 4, 8][random.below(4)].min(input.len() - at);
            let value = [0, u64::MAX, 1 << 31, 1 << 63, 0x7fff_ffff, i64::MAX as u64, 1, 0x8000][random.below(8)];
            input[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
        3 if !input.is_empty() => {
            let width = 9.min(input.len() - at);
            input[at..at + width].fill(0xff);
            input.insert(at + width, 1);
        }
        4 => _ = input.drain(at..at + length),
        5 => {
            let piece = input[at..at + length].to_vec();
            input.splice(at..at, piece);
        }
        // A piece of another input.
        6 => {
            let other = &seeds[random.below(seeds.len())];
            let from = random.below(other.len());
            let piece = &other[from..(from + 1 + random.below(512)).min(other.len())];
            let end = if random.below(2) == 0 { at } else { (at + piece.len()).min(input.len()) };
            input.splice(at..end, piece.iter().copied());
        }
        7 => input.truncate(at),
        _ => input
            .splice(at..at, (0..1 + random.below(8)).map(|_| random.next() as u8).collect::<Vec<_>>())
            .for_each(drop),
    }
}

/// Ends the process if an input takes too long, because nothing else ends an endless loop.
struct Watch(Arc<AtomicU64>, Instant);

impl Watch {
    fn new(name: &str, kept: PathBuf) -> Watch {
        let begun = Arc::new(AtomicU64::new(0));
        let watch = Watch(Arc::clone(&begun), Instant::now());
        let (name, start) = (name.to_owned(), watch.1);
        std::thread::spawn(move || {
            while Arc::strong_count(&begun) > 1 {
                std::thread::sleep(Duration::from_millis(200));
                let at = begun.load(Ordering::Relaxed);
                if at != 0 && start.elapsed().as_secs() > at + MOST_SECONDS {
                    eprintln!("{name}: it takes more than {MOST_SECONDS} s: the input is {}", kept.display());
                    std::process::abort();
                }
            }
        });
        watch
    }

    fn begin(&self) {
        self.0.store(self.1.elapsed().as_secs().max(1), Ordering::Relaxed);
    }

    fn end(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// Limits memory to a few gigabytes, so that an input that requests all memory is found without harm to other
/// processes.
fn limit_memory() {
    let limit = libc::rlimit { rlim_cur: 6 << 30, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the call lowers a limit of this process.
    unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
}
