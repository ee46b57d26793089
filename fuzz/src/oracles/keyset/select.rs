//! The text of a page over one table as a tree, and its interpreter.

use std::cmp::Ordering;

use orderql::plan::parameters::ParameterValue;
use orderql::value::Value;

use crate::oracles::sql::Word;

/// A row: the rank of its value in each column of the order, odd if the value is one of the request's; `None` is a null.
pub(super) type Row = Vec<Option<usize>>;

/// A table, the values of the statement's parameters, and the row above the page.
pub(super) struct Table<'t> {
    /// The columns in which its rows differ. In all others, rows have whatever value the statement looks for.
    pub(super) columns: &'t [&'t str],
    pub(super) rows: &'t [Row],
    pub(super) parameters: &'t [ParameterValue<'t>],
    /// The rank of a value in a column.
    pub(super) rank: &'t dyn Fn(usize, &Value) -> usize,
    pub(super) parent: Option<&'t ParentRow>,
}

/// The row whose page is read.
#[derive(Debug)]
pub(super) struct ParentRow {
    /// The number of its step.
    pub(super) step: usize,
    /// Its columns beside those of the table; a truth value is 0 or 1.
    pub(super) columns: Vec<(&'static str, Option<usize>)>,
}

/// A page of a connection.
#[derive(Debug)]
pub(super) struct Page {
    page: Select,
    flags: Option<Flags>,
}

/// The flags of a page, as a row of its own.
#[derive(Debug)]
struct Flags {
    /// For each flag, of which one has to find a row.
    probes: Vec<Vec<Select>>,
    /// Without it there is no row.
    condition: Option<IsParent>,
}

/// The condition that the row above the page is written: its number is at most a parameter, and columns of it are true.
#[derive(Debug)]
struct IsParent {
    step: usize,
    size: usize,
    truths: Vec<String>,
}

#[derive(Debug)]
struct Select {
    /// The columns of the result by their names.
    columns: Vec<(String, String)>,
    source: Source,
    conditions: Vec<Condition>,
    /// The columns of the order, and whether they are descending.
    order: Vec<(String, bool)>,
    limit: Option<Limit>,
}

#[derive(Debug)]
enum Source {
    Table,
    Select(Box<Select>),
    Union(Vec<Select>),
}

#[derive(Debug)]
enum Limit {
    Parameter(usize),
    /// No rows if the condition does not hold.
    Case(IsParent, usize),
    Number(usize),
}

#[derive(Debug)]
enum Condition {
    Always(bool),
    IsNull(String, bool),
    /// Columns and the parameters that they are compared with, one after the other.
    Compare(Vec<String>, &'static str, Vec<usize>),
    Among(String, usize),
    /// Equality with a column of the row of that step.
    OfParent(String, usize),
    /// Two parameters, both values of the first column.
    Values(usize, &'static str, usize),
}

impl Page {
    pub(super) fn parse(words: &[Word]) -> Self {
        let mut parser = Parser { words, at: 0 };
        let page = parser.page();
        assert_eq!(parser.at, words.len(), "words that nobody reads: {:?}", &words[parser.at..]);
        page
    }

    /// The rows of the page, by their indexes.
    pub(super) fn rows(&self, table: &Table<'_>) -> Vec<usize> {
        let condition = self.flags.as_ref().and_then(|flags| flags.condition.as_ref());
        if condition.is_none_or(|condition| condition.holds(table)) { self.page.run(table) } else { Vec::new() }
    }

    /// What the flags are; none if there is no row.
    pub(super) fn flags(&self, table: &Table<'_>) -> Vec<bool> {
        let flags = self.flags.iter().filter(|flags| flags.condition.as_ref().is_none_or(|is| is.holds(table)));
        let has_rows = |probe: &Vec<Select>| probe.iter().any(|select| !select.run(table).is_empty());
        flags.flat_map(|flags| &flags.probes).map(has_rows).collect()
    }
}

impl IsParent {
    fn holds(&self, table: &Table<'_>) -> bool {
        let parent = table.parent.expect("a row above the page");
        assert_eq!(parent.step, self.step, "the row above the page");
        let column = |name: &str| {
            let column = parent.columns.iter().find(|(own, _)| *own == name);
            column.unwrap_or_else(|| panic!("the row above the page has no {name}")).1
        };
        let is_true = |name: &String| column(name).is_some_and(|truth| truth > 0);
        column("n").is_some_and(|number| number <= table.rows_of(self.size)) && self.truths.iter().all(is_true)
    }
}

impl Select {
    fn run(&self, table: &Table<'_>) -> Vec<usize> {
        let mut rows = match &self.source {
            Source::Table => (0..table.rows.len()).collect(),
            Source::Select(select) => select.run(table),
            Source::Union(selects) => selects.iter().flat_map(|select| select.run(table)).collect(),
        };
        rows.retain(|row| {
            self.conditions.iter().all(|condition| condition.holds(table, &table.rows[*row]) == Some(true))
        });
        let order = self.order.iter().map(|(column, descending)| (self.column(column), *descending));
        let order: Vec<_> = order.filter_map(|(name, descending)| Some((table.column(&name)?, descending))).collect();
        // Nulls come after all values, and so before them in a descending order.
        let key = |row: usize, column: usize| table.rows[row][column].unwrap_or(usize::MAX);
        rows.sort_by(|one, other| {
            let by = |(column, descending): &(usize, bool)| {
                let order = key(*one, *column).cmp(&key(*other, *column));
                if *descending { order.reverse() } else { order }
            };
            order.iter().map(by).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        });
        match &self.limit {
            None => {}
            Some(Limit::Number(number)) => rows.truncate(*number),
            Some(Limit::Parameter(number)) => rows.truncate(table.rows_of(*number)),
            Some(Limit::Case(condition, number)) => {
                rows.truncate(if condition.holds(table) { table.rows_of(*number) } else { 0 });
            }
        }
        rows
    }

    /// The table's column that an order names, by itself or by its name in the result.
    fn column(&self, name: &str) -> String {
        let inner = match &self.source {
            Source::Table => &self.columns,
            Source::Select(select) => &select.columns,
            Source::Union(selects) => &selects[0].columns,
        };
        inner.iter().find(|(result, _)| result == name).map_or(name, |(_, column)| column).to_owned()
    }
}

impl Table<'_> {
    fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| *column == name)
    }

    /// The number of rows that a parameter is.
    fn rows_of(&self, number: usize) -> usize {
        match self.parameters[number - 1] {
            ParameterValue::Limit(rows) => usize::try_from(rows).expect("a positive limit"),
            other => panic!("{other:?} as a number of rows"),
        }
    }

    /// The rank in a column of the value that a parameter has.
    fn parameter(&self, column: usize, number: usize) -> Option<usize> {
        match values(&self.parameters[number - 1])?.as_slice() {
            [value] => Some((self.rank)(column, value)),
            others => panic!("{others:?} as one value"),
        }
    }
}

impl Condition {
    /// `None` is SQL's unknown.
    fn holds(&self, table: &Table<'_>, row: &Row) -> Option<bool> {
        match self {
            Self::Always(truth) => Some(*truth),
            Self::IsNull(name, truth) => {
                let column = table.column(name).unwrap_or_else(|| panic!("{name} is not in the order"));
                Some(row[column].is_none() == *truth)
            }
            Self::OfParent(name, step) => {
                assert_eq!(table.column(name), None, "{name} differs within a parent");
                assert_eq!(table.parent.map(|parent| parent.step), Some(*step), "the row above the page");
                Some(true)
            }
            Self::Among(name, number) => {
                let Some(column) = table.column(name) else { return Some(true) };
                let values = values(&table.parameters[number - 1]).expect("values");
                let rank = row[column]?;
                Some(values.into_iter().any(|value| (table.rank)(column, value) == rank))
            }
            Self::Values(left, sign, right) => {
                let [left, right] = [*left, *right].map(|number| table.parameter(0, number));
                Some(compares(left?.cmp(&right?), sign))
            }
            Self::Compare(names, sign, numbers) => {
                for (index, (name, number)) in names.iter().zip(numbers).enumerate() {
                    let Some(column) = table.column(name) else {
                        assert_eq!(*sign, "=", "a range of {name}, which is not in the order");
                        continue;
                    };
                    let order = row[column]?.cmp(&table.parameter(column, *number)?);
                    if order.is_ne() || index + 1 == names.len() {
                        return Some(compares(order, sign));
                    }
                }
                Some(true)
            }
        }
    }
}

fn compares(order: Ordering, sign: &str) -> bool {
    match sign {
        "=" => order.is_eq(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        ">=" => order.is_ge(),
        other => panic!("{other} as a comparison"),
    }
}

struct Parser<'w> {
    words: &'w [Word],
    at: usize,
}

impl Parser<'_> {
    fn is(&self, text: &str) -> bool {
        self.words.get(self.at).is_some_and(|word| word.is(text))
    }

    fn accept(&mut self, text: &str) -> bool {
        let is_next = self.is(text);
        self.at += usize::from(is_next);
        is_next
    }

    #[track_caller]
    fn expect(&mut self, texts: &[&str]) {
        for text in texts {
            assert!(self.accept(text), "{text} expected before {:?}", &self.words[self.at..]);
        }
    }

    fn next(&mut self) -> Word {
        self.at += 1;
        self.words[self.at - 1].clone()
    }

    /// A page with or without flags before it.
    fn page(&mut self) -> Page {
        if !self.words.get(1).is_some_and(|word| word.is("f")) {
            return Page { page: self.select(), flags: None };
        }
        self.expect(&["SELECT", "f", ".", "*", ",", "p", ".", "*", "FROM", "(", "SELECT"]);
        let probes = self.probes();
        let condition = self.accept("WHERE").then(|| self.is_parent());
        if self.accept("OFFSET") {
            assert_eq!(self.next(), Word::Number(0));
        }
        self.expect(&[")", "AS", "f", "LEFT", "JOIN", "LATERAL", "("]);
        let page = self.select();
        self.expect(&[")", "AS", "p", "ON", "TRUE"]);
        Page { page, flags: Some(Flags { probes, condition }) }
    }

    /// The flags in a list: `(SELECT …) OR … AS f0, …`.
    fn probes(&mut self) -> Vec<Vec<Select>> {
        let mut flags = Vec::new();
        loop {
            let mut selects = Vec::new();
            loop {
                self.expect(&["("]);
                selects.push(self.select());
                self.expect(&[")"]);
                if !self.accept("OR") {
                    break;
                }
            }
            flags.push(selects);
            self.expect(&["AS"]);
            self.at += 1;
            if !self.accept(",") {
                break;
            }
        }
        flags
    }

    fn select(&mut self) -> Select {
        self.expect(&["SELECT"]);
        let columns = self.columns();
        self.expect(&["FROM"]);
        let source = self.source();
        while self.accept("LEFT") {
            self.expect(&["JOIN", "LATERAL"]);
            self.skip_brackets();
            self.expect(&["AS"]);
            self.at += 1;
            self.expect(&["ON", "TRUE"]);
        }
        let mut conditions = Vec::new();
        if self.accept("WHERE") {
            conditions.push(self.condition());
            while self.accept("AND") {
                conditions.push(self.condition());
            }
        }
        let mut order = Vec::new();
        if self.accept("ORDER") {
            self.expect(&["BY"]);
            loop {
                let column = self.column();
                order.push((column, self.accept("DESC")));
                if !self.accept(",") {
                    break;
                }
            }
        }
        let limit = self.accept("LIMIT").then(|| self.limit());
        Select { columns, source, conditions, order, limit }
    }

    fn limit(&mut self) -> Limit {
        if self.accept("CASE") {
            self.expect(&["WHEN"]);
            let condition = self.is_parent();
            self.expect(&["THEN"]);
            let limit = Limit::Case(condition, self.parameter());
            self.expect(&["ELSE"]);
            assert_eq!(self.next(), Word::Number(0));
            self.expect(&["::", "int8", "END"]);
            return limit;
        }
        match self.next() {
            Word::Parameter(number) => Limit::Parameter(number),
            Word::Number(number) => Limit::Number(usize::try_from(number).expect("a number of rows")),
            other => panic!("{other:?} as a limit"),
        }
    }

    /// `p0.n <= $1 AND p0.matches AND p0.present`
    fn is_parent(&mut self) -> IsParent {
        let step = self.row_above().unwrap_or_else(|| panic!("no row above: {:?}", &self.words[self.at..]));
        self.expect(&[".", "n", "<="]);
        let (size, mut truths) = (self.parameter(), Vec::new());
        while self.accept("AND") {
            assert_eq!(self.row_above(), Some(step), "the row above the page");
            self.expect(&["."]);
            let Word::Bare(name) = self.next() else { panic!("no name: {:?}", &self.words[self.at - 1..]) };
            truths.push(name);
        }
        IsParent { step, size, truths }
    }

    /// The step in the name of a row: `p0`.
    fn row_above(&mut self) -> Option<usize> {
        let step = self.words.get(self.at)?.number_after("p")?;
        self.at += 1;
        Some(step)
    }

    /// The select list, of which only plain columns matter.
    fn columns(&mut self) -> Vec<(String, String)> {
        let mut columns = Vec::new();
        loop {
            let start = self.at;
            let mut depth = 0_usize;
            while depth > 0 || !(self.is(",") || self.is("FROM")) {
                depth += usize::from(self.is("("));
                depth -= usize::from(self.is(")"));
                self.at += 1;
            }
            if let [Word::Bare(alias), _, Word::Identifier(column), .., Word::Bare(name)] = &self.words[start..self.at]
                && alias == "t"
            {
                columns.push((name.clone(), column.clone()));
            }
            if !self.accept(",") {
                return columns;
            }
        }
    }

    fn source(&mut self) -> Source {
        let source = if self.accept("(") {
            let source = if self.is("(") {
                let mut selects = Vec::new();
                loop {
                    self.expect(&["("]);
                    selects.push(self.select());
                    self.expect(&[")"]);
                    if !self.accept("UNION") {
                        break;
                    }
                    self.expect(&["ALL"]);
                }
                Source::Union(selects)
            } else {
                Source::Select(Box::new(self.select()))
            };
            self.expect(&[")"]);
            source
        } else {
            self.at += 1;
            while self.accept(".") {
                self.at += 1;
            }
            Source::Table
        };
        self.expect(&["AS"]);
        self.at += 1;
        source
    }

    fn condition(&mut self) -> Condition {
        if self.is("TRUE") || self.is("FALSE") {
            return Condition::Always(self.next().is("TRUE"));
        }
        if self.accept("(") {
            let mut columns = vec![self.column()];
            while self.accept(",") {
                columns.push(self.column());
            }
            self.expect(&[")"]);
            let sign = self.sign();
            self.expect(&["("]);
            let mut parameters = vec![self.parameter()];
            while self.accept(",") {
                parameters.push(self.parameter());
            }
            self.expect(&[")"]);
            return Condition::Compare(columns, sign, parameters);
        }
        if matches!(self.words[self.at], Word::Parameter(_)) {
            let left = self.parameter();
            let sign = self.sign();
            return Condition::Values(left, sign, self.parameter());
        }
        let column = self.column();
        if self.accept("IS") {
            let is_null = !self.accept("NOT");
            self.expect(&["NULL"]);
            return Condition::IsNull(column, is_null);
        }
        let sign = self.sign();
        if self.accept("ANY") {
            self.expect(&["("]);
            let parameter = self.parameter();
            self.expect(&[")"]);
            return Condition::Among(column, parameter);
        }
        if let Some(step) = self.row_above() {
            assert_eq!(sign, "=");
            self.expect(&["."]);
            self.at += 1;
            return Condition::OfParent(column, step);
        }
        Condition::Compare(vec![column], sign, vec![self.parameter()])
    }

    /// A column: `t."name"`, or by its name in the result, `u.c0`.
    fn column(&mut self) -> String {
        assert!(self.accept("t") || self.accept("u"), "{:?}", &self.words[self.at..]);
        self.expect(&["."]);
        match self.next() {
            Word::Identifier(name) | Word::Bare(name) => name,
            other => panic!("{other:?} as a column"),
        }
    }

    fn sign(&mut self) -> &'static str {
        match self.next() {
            Word::Sign(sign) => sign,
            other => panic!("{other:?} as a comparison"),
        }
    }

    /// A parameter with or without its type.
    fn parameter(&mut self) -> usize {
        let Word::Parameter(number) = self.next() else { panic!("no parameter: {:?}", &self.words[self.at - 1..]) };
        self.at += if self.is("::") { 2 } else { 0 };
        number
    }

    fn skip_brackets(&mut self) {
        self.expect(&["("]);
        let mut depth = 1_usize;
        while depth > 0 {
            depth += usize::from(self.is("("));
            depth -= usize::from(self.is(")"));
            self.at += 1;
        }
    }
}

/// The values of a parameter that is compared with columns; `None` if it has no value of the request.
fn values<'p>(parameter: &ParameterValue<'p>) -> Option<Vec<&'p Value>> {
    match parameter {
        ParameterValue::Value(value) => Some(vec![(*value)?]),
        ParameterValue::Values(values) => Some(values.iter().collect()),
        ParameterValue::Limit(_) => None,
    }
}
