//! When each statement of a plan is sent, and in which form: as soon as its parents' rows are there, with their keys, or at once,
//! in the form that reads the keys itself.

use std::time::Duration;

use crate::plan::request_plan::Plan;
use crate::plan::self_contained::SelfContained;
use crate::query::bind::ids::StepId;

/// What it takes to read a row again, compared with a round trip. Chosen by `./dev bench one-round-trip`, where a round trip takes
/// 30 to 40 µs: a page of 20 rows and one connection below take less than with waiting, 60 rows of two levels take more.
const ROW: Duration = Duration::from_nanos(1_500);

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
    if levels < 2 || round_trip.is_zero() {
        return with_keys;
    }
    let form = |step| plan.self_contained(step).map_or(Form::WithKeys, Form::SelfContained);
    let self_contained: Vec<_> = (0..plan.steps().len()).map(form).collect();
    let saved = levels - self::levels(plan, &self_contained);
    let rows_again = self_contained.iter().enumerate().map(|(step, form)| match form {
        Form::WithKeys => 0,
        Form::SelfContained(_) => plan.rows_of_parents(step),
    });
    let rows_again = u32::try_from(rows_again.fold(0, u64::saturating_add)).unwrap_or(u32::MAX);
    if ROW.saturating_mul(rows_again) < round_trip.saturating_mul(saved) { self_contained } else { with_keys }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::compile::compile;
    use crate::limits::Limits;
    use crate::query::Request;

    /// How many statements wait for others, where a round trip takes so many microseconds.
    fn waiting(query: &str, round_trip: u64) -> usize {
        let request = Request { query: query.to_owned(), ..Request::default() };
        let plan = compile(&Catalog::built_in().unwrap(), &request, &Limits::UNLIMITED).unwrap().plan;
        let forms = forms(&plan, Duration::from_micros(round_trip));
        (0..forms.len()).filter(|step| forms[*step].waits_for(&plan, *step).is_some()).count()
    }

    fn items(orders: u32) -> String {
        format!(
            "{{ orders(first: {orders}) {{ edges {{ node {{
                orderItems(first: 9) {{ edges {{ node {{ quantity }} }} }} }} }} }} }}"
        )
    }

    #[test]
    fn rows_are_read_again_where_that_takes_less_than_a_round_trip() {
        for (orders, round_trip, expected) in [(33, 50, 0), (34, 50, 1), (100, 149, 1), (100, 151, 0), (1, 0, 1)] {
            assert_eq!(waiting(&items(orders), round_trip), expected, "{orders} orders, {round_trip} µs");
        }
    }

    #[test]
    fn each_level_saves_a_round_trip_and_reads_all_rows_above() {
        let query = "{ orders(first: 10) { edges { node { shipGroups(first: 2) { edges { node {
            orderItems(first: 5) { edges { node { quantity } } } } } } } } } }";
        // The ship groups' statement reads 10 rows again, and the items' 10 and 20, so that two round trips are saved.
        assert_eq!((waiting(query, 29), waiting(query, 31)), (2, 0));
    }

    #[test]
    fn a_search_of_a_window_is_not_repeated() {
        let query = "{ orders(first: 10, query: \"statusId:ORDER_HELD grandTotal:>5\") { edges { node {
            orderItems(first: 5) { edges { node { quantity } } } } } } }";
        assert_eq!(waiting(query, 1_000_000), 1);
    }
}
