//! Random histories of transactions, ticks, removals of marks, crashes and readers, on a model of what the database does. It has
//! the rules alone: which marks a change writes, a page delivers, and a removal may take.
//!
//! `CHANGES_HISTORIES` sets the number of histories, `CHANGES_SEED` another seed.

use std::collections::{BTreeMap, BTreeSet};
use std::env;

use crate::support::random::Random;

const ORDERS: usize = 4;
const PARTS: usize = 3;

/// What a transaction marks: an order, or a row that belongs to the order which another row names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    Order(usize),
    Part(usize),
}

#[derive(Debug, Clone, Default)]
struct Snapshot {
    end: u64,
    running: BTreeSet<u64>,
}

impl Snapshot {
    fn shows(&self, xid: u64) -> bool {
        xid < self.end && !self.running.contains(&xid)
    }
}

/// What a transaction does that has not ended.
#[derive(Debug, Clone, Default)]
struct Work {
    marks: BTreeSet<Mark>,
    /// The part, and the order that it belongs to afterwards.
    moved: BTreeMap<usize, usize>,
}

#[derive(Debug, Clone)]
struct Transaction {
    xid: u64,
    work: Work,
    savepoint: Option<Work>,
}

/// What a crash spares if it was flushed.
#[derive(Debug, Clone)]
struct Database {
    next: u64,
    /// The highest id that has ended.
    ended: u64,
    active: Vec<Transaction>,
    marks: BTreeSet<(u64, Mark)>,
    owner: [usize; PARTS],
    /// The number of the commit that changed an order last.
    versions: [u64; ORDERS],
    ticks: Vec<Snapshot>,
    compacted: usize,
}

impl Database {
    fn snapshot(&self) -> Snapshot {
        let running = self.active.iter().map(|active| active.xid).filter(|xid| *xid <= self.ended).collect();
        Snapshot { end: self.ended + 1, running }
    }

    fn begin(&mut self) {
        self.active.push(Transaction { xid: self.next, work: Work::default(), savepoint: None });
        self.next += 1;
    }

    /// Changes a random row in an active transaction. A part that another transaction moves is locked.
    fn write(&mut self, index: usize, random: &mut Random) {
        let part = random.below(PARTS);
        let is_locked = self
            .active
            .iter()
            .enumerate()
            .any(|(other, active)| other != index && active.work.moved.contains_key(&part));
        let owner = self.owner[part];
        let work = &mut self.active[index].work;
        match random.below(4) {
            0 if !is_locked => {
                let to = random.below(ORDERS);
                let from = work.moved.insert(part, to).unwrap_or(owner);
                work.marks.extend([Mark::Order(from), Mark::Order(to)]);
            }
            1 => drop(work.marks.insert(Mark::Order(random.below(ORDERS)))),
            _ => drop(work.marks.insert(Mark::Part(part))),
        }
    }

    fn end(&mut self, index: usize, is_committed: bool, version: u64) {
        let Transaction { xid, work, .. } = self.active.remove(index);
        self.ended = self.ended.max(xid);
        if is_committed {
            for (part, to) in work.moved {
                self.owner[part] = to;
            }
            for mark in work.marks {
                self.marks.insert((xid, mark));
                self.versions[self.order(mark)] = version;
            }
        }
    }

    fn order(&self, mark: Mark) -> usize {
        match mark {
            Mark::Order(order) => order,
            Mark::Part(part) => self.owner[part],
        }
    }

    /// Removes what the marks between two ticks supersede.
    fn compact(&mut self) {
        let [since, until] = [0, 1].map(|step| self.ticks[self.compacted + step].clone());
        let later: Vec<_> =
            self.marks.iter().filter(|(xid, _)| until.shows(*xid) && !since.shows(*xid)).copied().collect();
        for (xid, mark) in later {
            self.marks.retain(|(earlier, of)| *of != mark || *earlier >= xid || !since.shows(*earlier));
        }
        self.compacted += 1;
    }

    /// A crash ends what was active. Ids above the highest one that has ended are given out again.
    fn recover(&mut self) {
        self.active.clear();
        self.next = self.ended + 1;
    }
}

#[derive(Debug)]
struct Reader {
    size: usize,
    since: Snapshot,
    /// The difference that is being read: its end, what orders were then, the number of ticks, and the position.
    until: Option<(Snapshot, [u64; ORDERS], usize)>,
    position: (u64, usize),
    copy: [u64; ORDERS],
}

impl Reader {
    /// Reads a page. Returns whether the difference goes on.
    fn read(&mut self, database: &Database) -> bool {
        let begin = || (database.snapshot(), database.versions, database.ticks.len());
        let (until, versions, ticks) = self.until.take().unwrap_or_else(begin);
        let mut last = BTreeMap::new();
        for (xid, mark) in &database.marks {
            if (self.since.running.contains(xid) || *xid >= self.since.end) && until.shows(*xid) {
                // They come in the order of ids.
                last.insert(database.order(*mark), *xid);
            }
        }
        let mut page: Vec<_> =
            last.into_iter().map(|(order, xid)| (xid, order)).filter(|place| *place > self.position).collect();
        page.sort_unstable();
        page.truncate(self.size);
        for (_, order) in &page {
            self.copy[*order] = database.versions[*order];
        }
        if page.len() == self.size {
            self.position = page[self.size - 1];
            self.until = Some((until, versions, ticks));
            return true;
        }
        for (order, version) in versions.into_iter().enumerate() {
            // One that has changed since the first page may have come to other rows, and the next difference has it.
            let is_complete = self.copy[order] >= version || database.versions[order] > version;
            assert!(is_complete, "missed {order}: {self:?} of {database:?}");
        }
        assert!((1..until.end).all(|xid| until.shows(xid) || !self.since.shows(xid)), "{:?} {until:?}", self.since);
        self.since = until;
        self.position = (0, 0);
        false
    }
}

fn history(seed: u64) {
    let mut random = Random(seed);
    let mut database = Database {
        next: 1,
        ended: 0,
        active: Vec::new(),
        marks: BTreeSet::new(),
        owner: [0, 1, 2],
        versions: [0; ORDERS],
        ticks: vec![Snapshot::default()],
        compacted: 0,
    };
    let mut flushed = database.clone();
    let mut version = 0;
    let mut readers = [1, 2, 7].map(|size| Reader {
        size,
        since: Snapshot { end: 1, ..Snapshot::default() },
        until: None,
        position: (0, 0),
        copy: [0; ORDERS],
    });
    for _ in 0..random.below(60) {
        let active = database.active.len();
        match random.below(16) {
            0 | 1 if active < 4 => database.begin(),
            2..=5 if active > 0 => database.write(random.below(active), &mut random),
            6 if active > 0 => {
                let transaction = random.below(active);
                let transaction = &mut database.active[transaction];
                match transaction.savepoint.take() {
                    Some(work) => transaction.work = work,
                    None => transaction.savepoint = Some(transaction.work.clone()),
                }
            }
            7..=9 if active > 0 => {
                version += 1;
                database.end(random.below(active), random.chance(90), version);
            }
            10 => database.ticks.push(database.snapshot()),
            11 => {
                // Ticks of the last minutes do not count, and no difference takes that long to read.
                let oldest = readers.iter().filter_map(|reader| Some(reader.until.as_ref()?.2)).min();
                if database.compacted + 1 < oldest.unwrap_or(usize::MAX).min(database.ticks.len()) {
                    database.compact();
                }
            }
            12 if random.chance(20) => {
                database = flushed.clone();
                database.recover();
            }
            _ => {
                let reader = random.below(readers.len());
                readers[reader].read(&database);
                // Nothing leaves before the log is flushed, what later pages show included.
                flushed = database.clone();
            }
        }
    }
    while !database.active.is_empty() {
        version += 1;
        database.end(0, random.chance(50), version);
    }
    for reader in &mut readers {
        while reader.read(&database) {}
        while reader.read(&database) {}
        assert_eq!(reader.copy, database.versions, "seed {seed}");
    }
}

#[test]
fn no_reader_misses_a_change_in_random_histories() {
    let number = |name: &str, default| env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default);
    let (histories, seed) = (number("CHANGES_HISTORIES", 100_000), number("CHANGES_SEED", 1));
    for history in 0..histories {
        self::history(seed * 1_000_000_007 + history);
    }
}
