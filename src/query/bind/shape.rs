//! The shape of a request: all that its statement and its price depend on beside its operation, but for the page sizes in the price. It has
//! no value, so a plan for a shape is the same for all requests that have the shape.

use crate::catalog::totals::GroupOrder;
use crate::cursor::CursorPosition;
use crate::query::bind::conditions::Conditions;
use crate::query::bind::page_size::FromEnd;
use crate::query::bind::step_id::StepId;
use crate::search::Comparator;

/// The most values of a list that a statement reads one by one.
const MAX_FEW_VALUES: u32 = 4;

/// The shape of a request, without its search terms, which are only read of admitted requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shape {
    /// Which of the selections there are.
    pub(crate) conditions: Conditions,
    /// By [`StepId`]: its connections and lookups, in the order of the response.
    pub(crate) steps: Vec<StepShape>,
}

/// The shape of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StepShape {
    /// A row: the keys that are given, by their indexes among the binding's.
    Lookup(Vec<usize>),
    Page(PageShape),
    /// A page of changes.
    Changes,
    /// Totals of the rows of a page, in a page of groups.
    Totals(PageShape, Grouping),
}

/// Which rows of a connection are requested, and in which order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageShape {
    /// The index of the sort key among the connection's.
    pub(crate) sort_key: usize,
    pub(crate) reverse: bool,
    /// The end of the connection that the page is taken from.
    pub(crate) end: FromEnd,
    /// The cursor that the rows come after.
    pub(crate) after: Option<CursorShape>,
    /// The cursor that the rows come before.
    pub(crate) before: Option<CursorShape>,
    /// Whether rows are counted if the count is selected.
    pub(crate) is_counted: bool,
    /// How many of its search terms no selective index serves.
    pub(crate) unindexed_terms: u64,
}

/// The place of a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CursorShape {
    /// At a row whose first sort column has a value.
    InValues,
    /// At a row whose first sort column is null.
    InNulls,
}

impl CursorShape {
    /// The shape of a position.
    pub(super) fn of(position: &CursorPosition) -> Self {
        if position.first().is_some_and(Option::is_none) { Self::InNulls } else { Self::InValues }
    }
}

/// In which groups rows are summed up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grouping {
    /// `None` for the keys that are selected.
    pub(crate) keys: Option<GroupKeys>,
    pub(crate) order: GroupOrder,
}

/// Some of the keys of a root by their indexes, each once, in the order in which groups are sorted by them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GroupKeys(Vec<usize>);

impl GroupKeys {
    /// The keys.
    pub(crate) fn indexes(&self) -> &[usize] {
        &self.0
    }

    /// Adds a key after the others, unless it is among them.
    pub(crate) fn insert(&mut self, key: usize) {
        if !self.0.contains(&key) {
            self.0.push(key);
        }
    }
}

/// The shape of a search term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TermShape {
    /// The index of the key among the connection's search keys.
    pub(crate) key: usize,
    /// How it is compared. The key accepts this comparator.
    pub(crate) comparator: Comparator,
    /// How many values it has, if these are few: their ranges are read one by one.
    pub(crate) few: Option<u32>,
}

/// The shapes of a request's search terms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TermShapes {
    /// By [`StepId`], up to the last step that has some.
    by_step: Vec<Box<[TermShape]>>,
}

impl Shape {
    /// About how much memory it takes beside itself, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let keys = self.steps.iter().map(|step| match step {
            StepShape::Lookup(keys) => size_of_val(keys.as_slice()),
            StepShape::Totals(_, grouping) => grouping.keys.as_ref().map_or(0, |keys| size_of_val(keys.indexes())),
            StepShape::Page(_) | StepShape::Changes => 0,
        });
        self.conditions.bytes() + size_of_val(self.steps.as_slice()) + keys.sum::<usize>()
    }
}

impl TermShape {
    /// The shape of a term with this number of values.
    pub(crate) fn new(key: usize, comparator: Comparator, values: usize) -> Self {
        Self { key, comparator, few: u32::try_from(values).ok().filter(|values| *values <= MAX_FEW_VALUES) }
    }
}

impl TermShapes {
    /// The shapes of a step's terms.
    pub(crate) fn of(&self, step: StepId) -> &[TermShape] {
        self.by_step.get(step).map_or(&[], |terms| terms)
    }

    /// Sets the shapes of a step after the last one that has some.
    pub(super) fn insert(&mut self, step: StepId, terms: Box<[TermShape]>) {
        self.by_step.resize_with(step, Box::default);
        self.by_step.push(terms);
    }

    /// About how much memory they take beside themselves, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.by_step.as_slice()) + self.by_step.iter().map(|terms| size_of_val(&**terms)).sum::<usize>()
    }
}
