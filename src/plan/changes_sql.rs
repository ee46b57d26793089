//! The SQL of a page of changes: the part of a statement that returns the rows of a feed that changed between two snapshots.
//!
//! A mark of a transaction counts if it is visible in the later snapshot and not in the earlier one. Such a mark is of a transaction
//! that ran at the earlier snapshot, or of one from its end on. A bounded number of marks is read, in the order of transactions,
//! however many belong to one row of the feed. A mark that counts leads to a row if it is the last one of the row among the marks
//! that were read, or names the row itself.

use std::fmt::{self, Display, Write};

use crate::catalog::changes::{Changes, FeedRoute};
use crate::plan::parameters::Placeholder;
use crate::plan::select::Select;
use crate::plan::sql::{Identifier, List, NameText, Relation, type_name};
use crate::query::bind::changes::StartValue;

/// How many marks are read for each row of a page, at most.
pub(crate) const MARKS_PER_ROW: u32 = 4;

/// How many marks are read for a page of this size.
pub(crate) fn marks(size: u32) -> u32 {
    size.saturating_add(1).saturating_mul(MARKS_PER_ROW)
}

/// The parts of the text that returns a page of changes.
pub(crate) struct ChangesSql<'a> {
    pub(crate) changes: &'a Changes,
    /// The select list of each row, and the joins.
    pub(crate) select: Select<'a>,
    /// The values with which the page begins, by [`StartValue`].
    pub(crate) start: [Placeholder; StartValue::ALL.len()],
    /// One more than the number of marks that are read.
    pub(crate) marks: Placeholder,
    /// One more than the page size.
    pub(crate) limit: Placeholder,
}

/// A column that describes the page.
#[derive(Clone, Copy)]
pub(crate) enum StateColumn {
    HasMore,
    Until,
    At,
    Epoch,
    Timeline,
    IsStandby,
    IsUnflushed,
    Lag,
    OldestWriter,
    LastMark,
}

/// The expressions of these columns, in their order.
const STATE: [&str; 10] = [
    "l.mark IS NOT NULL OR s.is_past OR NULL",
    "s.until::text",
    "s.at",
    "s.epoch::int8",
    "s.timeline::int8",
    "s.is_standby",
    "s.is_unflushed",
    "(extract(epoch FROM s.clock - s.at) * 1000)::int8",
    "(extract(epoch FROM s.clock - s.before_oldest) * 1000)::int8",
    "l.mark",
];

impl ChangesSql<'_> {
    /// The number of its columns.
    pub(crate) fn width(&self) -> usize {
        STATE.len() + 2 + self.select.width()
    }

    /// Appends the text.
    pub(crate) fn write(&self, text: &mut String) -> fmt::Result {
        let ChangesSql { changes, marks, limit, .. } = self;
        writeln!(text, "WITH s AS MATERIALIZED (\n{}\n),", self.state())?;
        writeln!(text, "m AS MATERIALIZED (\n{}\n),\nc AS MATERIALIZED (\n{}\n)", self.marks(), self.rows())?;
        let state = List(
            STATE.iter().enumerate().map(|(index, column)| fmt::from_fn(move |f| write!(f, "{column} AS f{index}"))),
        );
        write!(text, "SELECT f.*, p.*\nFROM (SELECT {state} FROM s LEFT JOIN LATERAL (SELECT ")?;
        write!(
            text,
            "jsonb_build_array(m.xid::text, m.via, m.id, NULL)::text AS mark FROM m WHERE m.n = {marks} - 1 "
        )?;
        writeln!(text, "AND s.until IS NOT NULL AND (SELECT count(*) FROM m) = {marks}) AS l ON TRUE) AS f")?;
        let (columns, joins) = (self.select.list(), self.select.joins());
        let (key, ty) = (Identifier(&changes.key.name), type_name(changes.key.stored));
        write!(text, "LEFT JOIN LATERAL (\nSELECT TRUE AS present, t.mark_position AS position, {columns}\nFROM (")?;
        write!(text, "SELECT c.key::{ty} AS {key}, ")?;
        write!(text, "jsonb_build_array(c.xid::text, c.via, c.id, c.key)::text AS mark_position\nFROM c\n")?;
        write!(text, "ORDER BY c.n, c.key\nLIMIT {limit}) AS t{joins}\n) AS p ON TRUE")
    }

    fn value(&self, value: StartValue) -> impl Display {
        let (placeholder, ty) = (
            self.start[value as usize],
            match value {
                StartValue::From | StartValue::To => "text::pg_snapshot",
                StartValue::At | StartValue::Since => "timestamptz",
                StartValue::Finished => "text::xid8[]",
                StartValue::FirstNew | StartValue::Xid => "text::xid8",
                StartValue::Via | StartValue::Id | StartValue::Key => "text",
            },
        );
        fmt::from_fn(move |f| write!(f, "{placeholder}::{ty}"))
    }

    /// One row: the later snapshot with its epoch and times. A standby cannot tell which transactions run: all from the oldest on may. The
    /// write-ahead log is looked at last, so that everything visible in the snapshot is before the position that is compared.
    fn state(&self) -> impl Display {
        let [from, to, at, since] = [StartValue::From, StartValue::To, StartValue::At, StartValue::Since];
        let [from, to, at, since] = [from, to, at, since].map(|value| self.value(value).to_string());
        fmt::from_fn(move |f| {
            write!(
                f,
                "SELECT e.epoch, e.is_standby, e.clock, {since} IS NOT NULL AS is_past,
 CASE WHEN {since} IS NULL THEN e.timeline ELSE k.timeline END AS timeline,
 CASE
 WHEN {since} IS NOT NULL THEN k.snapshot
 WHEN pg_snapshot_xmax(coalesce({to}, {from})) > pg_snapshot_xmax(e.now) THEN NULL
 ELSE coalesce({to}, e.now)
 END AS until,
 CASE
 WHEN {since} IS NOT NULL THEN k.at
 WHEN {at} IS NOT NULL THEN {at}
 WHEN e.is_standby THEN coalesce(pg_last_xact_replay_timestamp(), e.clock)
 ELSE e.clock
 END AS at,
 (SELECT o.at FROM orderql.sync_tick AS o
 WHERE pg_snapshot_xmin(e.now) < pg_snapshot_xmax(e.current) AND o.epoch = e.epoch
 AND pg_snapshot_xmax(o.snapshot) <= pg_snapshot_xmin(e.now)
 ORDER BY o.epoch DESC, o.at DESC LIMIT 1) AS before_oldest,
 CASE WHEN e.is_standby THEN FALSE
 ELSE pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn() END AS is_unflushed
FROM (SELECT y.epoch, y.timeline, r.is_standby, clock_timestamp() AS clock, pg_current_snapshot() AS current,
 CASE WHEN r.is_standby THEN
 concat(pg_snapshot_xmin(pg_current_snapshot()), ':', pg_snapshot_xmin(pg_current_snapshot()), ':')::pg_snapshot
 ELSE pg_current_snapshot() END AS now
 FROM orderql.sync_epoch() AS y CROSS JOIN (SELECT pg_is_in_recovery() AS is_standby) AS r OFFSET 0) AS e
LEFT JOIN LATERAL (SELECT k.snapshot, k.timeline, k.at FROM orderql.sync_tick AS k
 WHERE k.epoch = e.epoch AND k.at <= {since} ORDER BY k.epoch DESC, k.at DESC LIMIT 1) AS k ON TRUE"
            )
        })
    }

    /// The next marks, numbered, whether they count or not.
    fn marks(&self) -> impl Display {
        let [finished, first, xid] = [StartValue::Finished, StartValue::FirstNew, StartValue::Xid];
        let [finished, first, xid] = [finished, first, xid].map(|value| self.value(value).to_string());
        let [via, id] = [StartValue::Via, StartValue::Id].map(|value| self.value(value).to_string());
        let (key, ty) = (Identifier(&self.changes.key.name), type_name(self.changes.key.stored));
        let after = [
            format!("t.xid = ANY({finished})"),
            format!("t.xid >= {first} AND t.xid < (SELECT pg_snapshot_xmax(s.until) FROM s)"),
        ];
        let direct = [format!("t.xid = {xid} AND {via} = '' AND t.{key} > {id}::{ty}")];
        let indirect = [format!("t.xid = {xid} AND (t.via, t.id) >= ({via}, {id})")];
        let direct = direct.iter().chain(&after).map(|condition| self.scan(true, condition).to_string());
        let indirect = indirect.iter().chain(&after).map(|condition| self.scan(false, condition).to_string());
        let scans = direct.chain(indirect).collect::<Vec<_>>().join("\nUNION ALL\n");
        let marks = self.marks;
        fmt::from_fn(move |f| {
            write!(
                f,
                "SELECT u.xid, u.via, u.id, row_number() OVER () AS n FROM (SELECT v.* FROM (\n{scans}\n) AS v\n"
            )?;
            write!(f, "ORDER BY v.xid, v.via, v.o\nLIMIT {marks}) AS u")
        })
    }

    /// A range of the index of one of the tables with marks.
    fn scan(&self, is_direct: bool, condition: &str) -> impl Display {
        let (changes, marks) = (self.changes, self.marks);
        fmt::from_fn(move |f| {
            write!(f, "(SELECT q.*, row_number() OVER () AS o FROM (SELECT t.xid, ")?;
            if is_direct {
                let (key, relation) = (Identifier(&changes.key.name), Relation(&changes.direct));
                write!(f, "''::text AS via, t.{key}::text AS id FROM {relation} AS t\nWHERE {condition}\n")?;
                write!(f, "ORDER BY t.xid, t.{key}")?;
            } else {
                let relation = Relation(&changes.indirect);
                write!(f, "t.via, t.id FROM {relation} AS t\nWHERE {condition}\nORDER BY t.xid, t.via, t.id")?;
            }
            write!(f, " LIMIT {marks}) AS q)")
        })
    }

    /// The rows of the feed that the marks lead to, each by its last mark that counts.
    fn rows(&self) -> impl Display {
        let [first, xid, via, id, key] =
            [StartValue::FirstNew, StartValue::Xid, StartValue::Via, StartValue::Id, StartValue::Key]
                .map(|value| self.value(value).to_string());
        let (changes, marks) = (self.changes, self.marks);
        let (direct, column, ty) =
            (Relation(&changes.direct), Identifier(&changes.key.name), type_name(changes.key.stored));
        fmt::from_fn(move |f| {
            write!(f, "SELECT d.* FROM (SELECT m.*, r.key, ")?;
            write!(f, "row_number() OVER (PARTITION BY r.key ORDER BY m.n DESC) AS from_last\nFROM m\n")?;
            write!(f, "CROSS JOIN LATERAL (\nSELECT m.id AS key WHERE m.via = ''")?;
            changes.routes.iter().try_for_each(|route| write!(f, "\nUNION ALL\n{}", lead(route)))?;
            write!(f, "\n) AS r\nWHERE m.n < {marks} AND pg_visible_in_snapshot(m.xid, (SELECT s.until FROM s))\n")?;
            write!(f, "AND (m.xid = {xid} AND m.via = {via} AND m.id = {id} ")?;
            write!(f, "AND ({key} >= r.key) IS NOT FALSE) IS NOT TRUE) AS d\nWHERE d.from_last = 1 AND (SELECT TRUE ")?;
            write!(f, "FROM {direct} AS t WHERE t.{column} = ANY(ARRAY[d.key::{ty}]) AND t.xid > d.xid ")?;
            writeln!(f, "AND t.xid >= {first} AND pg_visible_in_snapshot(t.xid, (SELECT s.until FROM s))")?;
            write!(f, "ORDER BY t.{column}, t.xid LIMIT 1) IS NULL")
        })
    }
}

/// The rows of the feed that a row in between belongs to.
fn lead(route: &FeedRoute) -> impl Display {
    let (relation, via, to) = (Relation(&route.relation), route.via(), Identifier(&route.to.name));
    let (key, ty) = (Identifier(&route.key), type_name(route.to.stored));
    fmt::from_fn(move |f| {
        // A mark of another column may not have a value of this one's type.
        let id = format!("CASE WHEN m.via = {} THEN m.id::{ty} END", NameText(&via));
        write!(f, "SELECT x.{key}::text FROM {relation} AS x WHERE x.{to} = ANY(ARRAY[{id}]) ")?;
        write!(f, "AND x.{key} IS NOT NULL")
    })
}
