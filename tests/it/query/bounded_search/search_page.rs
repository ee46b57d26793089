//! One page of a search: how it is requested, what the response has, and what it must have.

use std::fmt::Write;

use orderql::compile::compiled::Compiled;
use orderql::plan::access_path::AccessPath;
use orderql::query::Variables;
use serde_json::Value;

use crate::query::bounded_search::random_search::RandomSearch;
use crate::support::query_runner::QueryRunner;

/// The arguments of a page, and what is selected beside its rows.
#[derive(Debug, Clone, Copy)]
pub struct PageArguments {
    pub size: usize,
    /// Whether the page is taken from the back.
    pub backward: bool,
    /// The positions of the cursors' rows.
    pub after: Option<usize>,
    pub before: Option<usize>,
    pub flags: Flags,
    /// Whether a field of a joined object is selected.
    pub joined: bool,
    /// How many rows are counted at most, if they are.
    pub count_up_to: Option<usize>,
}

/// The flags of `pageInfo` that are selected. One that needs rows outside of the page has a share of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flags {
    Both,
    /// The one in the direction of the page.
    Ahead,
}

/// A page of a response. Rows are named by their positions in the order.
#[derive(Debug)]
pub struct SearchPage {
    pub rows: Vec<usize>,
    pub has_next: Option<bool>,
    pub has_previous: Option<bool>,
    pub start: Option<usize>,
    pub end: Option<usize>,
    /// The number of rows examined, if the window ended before the page was full.
    pub rows_examined: Option<i64>,
    /// Whether `hasNextPage` and `hasPreviousPage` are named as inexact.
    pub inexact: [bool; 2],
    pub count: Option<u64>,
    pub compiled: Compiled,
}

impl PageArguments {
    pub fn selects_next(&self) -> bool {
        self.flags == Flags::Both || !self.backward
    }

    pub fn selects_previous(&self) -> bool {
        self.flags == Flags::Both || self.backward
    }

    /// The number of flags that need rows outside of the page.
    pub fn probes(&self) -> usize {
        usize::from(self.selects_next() && self.before.is_some())
            + usize::from(self.selects_previous() && self.after.is_some())
    }

    /// The rows of the page's window.
    pub fn window(&self, path: &AccessPath) -> u32 {
        path.window_of(u32::try_from(self.size).unwrap())
    }

    /// The query for the page.
    pub fn query(&self, search: &RandomSearch<'_>) -> String {
        let root = search.root;
        let cursor = |position| root.cursor(search.sort_key, search.reverse, position);
        let mut arguments = format!("{}: {}", if self.backward { "last" } else { "first" }, self.size);
        let _ = write!(
            arguments,
            ", sortKey: {}, reverse: {}",
            root.connection.sort_keys[search.sort_key].name, search.reverse
        );
        let text = search.text();
        if !text.is_empty() {
            let _ = write!(arguments, ", query: {text:?}");
        }
        for (name, position) in [("after", self.after), ("before", self.before)] {
            if let Some(position) = position {
                let _ = write!(arguments, ", {name}: {:?}", cursor(position));
            }
        }
        if let Some(count) = self.count_up_to {
            let _ = write!(arguments, ", countUpTo: {count}");
        }
        let next = if self.selects_next() { "hasNextPage " } else { "" };
        let previous = if self.selects_previous() { "hasPreviousPage " } else { "" };
        let joined = if self.joined { &root.joined } else { "" };
        format!(
            "{{ found: {}({arguments}) {{ edges {{ cursor node {{ {} {joined} }} }} \
             pageInfo {{ {next}{previous}startCursor endCursor }} count }} }}",
            root.name,
            root.id_fields.join(" ")
        )
    }

    /// Requests the page.
    pub async fn read(&self, runner: &QueryRunner, search: &RandomSearch<'_>) -> Result<SearchPage, String> {
        let result = runner.run(&self.query(search), Variables::new()).await;
        let data = result.data();
        let (edges, info) = (data["found"]["edges"].as_array().unwrap(), &data["found"]["pageInfo"]);
        let position = |cursor: &Value| {
            cursor
                .as_str()
                .map(|text| search.root.position_of_cursor(search.sort_key, search.reverse, text))
                .transpose()
        };
        let mut rows = Vec::with_capacity(edges.len());
        for edge in edges {
            let id = search.root.id_fields.iter().map(|field| edge["node"][field].as_str().unwrap());
            let id = id.collect::<Vec<_>>().join("|");
            let row = search.root.position(search.sort_key, search.reverse, &id);
            if position(&edge["cursor"])? != Some(row) {
                return Err(format!("the cursor of {id} is that of another row"));
            }
            rows.push(row);
        }
        let ended = match result.short_searches.as_slice() {
            [] => None,
            [ended] if ended.key == "found" => Some(ended),
            other => return Err(format!("the searches that ended with their windows are {other:?}")),
        };
        Ok(SearchPage {
            rows,
            has_next: info["hasNextPage"].as_bool(),
            has_previous: info["hasPreviousPage"].as_bool(),
            start: position(&info["startCursor"])?,
            end: position(&info["endCursor"])?,
            rows_examined: ended.filter(|ended| ended.is_page_cut).map(|ended| ended.rows_examined),
            inexact: ended.map_or([false; 2], |ended| [ended.has_next_page, ended.has_previous_page]),
            count: data["found"]["count"].as_u64(),
            compiled: result.compiled,
        })
    }

    /// Checks the rows, flags and cursors of a page against the positions of all rows that match, among so many. `is_whole`
    /// says that the search must not end with its window.
    pub fn check(&self, page: &SearchPage, matches: &[usize], total: usize, is_whole: bool) -> Result<(), String> {
        let path = &page.compiled.plan.steps()[0].access_path;
        let begin = self.after.map_or(0, |after| matches.partition_point(|row| *row <= after));
        let end = self.before.map_or(matches.len(), |before| matches.partition_point(|row| *row < before));
        let between = matches.get(begin..end).unwrap_or_default();
        let count = between.len().min(page.rows.len());
        let nearest = if self.backward { &between[between.len() - count..] } else { &between[..count] };
        if page.rows != nearest || page.rows.len() > self.size {
            let wanted = between.len().min(self.size);
            let wanted = if self.backward { &between[between.len() - wanted..] } else { &between[..wanted] };
            return Err(format!("the rows are {:?}, not {wanted:?}", page.rows));
        }
        let is_short = page.rows.len() < between.len().min(self.size);
        match page.rows_examined {
            None if is_short => return Err(format!("{} of {} rows", page.rows.len(), between.len())),
            Some(_) if is_whole => return Err("the search ended with its window".to_owned()),
            Some(rows) if rows != i64::from(self.window(path)) || path.window().is_none() => {
                return Err(format!("{rows} rows were examined, but the window has {}", self.window(path)));
            }
            None | Some(_) => {}
        }
        self.check_flags(page, matches, between.len(), is_whole)?;
        self.check_count(page, matches, total)?;
        self.check_cursors(page, between)
    }

    /// The count is that of all rows, also beyond the cursors. It may be unknown if the window has not all rows.
    fn check_count(&self, page: &SearchPage, matches: &[usize], total: usize) -> Result<(), String> {
        let path = &page.compiled.plan.steps()[0].access_path;
        let expected = self.count_up_to.map(|most| matches.len().min(most) as u64);
        let may_be_unknown = path.window().is_some() && total > usize::try_from(self.window(path)).unwrap();
        if page.count == expected || (page.count.is_none() && may_be_unknown) {
            Ok(())
        } else {
            Err(format!("the count is {:?}, not {expected:?}", page.count))
        }
    }

    fn check_flags(&self, page: &SearchPage, matches: &[usize], between: usize, is_whole: bool) -> Result<(), String> {
        // Whether there are matching rows beyond the far end of the page, and beyond the cursors.
        let ahead = between > page.rows.len();
        let before_page = self.after.is_some_and(|after| matches.first().is_some_and(|first| *first <= after));
        let after_page = self.before.is_some_and(|before| matches.last().is_some_and(|last| *last >= before));
        for (name, is_selected, value, expected, is_inexact) in [
            (
                "hasNextPage",
                self.selects_next(),
                page.has_next,
                after_page || (ahead && !self.backward),
                page.inexact[0],
            ),
            (
                "hasPreviousPage",
                self.selects_previous(),
                page.has_previous,
                before_page || (ahead && self.backward),
                page.inexact[1],
            ),
        ] {
            let Some(value) = value.filter(|_| is_selected) else { continue };
            if value != (expected || is_inexact) || (is_inexact && is_whole) {
                return Err(format!("{name} is {value}"));
            }
        }
        if page.rows_examined.is_some() && (if self.backward { page.has_previous } else { page.has_next }) != Some(true)
        {
            return Err("the window ended, and there is no next page".to_owned());
        }
        Ok(())
    }

    fn check_cursors(&self, page: &SearchPage, between: &[usize]) -> Result<(), String> {
        let (mut start, mut end) = (page.rows.first().copied(), page.rows.last().copied());
        if page.rows_examined.is_some() {
            // The row at which the window ended: after the page's rows, and before the next that matches.
            let Some(last) = (if self.backward { page.start } else { page.end }) else {
                return Err("the window ended, and there is no cursor".to_owned());
            };
            let rows = page.rows.len();
            let is_there = if self.backward {
                end.or(self.before).is_none_or(|row| last <= row)
                    && start.is_none_or(|row| last <= row)
                    && between.len().checked_sub(rows + 1).is_none_or(|next| between[next] < last)
                    && self.after.is_none_or(|after| after < last)
            } else {
                start.or(self.after).is_none_or(|row| last >= row)
                    && end.is_none_or(|row| last >= row)
                    && between.get(rows).is_none_or(|next| *next > last)
                    && self.before.is_none_or(|before| before > last)
            };
            if !is_there {
                return Err(format!("the window ended at {last}"));
            }
            if self.backward {
                start = Some(last);
                end = end.or(start);
            } else {
                end = Some(last);
                start = start.or(end);
            }
        }
        if (page.start, page.end) == (start, end) {
            Ok(())
        } else {
            Err(format!("the cursors are {:?} and {:?}, not {start:?} and {end:?}", page.start, page.end))
        }
    }
}
