//! How it is timed: in turns, by the processor's time of the thread where the system tells it, and the median counts.

use std::fs;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::contestant::Contestant;
use crate::documents::Document;

/// Rounds; each gives one figure of everybody.
const ROUNDS: usize = 15;

/// How long everybody reads one document in one round.
const TURN: Duration = Duration::from_millis(20);

/// The median nanoseconds of each contestant over each document; none where it is not the work of a valid one.
pub fn times(contestants: &[&dyn Contestant], documents: &[Document]) -> Vec<Vec<Option<f64>>> {
    let mut times: Vec<Vec<Option<f64>>> = contestants.iter().map(|_| Vec::new()).collect();
    for document in documents {
        let mut samples: Vec<Vec<f64>> = contestants.iter().map(|_| Vec::with_capacity(ROUNDS)).collect();
        // The first round is not counted: caches are cold.
        for round in 0..=ROUNDS {
            for (contestant, samples) in contestants.iter().zip(&mut samples) {
                let time = turn(*contestant, &document.text);
                if round > 0 {
                    samples.push(time);
                }
            }
        }
        for ((contestant, times), mut samples) in contestants.iter().zip(&mut times).zip(samples) {
            samples.sort_by(f64::total_cmp);
            times.push(contestant.read(&document.text).then(|| samples[ROUNDS / 2]));
        }
    }
    times
}

/// Nanoseconds of one reading.
fn turn(contestant: &dyn Contestant, text: &str) -> f64 {
    let (end, start) = (Instant::now() + TURN, nanoseconds());
    let mut readings = 0_u32;
    while Instant::now() < end {
        for _ in 0..8 {
            contestant.read(text);
        }
        readings += 8;
    }
    (nanoseconds() - start) / f64::from(readings)
}

/// Those that the thread ran on a processor, from Linux; or those on the wall.
fn nanoseconds() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let running = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let running = running.and_then(|text| text.split_whitespace().next()?.parse().ok());
    running.unwrap_or_else(|| START.elapsed().as_secs_f64() * 1e9)
}
