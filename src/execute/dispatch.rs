//! When each statement of a plan is sent, and in which form: as soon as its parents' rows are there, with their keys, or at once,
//! in the form that reads the keys itself.

use std::time::Duration;

use crate::plan::request_plan::Plan;
use crate::plan::self_contained::SelfContained;
use crate::query::bind::ids::StepId;

/// The round trips that are shorter are those within a machine, or nearly so. There, the statements that read keys again take
/// PostgreSQL longer than they save.
const NEAR: Duration = Duration::from_micros(200);

/// What a statement that reads its parents' keys takes longer than one that is sent them, beside the rows that it reads.
const STATEMENT: Duration = Duration::from_micros(20);

/// What it takes to read a row again.
const ROW: Duration = Duration::from_micros(2);

/// The form in which a step's statement is sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form<'a> {
    /// With the keys of its parents, if it has parents.
    WithKeys,
    /// The one that reads them itself.
    SelfContained(&'a SelfContained),
}

impl<'a> Form<'a> {
    /// The text.
    pub(super) fn sql(self, plan: &'a Plan, step: StepId) -> &'a str {
        match self {
            Self::WithKeys => &plan.steps()[step].sql,
            Self::SelfContained(statement) => &statement.sql,
        }
    }

    /// The step whose rows it waits for.
    pub(super) fn waits_for(self, plan: &Plan, step: StepId) -> Option<StepId> {
        match self {
            Self::WithKeys => plan.steps()[step].parent(),
            Self::SelfContained(_) => None,
        }
    }
}

/// The form of each step, where a round trip less saves so much time.
pub(super) fn forms(plan: &Plan, round_trip: Duration) -> Vec<Form<'_>> {
    let with_keys = vec![Form::WithKeys; plan.steps().len()];
    let levels = levels(plan, &with_keys);
    let Some(saving) = round_trip.checked_sub(NEAR).filter(|saving| levels > 1 && !saving.is_zero()) else {
        return with_keys;
    };
    let form = |step| plan.self_contained(step).map_or(Form::WithKeys, Form::SelfContained);
    let self_contained: Vec<_> = (0..plan.steps().len()).map(form).collect();
    let saved = levels - self::levels(plan, &self_contained);
    let prices = self_contained.iter().enumerate().map(|(step, form)| match form {
        Form::WithKeys => Duration::ZERO,
        Form::SelfContained(_) => {
            let rows = u32::try_from(plan.rows_of_parents(step)).unwrap_or(u32::MAX);
            STATEMENT.saturating_add(ROW.saturating_mul(rows))
        }
    });
    let price = prices.fold(Duration::ZERO, Duration::saturating_add);
    if price < saving.saturating_mul(saved) { self_contained } else { with_keys }
}

/// How many round trips the statements take.
fn levels(plan: &Plan, forms: &[Form<'_>]) -> u32 {
    let mut levels: Vec<u32> = Vec::with_capacity(forms.len());
    for (step, form) in forms.iter().enumerate() {
        // A step's parents come before it.
        levels.push(1 + form.waits_for(plan, step).map_or(0, |parent| levels[parent]));
    }
    levels.into_iter().max().unwrap_or(0)
}
