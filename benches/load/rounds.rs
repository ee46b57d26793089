//! Rounds in which everybody is measured once with every workload, in an order that is another one each time: whatever else
//! the machine does falls on all alike.

use std::collections::BTreeMap;

use crate::contestant::{Contestant, Figures, Name, Window};
use crate::measure::Fault;
use crate::measure::random::Random;
use crate::measure::statistics::middle;
use crate::workload::Workload;

/// The figures of every round.
pub type Results = BTreeMap<(Workload, Name), Vec<Figures>>;

/// Measures everybody.
pub fn run(
    contestants: &mut [&mut dyn Contestant],
    workloads: &[Workload],
    rounds: usize,
    window: Window,
    seed: u64,
) -> Result<Results, Fault> {
    for contestant in &mut *contestants {
        for workload in workloads {
            eprintln!("making ready: {workload} for {}", contestant.name());
            contestant.prepare(*workload)?;
        }
    }
    let (mut random, mut results) = (Random::new(seed), Results::new());
    for round in 1..=rounds {
        let mut turns: Vec<_> = (0..contestants.len())
            .flat_map(|contestant| workloads.iter().map(move |workload| (contestant, *workload)))
            .collect();
        random.shuffle(&mut turns);
        for (contestant, workload) in turns {
            let contestant = &mut contestants[contestant];
            let figures = contestant.measure(workload, window).map_err(|source| Fault::Measurement {
                who: contestant.name().to_string(),
                what: workload.to_string(),
                source: Box::new(source),
            })?;
            eprintln!("round {round} of {rounds}: {workload:6} {:13} {:>9.0}/s", contestant.name(), figures.per_second);
            results.entry((workload, contestant.name())).or_default().push(figures);
        }
    }
    Ok(results)
}

/// The median of each figure.
pub fn median(rounds: &[Figures]) -> Option<Figures> {
    let last = rounds.last()?;
    let of = |figure: fn(&Figures) -> f64| middle(rounds.iter().map(figure).collect());
    let of_known = |figure: fn(&Figures) -> Option<f64>| {
        let known: Vec<_> = rounds.iter().filter_map(figure).collect();
        (!known.is_empty()).then(|| middle(known))
    };
    Some(Figures {
        per_second: of(|figures| figures.per_second),
        p50_ms: of(|figures| figures.p50_ms),
        p99_ms: of(|figures| figures.p99_ms),
        server_cpu_ms: of_known(|figures| figures.server_cpu_ms),
        postgresql_cpu_ms: of_known(|figures| figures.postgresql_cpu_ms),
        resident_mib: of_known(|figures| figures.resident_mib),
        answer_bytes: of_known(|figures| figures.answer_bytes),
        clients: last.clients,
    })
}
