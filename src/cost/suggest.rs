//! Page sizes under which a query that costs too much is allowed: the same selection, smaller pages.
//!
//! A price is a sum of products of page sizes, so it falls with each of them. Three ways to shrink are tried, each with
//! one factor for all that it touches: the outermost pages alone, so that what is nested still comes whole; the nested
//! pages alone; all of them. The factor is the largest that fits, found by bisection, and what it leaves is then given
//! back page by page, the outermost first. What is suggested is priced as a whole, so it fits exactly as it is.
//!
//! Page sizes that stand in one variable, or in a fragment that is spread in several places, move together. What a
//! written-out `@skip(if: true)` or `@include(if: false)` takes out of a document is not known here: where the same field
//! stands there once more, it has to be edited too, for both must have the same arguments.

use crate::cost::Cost;
use crate::cost::pages::Pages;
use crate::error::graphql_error::Location;
use crate::query::bind::page::{End, SizeSource};
use crate::query::bind::{BoundConnection, StepId};

/// The most steps for which page sizes are looked for. It bounds the work that a refusal takes.
const MOST_STEPS: usize = 256;

/// The most steps for which what the common factor leaves is given back.
const MOST_STEPS_TO_FILL: usize = 24;

/// The most places of a document in which page sizes are looked for.
const MOST_PLACES: usize = 2048;

/// The most places that a suggestion may ask to be edited. More is a rewrite.
const MOST_EDITS: usize = 50;

/// The steps in which a common factor is tried, from nothing to 1.
const FINEST: u64 = 1 << 16;

/// What page sizes can do for a query that costs too much.
#[derive(Debug)]
pub(super) struct Advice<'a> {
    /// The price with one row in every page: no page sizes make it less.
    pub(super) minimum_cost: Cost,
    /// Page sizes that fit, the ones that lose least first. Empty where none do, or where too many would change.
    pub(super) suggestions: Vec<Suggestion<'a>>,
}

/// Page sizes that fit.
#[derive(Debug)]
pub(super) struct Suggestion<'a> {
    /// Which pages are smaller.
    pub(super) shrinks: Shrinks,
    /// What to change, in query order.
    pub(super) edits: Vec<Edit<'a>>,
    /// The price then.
    pub(super) estimated_cost: Cost,
}

/// Which pages a suggestion makes smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shrinks {
    /// Those with no page above them.
    Outermost,
    /// Those with a page above them.
    Nested,
    /// All of them.
    All,
}

impl Shrinks {
    /// The ways to shrink, the one that loses least first: nested rows that are left out are hard to come by later.
    const ALL: [Self; 3] = [Self::Outermost, Self::Nested, Self::All];

    /// As the facts of a refusal tell it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Outermost => "outermost",
            Self::Nested => "nested",
            Self::All => "all",
        }
    }

    fn moves(self, size: &Size<'_>) -> bool {
        match self {
            Self::Outermost => size.is_outermost,
            Self::Nested => !size.is_outermost,
            Self::All => true,
        }
    }
}

/// A page size to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit<'a> {
    /// The first connection that it is about.
    pub(super) step: StepId,
    /// The end that it is taken from there.
    pub(super) end: End,
    /// What it is.
    pub(super) from: u64,
    /// What it should be, 1 at least.
    pub(super) to: u64,
    /// The variable that holds it; `None` where the document says it.
    pub(super) variable: Option<&'a str>,
    /// The fields of the document that say it; empty where a variable does.
    pub(super) locations: Vec<Location>,
}

/// Looks for page sizes under which an operation costs no more than that.
pub(super) fn advise<'a>(pages: &Pages<'a>, max_cost: Cost) -> Advice<'a> {
    let minimum_cost = pages.formula.price(&vec![1; pages.connections.len()], &mut Vec::new());
    let sizes = if minimum_cost > max_cost { None } else { sizes(pages) };
    let mut suggestions: Vec<Suggestion<'a>> = Vec::new();
    if let Some(sizes) = sizes {
        let mut trial = Trial { pages, sizes: &sizes, max_cost, tried: pages.sizes(), totals: Vec::new() };
        for shrinks in Shrinks::ALL {
            if let Some(found) = trial.shrink(shrinks) {
                let places = found.edits.iter().map(|edit| edit.locations.len().max(1)).sum::<usize>();
                let is_new = suggestions.iter().all(|other| other.edits != found.edits);
                if is_new && places <= MOST_EDITS {
                    suggestions.push(found);
                }
            }
        }
    }
    Advice { minimum_cost, suggestions }
}

/// A page size that can be changed, and all steps that change with it.
#[derive(Debug)]
struct Size<'a> {
    steps: Vec<StepId>,
    first: &'a BoundConnection<'a>,
    /// Whether any of its steps has no page above it.
    is_outermost: bool,
    locations: Vec<Location>,
}

impl Size<'_> {
    fn from(&self) -> u64 {
        u64::from(self.first.page.size.get())
    }
}

/// A place where a page size is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place<'a> {
    Variable(&'a str),
    Document(Location),
}

/// The page sizes of an operation, in query order; `None` where they are too many to look into.
fn sizes<'a>(pages: &Pages<'a>) -> Option<Vec<Size<'a>>> {
    if pages.connections.len() > MOST_STEPS {
        return None;
    }
    let mut written = Vec::new();
    for (step, connection) in pages.connections.iter().enumerate() {
        match connection.map(|connection| connection.size_written) {
            None => {}
            Some(SizeSource::Variable(name)) => written.push((Place::Variable(name), step)),
            Some(SizeSource::Document(occurrences)) => {
                written.extend(occurrences.iter().map(|occurrence| (Place::Document(occurrence.location), step)));
            }
        }
        if written.len() > MOST_PLACES {
            return None;
        }
    }
    written.sort_unstable();

    let mut leaders: Vec<StepId> = (0..pages.connections.len()).collect();
    for pair in written.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let (one, other) = (leader(&leaders, pair[0].1), leader(&leaders, pair[1].1));
        // The first of its steps leads.
        leaders[one.max(other)] = one.min(other);
    }
    let mut sizes: Vec<Size<'a>> = Vec::new();
    let mut by_leader = vec![0; pages.connections.len()];
    for (step, connection) in pages.connections.iter().enumerate() {
        let Some(connection) = *connection else { continue };
        let leader = leader(&leaders, step);
        if leader == step {
            by_leader[step] = sizes.len();
            sizes.push(Size { steps: Vec::new(), first: connection, is_outermost: false, locations: Vec::new() });
        }
        let size = &mut sizes[by_leader[leader]];
        size.steps.push(step);
        size.is_outermost |= is_outermost(pages, step);
    }
    for (place, step) in written {
        let Place::Document(location) = place else { continue };
        let locations = &mut sizes[by_leader[leader(&leaders, step)]].locations;
        if locations.last() != Some(&location) {
            locations.push(location);
        }
    }
    Some(sizes)
}

/// The first of the steps that this one moves with.
fn leader(leaders: &[StepId], mut step: StepId) -> StepId {
    while leaders[step] != step {
        step = leaders[step];
    }
    step
}

/// Whether there is no page above a step; a point root is none.
fn is_outermost(pages: &Pages<'_>, step: StepId) -> bool {
    let above = |step: &StepId| pages.formula.steps[*step].above;
    std::iter::successors(above(&step), above).all(|step| pages.connections[step].is_none())
}

/// Page sizes that are tried.
struct Trial<'p, 'a> {
    pages: &'p Pages<'a>,
    sizes: &'p [Size<'a>],
    max_cost: Cost,
    /// By step.
    tried: Vec<u64>,
    /// Room to price them.
    totals: Vec<Cost>,
}

impl<'a> Trial<'_, 'a> {
    /// The largest pages that fit if these shrink and the others stay.
    fn shrink(&mut self, shrinks: Shrinks) -> Option<Suggestion<'a>> {
        let sizes = self.sizes;
        let movable = || sizes.iter().filter(|size| shrinks.moves(size));
        self.tried = self.pages.sizes();
        let scale = |trial: &mut Self, factor: u64| {
            for size in movable() {
                trial.set(size, (size.from().saturating_mul(factor) / FINEST).max(1));
            }
            trial.price() <= trial.max_cost
        };
        if !scale(self, 0) {
            return None;
        }
        let factor = largest(0, FINEST, |factor| scale(self, factor));
        scale(self, factor);
        if self.pages.connections.len() <= MOST_STEPS_TO_FILL {
            for size in movable() {
                let fit = largest(self.tried[size.steps[0]], size.from(), |tried| {
                    self.set(size, tried);
                    self.price() <= self.max_cost
                });
                self.set(size, fit);
            }
        }
        let edits = sizes.iter().filter(|size| self.tried[size.steps[0]] < size.from());
        let edits = edits.map(|size| Edit {
            step: size.steps[0],
            end: size.first.page.end,
            from: size.from(),
            to: self.tried[size.steps[0]],
            variable: match size.first.size_written {
                SizeSource::Variable(name) => Some(name),
                SizeSource::Document(_) => None,
            },
            locations: size.locations.clone(),
        });
        Some(Suggestion { shrinks, edits: edits.collect(), estimated_cost: self.price() })
    }

    fn set(&mut self, size: &Size<'_>, rows: u64) {
        for step in &size.steps {
            self.tried[*step] = rows;
        }
    }

    fn price(&mut self) -> Cost {
        self.pages.formula.price(&self.tried, &mut self.totals)
    }
}

/// The largest number that fits, of those from `low`, which does, to `high`. What is below one that fits fits too.
fn largest(mut low: u64, mut high: u64, mut fits: impl FnMut(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}
