//! CPU time and memory of processes, from `/proc`. There are no figures on systems without it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Nanoseconds in the unit of `/proc/…/stat`, which is a hundredth of a second on all of Linux's usual platforms.
const TICK: u64 = 10_000_000;

/// The CPU time of a process and its descendants until now.
#[derive(Debug, Clone, Default)]
pub struct CpuTimes {
    /// Nanoseconds of each running thread, by its id.
    threads: BTreeMap<u32, u64>,
    /// Nanoseconds of child processes that have ended.
    ended: u64,
}

impl CpuTimes {
    /// The times until now; `None` where the kernel does not report them.
    pub fn of(root: u32) -> Option<Self> {
        let mut times = Self::default();
        for (id, stat) in process_tree(root)? {
            times.ended += stat.ended_ticks * TICK;
            // A process that ends meanwhile is left out.
            let Ok(threads) = fs::read_dir(format!("/proc/{id}/task")) else { continue };
            for path in threads.flatten().map(|thread| thread.path()) {
                let text = fs::read_to_string(path.join("schedstat")).ok();
                let spent = text.and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
                times.threads.extend(id_of(&path).zip(spent));
            }
        }
        (!times.threads.is_empty()).then_some(times)
    }

    /// The CPU time since an earlier look. What a thread used that ended in between is not included.
    pub fn since(&self, earlier: &Self) -> Duration {
        let before = |id| earlier.threads.get(id).copied().unwrap_or_default();
        let running = self.threads.iter().map(|(id, now)| now.saturating_sub(before(id))).sum::<u64>();
        Duration::from_nanos(running + self.ended.saturating_sub(earlier.ended))
    }
}

/// Looks at the CPU time of a process when a measurement begins, and when it ends.
#[derive(Debug)]
pub struct CpuMeter {
    root: Option<u32>,
    looks: Vec<CpuTimes>,
}

impl CpuMeter {
    /// A meter for a process and its descendants.
    pub fn new(root: Option<u32>) -> Self {
        Self { root, looks: Vec::new() }
    }

    /// Takes the time until now.
    pub fn look(&mut self) {
        self.looks.extend(self.root.and_then(CpuTimes::of));
    }

    /// The CPU time from the first look to the last, in milliseconds a request.
    pub fn ms_per_request(&self, requests: u64) -> Option<f64> {
        let [first, .., last] = self.looks.as_slice() else { return None };
        (requests > 0).then(|| last.since(first).as_secs_f64() * 1000.0 / requests as f64)
    }
}

/// MiB of resident memory of a process and its descendants; what they share counts for each.
pub fn resident_mib(root: u32) -> Option<f64> {
    process_tree(root)?.keys().map(|id| memory_mib(*id, "VmRSS:")).sum()
}

/// MiB of the most resident memory that a process alone has had, since it began or [`begin_peak`].
pub fn peak_mib(id: u32) -> Option<f64> {
    memory_mib(id, "VmHWM:")
}

/// Forgets the most resident memory that a process has had until now; see `clear_refs` in proc(5).
pub fn begin_peak(id: u32) {
    let _ = fs::write(format!("/proc/{id}/clear_refs"), "5");
}

fn memory_mib(id: u32, key: &str) -> Option<f64> {
    Some(kibibytes(&format!("/proc/{id}/status"), key)? as f64 / 1024.0)
}

/// KiB of memory of the machine.
pub fn total_memory() -> Option<u64> {
    kibibytes("/proc/meminfo", "MemTotal:")
}

fn kibibytes(path: &str, key: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| line.strip_prefix(key))?.trim().strip_suffix(" kB")?.parse().ok()
}

struct Stat {
    parent: u32,
    /// CPU time of children that ended and were waited for.
    ended_ticks: u64,
}

/// A process and its descendants.
fn process_tree(root: u32) -> Option<BTreeMap<u32, Stat>> {
    let processes = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| {
        let path = entry.path();
        Some((id_of(&path)?, stat(&path)?))
    });
    let mut processes: BTreeMap<_, _> = processes.collect();
    let mut tree: BTreeMap<_, _> = processes.remove_entry(&root).into_iter().collect();
    loop {
        let children = processes.extract_if(.., |_, stat| tree.contains_key(&stat.parent)).collect::<Vec<_>>();
        if children.is_empty() {
            return (!tree.is_empty()).then_some(tree);
        }
        tree.extend(children);
    }
}

fn stat(process: &Path) -> Option<Stat> {
    let text = fs::read_to_string(process.join("stat")).ok()?;
    // The program's name, in parentheses, may contain anything.
    let fields: Vec<_> = text.rsplit_once(") ")?.1.split(' ').collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(Stat { parent: fields.get(1)?.parse().ok()?, ended_ticks: number(13)? + number(14)? })
}

fn id_of(path: &Path) -> Option<u32> {
    path.file_name()?.to_str()?.parse().ok()
}
