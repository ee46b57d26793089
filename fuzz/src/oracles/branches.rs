//! The branches of a plan's statement, one for each step, read from the words of its text. A branch returns the rows of its page, and
//! after each of them the rows of the branches below it:
//!
//! ```text
//! SELECT 1 AS step, p1.c0::text, NULL::int8 FROM (page) AS p1
//! SELECT r0.* FROM (page) AS p0 CROSS JOIN LATERAL (SELECT 0 AS step, … UNION ALL branch UNION ALL branch …) AS r0
//! ```
//!
//! A page whose rows are numbered is `SELECT q.*, row_number() OVER () AS n FROM (page) AS q`, and one that is read from its back ends
//! with `ORDER BY n DESC`.

use std::ops::Range;

use crate::oracles::sql::Word;

/// The branch of a step.
#[derive(Debug)]
pub struct Branch<'w> {
    /// The number of the step.
    pub step: usize,
    /// What returns the rows of its page, in the order in which they are read.
    pub page: &'w [Word],
    /// Whether the rows are numbered, from 1.
    pub is_numbered: bool,
    /// Whether they are returned in the reverse of the order in which they are read.
    pub is_reversed: bool,
    /// The columns of a row, after the number of the step.
    pub columns: Vec<Column<'w>>,
    /// The branches below it.
    pub children: Vec<Branch<'w>>,
}

/// A column that a branch returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column<'w> {
    /// A null of that type.
    Null(&'w str),
    /// A column of the page, and the type that it is converted to.
    OfPage(&'w str, Option<&'w str>),
    /// Whether the row's number is above this parameter.
    NumberAbove(usize),
}

/// The branches at the root of a statement.
pub fn branches(words: &[Word]) -> Vec<Branch<'_>> {
    let mut parser = Parser { words, at: 0 };
    let branches = parser.branches();
    assert_eq!(parser.at, words.len(), "words that nobody reads: {:?}", &words[parser.at..]);
    branches
}

/// A branch and those below it, each before those below it, with the number of the step above.
pub fn steps<'b, 'w>(branches: &'b [Branch<'w>], parent: Option<usize>) -> Vec<(Option<usize>, &'b Branch<'w>)> {
    let mut steps = Vec::new();
    for branch in branches {
        steps.push((parent, branch));
        steps.extend(self::steps(&branch.children, Some(branch.step)));
    }
    steps
}

struct Parser<'w> {
    words: &'w [Word],
    at: usize,
}

impl<'w> Parser<'w> {
    fn branches(&mut self) -> Vec<Branch<'w>> {
        let mut branches = vec![self.branch()];
        while self.accept("UNION") {
            self.expect(&["ALL"]);
            branches.push(self.branch());
        }
        branches
    }

    fn branch(&mut self) -> Branch<'w> {
        if self.words.get(self.at + 1).is_none_or(|word| word.number_after("r").is_none()) {
            let (step, columns) = self.row();
            let rows = self.rows(step);
            return rows.branch(step, columns, Vec::new());
        }
        self.expect(&["SELECT"]);
        let step = self.name("r");
        self.expect(&[".", "*"]);
        let rows = self.rows(step);
        self.expect(&["CROSS", "JOIN", "LATERAL", "("]);
        let (own, columns) = self.row();
        assert_eq!(own, step, "the rows of a page come before those below them");
        self.expect(&["UNION", "ALL"]);
        let children = self.branches();
        self.expect(&[")", "AS"]);
        assert_eq!(self.name("r"), step, "the name of a branch");
        rows.branch(step, columns, children)
    }

    /// `FROM (…) AS p0`
    fn rows(&mut self, step: usize) -> Rows<'w> {
        self.expect(&["FROM"]);
        let range = self.brackets();
        self.expect(&["AS"]);
        assert_eq!(self.name("p"), step, "the name of a page");
        let page = &self.words[range];
        let numbered = ["SELECT", "q", ".", "*", ",", "row_number", "(", ")", "OVER", "(", ")", "AS", "n", "FROM"];
        if !page.iter().zip(numbered).all(|(word, text)| word.is(text)) {
            return Rows { page, is_numbered: false, is_reversed: false };
        }
        let mut parser = Self { words: page, at: numbered.len() };
        let range = parser.brackets();
        parser.expect(&["AS", "q"]);
        let is_reversed = parser.accept("ORDER");
        if is_reversed {
            parser.expect(&["BY", "n", "DESC"]);
        }
        assert_eq!(parser.at, page.len(), "words that nobody reads: {:?}", &page[parser.at..]);
        Rows { page: &page[range], is_numbered: true, is_reversed }
    }

    /// `SELECT 0 AS step, …`
    fn row(&mut self) -> (usize, Vec<Column<'w>>) {
        self.expect(&["SELECT"]);
        let step = self.number();
        self.expect(&["AS", "step"]);
        let mut columns = Vec::new();
        while self.accept(",") {
            columns.push(self.column(step));
        }
        (step, columns)
    }

    fn column(&mut self, step: usize) -> Column<'w> {
        if self.accept("NULL") {
            self.expect(&["::"]);
            return Column::Null(self.bare());
        }
        assert_eq!(self.name("p"), step, "a branch returns columns of its own page");
        self.expect(&["."]);
        let name = self.bare();
        if self.accept(">") {
            assert_eq!(name, "n");
            let Some(Word::Parameter(number)) = self.next() else { panic!("{:?}", &self.words[self.at - 1..]) };
            return Column::NumberAbove(*number);
        }
        Column::OfPage(name, self.accept("::").then(|| self.bare()))
    }

    /// What is between an opening bracket and the one that closes it.
    fn brackets(&mut self) -> Range<usize> {
        self.expect(&["("]);
        let start = self.at;
        let mut depth = 1_usize;
        while depth > 0 {
            let word = self.next().expect("brackets match");
            depth += usize::from(word.is("("));
            depth -= usize::from(word.is(")"));
        }
        start..self.at - 1
    }

    fn next(&mut self) -> Option<&'w Word> {
        self.at += 1;
        self.words.get(self.at - 1)
    }

    fn accept(&mut self, text: &str) -> bool {
        let is_next = self.words.get(self.at).is_some_and(|word| word.is(text));
        self.at += usize::from(is_next);
        is_next
    }

    #[track_caller]
    fn expect(&mut self, texts: &[&str]) {
        for text in texts {
            assert!(self.accept(text), "{text} expected before {:?}", &self.words[self.at..]);
        }
    }

    fn bare(&mut self) -> &'w str {
        match self.next() {
            Some(Word::Bare(name)) => name,
            other => panic!("{other:?} as a name"),
        }
    }

    fn number(&mut self) -> usize {
        match self.next() {
            Some(Word::Number(number)) => usize::try_from(*number).expect("a step's number fits"),
            other => panic!("{other:?} as a number"),
        }
    }

    /// The number in a name that has these letters before it.
    fn name(&mut self, letters: &str) -> usize {
        let word = self.next();
        word.and_then(|word| word.number_after(letters)).unwrap_or_else(|| panic!("{word:?} as a name with {letters}"))
    }
}

/// The rows of a page.
struct Rows<'w> {
    page: &'w [Word],
    is_numbered: bool,
    is_reversed: bool,
}

impl<'w> Rows<'w> {
    fn branch(self, step: usize, columns: Vec<Column<'w>>, children: Vec<Branch<'w>>) -> Branch<'w> {
        let Self { page, is_numbered, is_reversed } = self;
        Branch { step, page, is_numbered, is_reversed, columns, children }
    }
}
