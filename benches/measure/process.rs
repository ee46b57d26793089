//! CPU time and memory of a process and all its children, from `/proc`. Where there is no `/proc`, there are no figures.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// What a process and its children have used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user and kernel since each began, with that of children that have ended and were waited for.
    pub cpu: Duration,
    /// Resident memory. What processes share is counted for each.
    pub resident: u64,
}

/// Looks at a process when a measurement begins, and when it ends.
#[derive(Debug)]
pub struct Watch {
    root: Option<u32>,
    seen: Vec<Usage>,
}

impl Watch {
    /// Has not looked yet. Without a process there is nothing to be seen.
    pub fn of(root: Option<u32>) -> Self {
        Self { root, seen: Vec::new() }
    }

    /// Looks.
    pub fn look(&mut self) {
        self.seen.extend(self.root.and_then(usage));
    }

    /// What was seen last.
    pub fn last(&self) -> Option<Usage> {
        self.seen.last().copied()
    }

    /// The CPU time from the first look to the last, in milliseconds for each of so many requests.
    #[allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub fn milliseconds_each(&self, requests: u64) -> Option<f64> {
        let [first, .., last] = self.seen.as_slice() else { return None };
        let spent = last.cpu.saturating_sub(first.cpu).as_secs_f64() * 1000.0;
        (requests > 0).then(|| spent / requests as f64)
    }
}

/// What a line of `/proc/…/stat` says.
struct Stat {
    parent: u32,
    ticks: u64,
}

/// What the process and all its descendants have used until now.
pub fn usage(root: u32) -> Option<Usage> {
    let processes = processes()?;
    processes.get(&root)?;
    let mut usage = Usage::default();
    let mut ticks = 0;
    for (id, stat) in &processes {
        if descends(*id, root, &processes) {
            ticks += stat.ticks;
            usage.resident += resident(*id).unwrap_or_default();
        }
    }
    usage.cpu = Duration::from_nanos(ticks * 1_000_000_000 / ticks_per_second());
    Some(usage)
}

/// CPU time to the nanosecond of every thread that runs, for measurements so short that `/proc`'s usual unit, a hundredth of
/// a second, is too coarse, and that no thread worth counting ends meanwhile.
#[derive(Debug, Clone, Default)]
pub struct Threads {
    nanoseconds: BTreeMap<u32, u64>,
}

impl Threads {
    /// Those of the process and all its descendants. Nothing where the kernel does not tell.
    pub fn of(root: u32) -> Option<Self> {
        let processes = processes()?;
        let mut threads = Self::default();
        for id in processes.keys().filter(|id| descends(**id, root, &processes)) {
            threads.add(*id);
        }
        (!threads.nanoseconds.is_empty()).then_some(threads)
    }

    /// What they have used since they were looked at before.
    pub fn since(&self, earlier: &Self) -> Duration {
        let used =
            |(id, now): (&u32, &u64)| now.saturating_sub(earlier.nanoseconds.get(id).copied().unwrap_or_default());
        Duration::from_nanos(self.nanoseconds.iter().map(used).sum())
    }

    /// A process that ends while it is looked at is left out.
    fn add(&mut self, process: u32) {
        let Ok(entries) = fs::read_dir(format!("/proc/{process}/task")) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            let id = path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
            let text = fs::read_to_string(path.join("schedstat")).ok();
            let spent = text.and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
            self.nanoseconds.extend(id.zip(spent));
        }
    }
}

/// The most memory that a process was ever seen to have resident, itself alone.
pub fn peak(id: u32) -> Option<u64> {
    status(id, "VmHWM:")
}

/// Resident memory of a process, itself alone.
pub fn resident(id: u32) -> Option<u64> {
    status(id, "VmRSS:")
}

fn status(id: u32, key: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

fn descends(mut id: u32, root: u32, processes: &BTreeMap<u32, Stat>) -> bool {
    while id != root {
        match processes.get(&id) {
            Some(stat) if stat.parent != 0 => id = stat.parent,
            _ => return false,
        }
    }
    true
}

fn processes() -> Option<BTreeMap<u32, Stat>> {
    let entries = fs::read_dir("/proc").ok()?;
    let stat = |path: &Path| {
        let text = fs::read_to_string(path.join("stat")).ok()?;
        // The name stands in parentheses and may hold anything.
        let fields: Vec<_> = text.rsplit_once(") ")?.1.split(' ').collect();
        let ticks = |place: usize| fields.get(place)?.parse::<u64>().ok();
        Some(Stat { parent: fields.get(1)?.parse().ok()?, ticks: ticks(11)? + ticks(12)? + ticks(13)? + ticks(14)? })
    };
    let known = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        Some((path.file_name()?.to_str()?.parse().ok()?, stat(&path)?))
    });
    Some(known.collect())
}

/// The unit of `/proc`'s CPU times.
fn ticks_per_second() -> u64 {
    static TICKS: OnceLock<u64> = OnceLock::new();
    *TICKS.get_or_init(|| {
        let output = Command::new("getconf").arg("CLK_TCK").output().ok();
        output.and_then(|output| String::from_utf8(output.stdout).ok()?.trim().parse().ok()).unwrap_or(100)
    })
}
