//! The rows of a connection's page, in a table with a row at every position that matters: at each value of a cursor or search
//! term, below, between and above them, and at null. A small interpreter runs the page's text over that table, for parents that
//! are written and for others; a filter and a sort say what it has to find. Pages that look rows up, examine a window or merge
//! ranges are left out: these have joins and counts, which take a database.
//!
//! - `select`: the text as a tree, and its interpreter

mod select;

use std::cmp::Ordering;

use orderql::catalog::Catalog;
use orderql::catalog::connection::{Connection, SortKey};
use orderql::catalog::schema::ArgumentRole;
use orderql::catalog::stored_type::StoredType;
use orderql::cursor::CursorPosition;
use orderql::plan::request_plan::Plan;
use orderql::search::Comparator;
use orderql::value::{Float, ScalarType, Value as ColumnValue};
use orderql_generator::document::Value;
use orderql_generator::request::Generated;
use orderql_generator::search::Term;

use crate::oracles::branches::Branch;
use crate::oracles::tree::Node;

use self::select::{Page, ParentRow, Row, Table};

/// Checks the page of a step, which is that of a connection if `node` is. Below a row of a page, it has to be empty if that row is
/// not written. Returns whether the interpreter knows such pages.
pub fn check(
    catalog: &Catalog,
    generated: &Generated,
    node: &Node<'_>,
    parent: Option<&Node<'_>>,
    plan: &Plan,
    branch: &Branch<'_>,
) -> bool {
    let Some(connection) = node.connection(catalog) else { return false };
    let is_counted = node.argument(catalog, generated, ArgumentRole::CountUpTo).is_some();
    if is_counted || branch.page.iter().any(|word| word.is("MATERIALIZED") || word.is("unnest")) {
        return false;
    }
    let question = Question::new(catalog, generated, node, connection);
    let page = Page::parse(branch.page);
    let parameters: Vec<_> = plan.parameters().collect();
    let rows = question.rows();
    let rank = |column, value: &ColumnValue| question.rank(column, value);
    let table =
        |parent| Table { columns: &question.columns, rows: &rows, parameters: &parameters, rank: &rank, parent };
    let step = &plan.steps()[branch.step];
    let context =
        || format!("of {rows:?} the rows of step {} of {}\n{}", branch.step, plan.sql(), generated.request().query);

    let is_below_page = parent.is_some_and(|parent| parent.connection(catalog).is_some());
    let parents = step.parent.map(|parent| Parents::of(plan, parent, is_below_page));
    let written = parents.as_ref().map_or_else(|| vec![None], |parents| parents.written.iter().map(Some).collect());
    for parent in written {
        let mut found = page.rows(&table(parent));
        if branch.is_reversed {
            found.reverse();
        }
        assert_eq!(found, question.page(&rows), "{}", context());
        let before = step.layout.before_page.map(|_| question.has_before(&rows));
        let after = step.layout.after_page.map(|_| question.has_after(&rows));
        let expected: Vec<_> = before.into_iter().chain(after).collect();
        assert_eq!(page.flags(&table(parent)), expected, "the flags {}", context());
    }
    for parent in parents.iter().flat_map(|parents| &parents.others) {
        assert!(page.rows(&table(Some(parent))).is_empty(), "for a row that is no parent, {}", context());
        assert!(page.flags(&table(Some(parent))).is_empty(), "for a row that is no parent, the flags {}", context());
    }
    true
}

/// Rows of a step that has others below it.
struct Parents {
    /// Some that are written.
    written: Vec<ParentRow>,
    /// One of each kind that is not.
    others: Vec<ParentRow>,
}

impl Parents {
    fn of(plan: &Plan, step: usize, is_page: bool) -> Self {
        let parent = &plan.steps()[step];
        if !is_page {
            // A lookup has one row, which has no number.
            return Self { written: vec![ParentRow { step, columns: Vec::new() }], others: Vec::new() };
        }
        let row = |number: usize, matches: Option<bool>, present: Option<bool>| {
            let mut columns = vec![("n", Some(number))];
            columns.extend(parent.search().map(|_| ("matches", matches.map(usize::from))));
            columns.extend(parent.layout.present.map(|_| ("present", present.map(usize::from))));
            ParentRow { step, columns }
        };
        let size = usize::try_from(plan.size(step)).expect("a page fits");
        let mut others = vec![row(size + 1, Some(true), Some(true))];
        others.extend(parent.search().map(|_| row(1, Some(false), Some(true))));
        others.extend(parent.layout.present.map(|_| row(1, None, None)));
        Self { written: [1, size].map(|number| row(number, Some(true), Some(true))).into(), others }
    }
}

/// What a page is asked for.
struct Question<'q> {
    sort_key: &'q SortKey,
    /// The columns in which rows differ: those of the order, but for the ones that a parent's rows have in common.
    columns: Vec<&'q str>,
    /// The values that the request has in each of these columns, sorted.
    domains: Vec<Vec<ColumnValue>>,
    /// The terms on these columns, by the index of the column, with their values.
    terms: Vec<(usize, &'q Term, Vec<ColumnValue>)>,
    after: Option<&'q CursorPosition>,
    before: Option<&'q CursorPosition>,
    reverse: bool,
    size: usize,
    from_back: bool,
}

impl<'q> Question<'q> {
    fn new(catalog: &'q Catalog, generated: &'q Generated, node: &Node<'q>, connection: &'q Connection) -> Self {
        let argument = |role| node.argument(catalog, generated, role);
        let sort_key = node.sort_key(catalog, generated, connection);
        let position = |role| match argument(role) {
            Some(Value::Cursor(cursor)) => Some(&cursor.values),
            _ => None,
        };
        let (after, before) = (position(ArgumentRole::After), position(ArgumentRole::Before));
        let terms = match argument(ArgumentRole::Query) {
            Some(Value::Search(search)) => search.terms.as_slice(),
            _ => &[],
        };
        let differs = |name: &String| !connection.join.to.contains(name);
        let columns: Vec<_> = sort_key.columns.iter().map(|column| &column.name).filter(|name| differs(name)).collect();
        let on_column = |term: &'q Term| {
            let index = columns.iter().position(|name| **name == term.column.1);
            let index = index.filter(|_| term.column.0 == connection.relation)?;
            Some((index, term, term.values.iter().map(|value| parsed(term, value)).collect::<Vec<_>>()))
        };
        let terms: Vec<_> = terms.iter().filter_map(on_column).collect();

        let domain = |(index, name): (usize, &&String)| {
            let column = sort_key.columns.iter().position(|column| column.name == **name)?;
            let of_cursors = [after, before].into_iter().flatten().filter_map(|position| position[column].clone());
            let of_terms = terms.iter().filter(|(on, ..)| *on == index).flat_map(|(.., values)| values.clone());
            let mut domain: Vec<_> = of_cursors.chain(of_terms).collect();
            domain.sort();
            domain.dedup();
            Some(domain)
        };
        let domains = columns.iter().enumerate().filter_map(domain).collect();
        let (size, from_back) = node.page(catalog, generated);
        Self {
            sort_key,
            columns: columns.iter().map(|name| name.as_str()).collect(),
            domains,
            terms,
            after,
            before,
            reverse: matches!(argument(ArgumentRole::Reverse), Some(Value::Boolean(true))),
            size: usize::try_from(size).expect("a page fits"),
            from_back,
        }
    }

    /// The rank of a value of the request in a column.
    fn rank(&self, column: usize, value: &ColumnValue) -> usize {
        let found = self.domains[column].binary_search(value);
        2 * found.unwrap_or_else(|_| panic!("{value:?} is no value of {}", self.columns[column])) + 1
    }

    /// Every position.
    fn rows(&self) -> Vec<Row> {
        let mut rows = vec![Vec::new()];
        for (index, domain) in self.domains.iter().enumerate() {
            let is_nullable = index == 0 && self.sort_key.nullable && self.columns[0] == self.sort_key.columns[0].name;
            let values: Vec<_> = (0..=2 * domain.len()).map(Some).chain(is_nullable.then_some(None)).collect();
            let longer =
                |row: &Row| values.iter().map(|value| [row.as_slice(), &[*value]].concat()).collect::<Vec<_>>();
            rows = rows.iter().flat_map(longer).collect();
        }
        // A table is in no order.
        let middle = rows.len() / 2;
        rows.rotate_left(middle);
        rows
    }

    /// How rows follow each other in the response. Nulls come last, in the reversed order as well.
    fn compare(&self, one: &Row, other: &Row) -> Ordering {
        let compare = |(one, other): (&Option<usize>, &Option<usize>)| match (one, other) {
            (Some(one), Some(other)) if self.reverse => other.cmp(one),
            (Some(one), Some(other)) => one.cmp(other),
            _ => one.is_none().cmp(&other.is_none()),
        };
        one.iter().zip(other).map(compare).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// A cursor's position as a row.
    fn position(&self, position: &CursorPosition) -> Row {
        let columns = self.sort_key.columns.iter().zip(position);
        let of_column = |(column, name): (usize, &&str)| {
            let (_, value) = columns.clone().find(|(own, _)| own.name == **name).expect("a column of the order");
            value.as_ref().map(|value| self.rank(column, value))
        };
        self.columns.iter().enumerate().map(of_column).collect()
    }

    fn matches(&self, row: &Row) -> bool {
        self.terms.iter().all(|(column, term, values)| {
            let Some(rank) = row[*column] else { return false };
            let mut ranks = values.iter().map(|value| self.rank(*column, value));
            match term.comparator {
                // The schemas that are fuzzed search no text.
                Comparator::Equals | Comparator::In | Comparator::Matches => ranks.any(|value| rank == value),
                Comparator::Greater => ranks.all(|value| rank > value),
                Comparator::GreaterOrEqual => ranks.all(|value| rank >= value),
                Comparator::Less => ranks.all(|value| rank < value),
                Comparator::LessOrEqual => ranks.all(|value| rank <= value),
            }
        })
    }

    /// How a row lies to a cursor; `None` without one.
    fn lies(&self, row: &Row, cursor: Option<&CursorPosition>) -> Option<Ordering> {
        Some(self.compare(row, &self.position(cursor?)))
    }

    /// The page's rows, and one more beyond its end, by their indexes.
    fn page(&self, rows: &[Row]) -> Vec<usize> {
        let is_inside = |index: &usize| {
            let row = &rows[*index];
            self.matches(row)
                && self.lies(row, self.after).is_none_or(Ordering::is_gt)
                && self.lies(row, self.before).is_none_or(Ordering::is_lt)
        };
        let mut page: Vec<_> = (0..rows.len()).filter(is_inside).collect();
        page.sort_by(|one, other| self.compare(&rows[*one], &rows[*other]));
        let beyond = page.len().saturating_sub(self.size + 1);
        if self.from_back { page.split_off(beyond) } else { page.into_iter().take(self.size + 1).collect() }
    }

    /// Whether there is a row at or before the `after:` cursor.
    fn has_before(&self, rows: &[Row]) -> bool {
        rows.iter().any(|row| self.matches(row) && self.lies(row, self.after).is_some_and(Ordering::is_le))
    }

    /// Whether there is a row at or after the `before:` cursor.
    fn has_after(&self, rows: &[Row]) -> bool {
        rows.iter().any(|row| self.matches(row) && self.lies(row, self.before).is_some_and(Ordering::is_ge))
    }
}

/// A value of a search term as its column stores it.
fn parsed(term: &Term, text: &str) -> ColumnValue {
    let as_scalar = |scalar: ScalarType| scalar.parse(text).expect("a valid term");
    match (term.stored, term.scalar) {
        (StoredType::Int2 | StoredType::Int4 | StoredType::Int8, _) => as_scalar(ScalarType::Int),
        (StoredType::Numeric, ScalarType::Id) => as_scalar(ScalarType::Decimal),
        (StoredType::Uuid, _) => as_scalar(ScalarType::Uuid),
        (StoredType::Float4, _) => ColumnValue::Float(Float::parse_single(text).expect("a number")),
        (_, scalar) => as_scalar(scalar),
    }
}
