//! Page sizes under which a query that costs too much is allowed: the same selection, smaller pages.
//!
//! A price is a sum of products of page sizes, so it falls with each of them. Three ways to shrink are tried, each with
//! one factor for all pages that it changes: the outermost pages alone, so that nested pages stay whole; the nested pages
//! alone; all of them. Bisection finds the largest factor that fits. What the factor leaves of the limit is then used up page
//! by page, the outermost first. A suggestion is priced as a whole, so it fits as it is.
//!
//! The rows that totals add up are a page here, if the request has the argument `rows`.
//!
//! Page sizes in one variable, or in a fragment that is spread several times, change together. An occurrence of the same
//! field below `@skip(if: true)` or `@include(if: false)` is not known here. It has to be edited too, because all occurrences
//! of a field must have the same arguments.

use crate::cost::lines::{Path, WrittenSize};
use crate::cost::pages::Pages;
use crate::cost::price::Cost;
use crate::error::graphql_error::Location;
use crate::query::bind::page_size::SizeSource;
use crate::query::bind::step_id::StepId;

/// The most steps for which page sizes are suggested. It bounds the work of rejecting a query.
const MAX_STEPS: usize = 256;

/// The most steps for which pages are enlarged again up to the limit.
const MAX_STEPS_TO_FILL: usize = 24;

/// The most locations of page sizes in a document that are considered.
const MAX_LOCATIONS: usize = 2048;

/// The most locations that a suggestion may edit. More would be a rewrite.
const MAX_EDITS: usize = 50;

/// Factors are multiples of one part in this number.
const FACTOR_PARTS: u64 = 1 << 16;

/// The page sizes for a query that costs too much.
#[derive(Debug)]
pub(super) struct Advice<'a> {
    /// The price with one row in every page, which is the lowest for any page sizes.
    pub(super) minimum_cost: Cost,
    /// Page sizes that fit. The suggestion with the smallest loss comes first. Empty if none fit or too many would change.
    pub(super) suggestions: Vec<Suggestion<'a>>,
}

/// Page sizes that fit.
#[derive(Debug)]
pub(super) struct Suggestion<'a> {
    /// Which pages are smaller.
    pub(super) shrinks: Shrinks,
    /// The changes, in query order.
    pub(super) edits: Vec<Edit<'a>>,
    /// The price then.
    pub(super) estimated_cost: Cost,
}

/// Which pages a suggestion makes smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shrinks {
    /// Pages that are inside no other page.
    Outermost,
    /// Pages inside another page.
    Nested,
    /// All of them.
    All,
}

impl Shrinks {
    /// The ways to shrink, the one that loses least first: rows that a nested page leaves out are harder to fetch later.
    const ALL: [Self; 3] = [Self::Outermost, Self::Nested, Self::All];

    /// Its name in the error's `extensions`.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Outermost => "outermost",
            Self::Nested => "nested",
            Self::All => "all",
        }
    }

    fn changes(self, size: &Size<'_>) -> bool {
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
    /// The path of the first connection that has the page size.
    pub(super) path: Path<'a>,
    /// The argument that has it.
    pub(super) argument: &'static str,
    /// The present page size.
    pub(super) from: u64,
    /// The suggested page size, at least 1.
    pub(super) to: u64,
    /// The variable that has it; `None` if the document has it.
    pub(super) variable: Option<&'a str>,
    /// The locations of the fields that have it; empty if a variable does.
    pub(super) locations: Vec<Location>,
}

/// Finds page sizes under which an operation costs no more than `max_cost`.
pub(super) fn advise<'a>(pages: &Pages<'a>, max_cost: Cost) -> Advice<'a> {
    let minimum_cost = pages.cost.price(&pages.smallest_sizes(), &mut Vec::new());
    let sizes = if minimum_cost > max_cost { None } else { sizes(pages) };
    let mut suggestions: Vec<Suggestion<'a>> = Vec::new();
    if let Some(sizes) = sizes {
        let mut trial = Trial { pages, sizes: &sizes, max_cost, tried: pages.sizes.to_vec(), totals: Vec::new() };
        for shrinks in Shrinks::ALL {
            if let Some(found) = trial.shrink(shrinks) {
                let locations = found.edits.iter().map(|edit| edit.locations.len().max(1)).sum::<usize>();
                let is_new = suggestions.iter().all(|other| other.edits != found.edits);
                if is_new && locations <= MAX_EDITS {
                    suggestions.push(found);
                }
            }
        }
    }
    Advice { minimum_cost, suggestions }
}

/// A page size that can be changed, and the steps that have it.
#[derive(Debug)]
struct Size<'a> {
    steps: Vec<StepId>,
    /// The present page size.
    from: u64,
    written: WrittenSize<'a>,
    /// Whether any of its steps is inside no other page.
    is_outermost: bool,
    locations: Vec<Location>,
}

/// The places of a page size, each once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin<'a> {
    Variable(&'a str),
    Document(Location),
}

/// The page sizes of an operation, in query order; `None` if they are too many.
fn sizes<'a>(pages: &Pages<'a>) -> Option<Vec<Size<'a>>> {
    let steps = 0..pages.sizes.len();
    if steps.len() > MAX_STEPS {
        return None;
    }
    let mut origins = Vec::new();
    for step in steps.clone() {
        match pages.written_size(step).map(|size| size.source) {
            None => {}
            Some(SizeSource::Variable(name)) => origins.push((Origin::Variable(name), step)),
            Some(SizeSource::Document(occurrences)) => {
                origins.extend(occurrences.iter().map(|occurrence| (Origin::Document(occurrence.location), step)));
            }
        }
        if origins.len() > MAX_LOCATIONS {
            return None;
        }
    }
    origins.sort_unstable();

    let mut leaders: Vec<StepId> = steps.clone().collect();
    for pair in origins.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let (one, other) = (leader(&leaders, pair[0].1), leader(&leaders, pair[1].1));
        // The first of the steps is the leader.
        leaders[one.max(other)] = one.min(other);
    }
    let mut sizes: Vec<Size<'a>> = Vec::new();
    let mut by_leader = vec![0; steps.len()];
    for step in steps {
        let Some(written) = pages.written_size(step) else { continue };
        let leader = leader(&leaders, step);
        if leader == step {
            by_leader[step] = sizes.len();
            let from = pages.sizes[step];
            sizes.push(Size { steps: Vec::new(), from, written, is_outermost: false, locations: Vec::new() });
        }
        let size = &mut sizes[by_leader[leader]];
        size.steps.push(step);
        size.is_outermost |= is_outermost(pages, step);
    }
    for (origin, step) in origins {
        let Origin::Document(location) = origin else { continue };
        let locations = &mut sizes[by_leader[leader(&leaders, step)]].locations;
        if locations.last() != Some(&location) {
            locations.push(location);
        }
    }
    Some(sizes)
}

/// The first of the steps that have the page size of this one.
fn leader(leaders: &[StepId], mut step: StepId) -> StepId {
    while leaders[step] != step {
        step = leaders[step];
    }
    step
}

/// Whether a step is inside no page. A lookup is not a page.
fn is_outermost(pages: &Pages<'_>, step: StepId) -> bool {
    let parent = |step: &StepId| pages.cost.steps[*step].parent;
    std::iter::successors(parent(&step), parent).all(|step| pages.written_size(step).is_none())
}

/// A search for page sizes.
struct Trial<'p, 'a> {
    pages: &'p Pages<'a>,
    sizes: &'p [Size<'a>],
    max_cost: Cost,
    /// By step.
    tried: Vec<u64>,
    /// A buffer for pricing.
    totals: Vec<Cost>,
}

impl<'a> Trial<'_, 'a> {
    /// The largest pages that fit if some shrink and the others stay.
    fn shrink(&mut self, shrinks: Shrinks) -> Option<Suggestion<'a>> {
        let sizes = self.sizes;
        let changed = || sizes.iter().filter(|size| shrinks.changes(size));
        self.tried = self.pages.sizes.to_vec();
        let scale = |trial: &mut Self, factor: u64| {
            for size in changed() {
                trial.set(size, (size.from.saturating_mul(factor) / FACTOR_PARTS).max(1));
            }
            trial.price() <= trial.max_cost
        };
        if !scale(self, 0) {
            return None;
        }
        let factor = largest(0, FACTOR_PARTS, |factor| scale(self, factor));
        scale(self, factor);
        if self.tried.len() <= MAX_STEPS_TO_FILL {
            for size in changed() {
                let fit = largest(self.tried[size.steps[0]], size.from, |tried| {
                    self.set(size, tried);
                    self.price() <= self.max_cost
                });
                self.set(size, fit);
            }
        }
        let edits = sizes.iter().filter(|size| self.tried[size.steps[0]] < size.from);
        let edits = edits.map(|size| Edit {
            path: self.pages.path(size.steps[0]),
            argument: size.written.argument,
            from: size.from,
            to: self.tried[size.steps[0]],
            variable: match size.written.source {
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
        self.pages.cost.price(&self.tried, &mut self.totals)
    }
}

/// The largest number that fits, from `low` to `high`. `low` must fit, and so must every number below one that fits.
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
