//! Search strings that try to cheat: one term, or two that hardly any row matches together.

use std::rc::Rc;

use orderql::catalog::search_key::SearchKey;
use orderql::search::Comparator;
use orderql::value::ScalarType;

use super::values::{KeyValues, LIST, is_range};

/// A date before all rows, and one after them.
const PAST: &str = "1970-01-01";
const FUTURE: &str = "2999-01-01";

/// A search string.
#[derive(Debug, Clone)]
pub struct Search {
    /// What is mean about it, such as `absent`.
    pub kind: String,
    pub text: Rc<str>,
    /// The only sort key with which it is mean, by its index; `None` means all.
    pub sort_key: Option<usize>,
    /// Whether its rows are at the start of the order of the searched column (`true`) or at its end, and nowhere else.
    pub end: Option<bool>,
}

impl Search {
    fn new(kind: impl Into<String>, text: impl Into<Rc<str>>) -> Self {
        Self { kind: kind.into(), text: text.into(), sort_key: None, end: None }
    }
}

/// The search strings of one key.
pub fn single(key: &SearchKey, values: &KeyValues) -> Vec<Search> {
    let name = &key.name;
    let mut searches = Vec::new();
    let absent = absent(key, 0);
    if key.comparators.contains(&Comparator::Equals) {
        let equals = |value: &String| format!("{name}:{value}");
        searches.extend(absent.iter().map(|value| Search::new("absent", equals(value))));
        searches.extend(values.rare.iter().map(|value| Search::new("rare", equals(value))));
        searches.extend(values.common.first().map(|value| Search::new("common", equals(value))));
        for (index, far) in values.far.iter().enumerate() {
            for value in far.iter().flatten() {
                searches.push(Search { sort_key: Some(index), ..Search::new("far", equals(value)) });
            }
        }
    }
    if key.comparators.contains(&Comparator::In) {
        let absents: Vec<_> = (1..=LIST).filter_map(|number| self::absent(key, number)).collect();
        // Common values, the rarest one, and as many absent ones.
        let mixed = |count: usize| {
            let mut list: Vec<_> = values.common.iter().take(count / 2).cloned().collect();
            list.extend(values.rare.clone().filter(|rare| !list.contains(rare)));
            list.extend(absents.iter().take(count.saturating_sub(list.len())).cloned());
            list
        };
        let mut far: Vec<_> = values.far.iter().flatten().flatten().take(LIST).cloned().collect();
        far.sort();
        far.dedup();
        let lists = [
            ("100 common", values.common.clone()),
            ("100 absent", absents.clone()),
            ("2 mixed", mixed(2)),
            ("10 mixed", mixed(10)),
            ("100 mixed", mixed(LIST)),
            ("far list", far),
        ];
        let lists = lists.into_iter().filter(|(_, values)| values.len() > 1);
        searches.extend(lists.map(|(kind, values)| Search::new(kind, format!("{name}:{}", values.join(",")))));
    }
    if is_range(key) {
        searches.extend(ranges(name, values));
    }
    searches
}

fn ranges(name: &str, values: &KeyValues) -> Vec<Search> {
    let mut points = vec![("past", PAST), ("future", FUTURE)];
    let mut searches = Vec::new();
    if let Some([least, middle, greatest]) = &values.ends {
        points.extend([("least", least.as_str()), ("middle", middle), ("greatest", greatest)]);
        searches.push(Search::new("one value in the middle", format!("{name}:>={middle} {name}:<={middle}")));
        searches.push(Search::new("contradiction", format!("{name}:>{greatest} {name}:<{least}")));
    }
    for (point, value) in points {
        for sign in [">", ">=", "<", "<="] {
            let end = match (point, sign) {
                ("least", "<=") => Some(true),
                ("greatest", ">=") => Some(false),
                _ => None,
            };
            searches.push(Search { end, ..Search::new(format!("{sign} {point}"), format!("{name}:{sign}{value}")) });
        }
    }
    searches
}

/// The search strings of two keys; of their common values, `together` are those that the fewest rows have together.
pub fn pair(keys: [&SearchKey; 2], values: [&KeyValues; 2], together: Option<&(String, String)>) -> Vec<Search> {
    let [one, other] = [terms(keys[0], values[0]), terms(keys[1], values[1])];
    let mut searches = Vec::new();
    if let Some((first, second)) = together {
        let text = format!("{}:{first} {}:{second}", keys[0].name, keys[1].name);
        searches.push(Search::new("common, rarely together", text));
    }
    for (kind, first) in &one {
        for (other_kind, second) in &other {
            // Two absent values are no worse than one.
            let is_new = !(kind == other_kind && *kind == "absent");
            if is_new {
                searches.push(Search::new(format!("{kind} × {other_kind}"), format!("{first} {second}")));
            }
        }
    }
    searches
}

/// The terms of a key that are combined with those of another.
fn terms(key: &SearchKey, values: &KeyValues) -> Vec<(&'static str, String)> {
    let name = &key.name;
    let mut terms = Vec::new();
    if is_range(key) {
        terms.push(("range of all", format!("{name}:>={PAST}")));
        terms.push(("absent", format!("{name}:>{FUTURE}")));
        if let Some([least, middle, greatest]) = &values.ends {
            terms.push(("range at the start", format!("{name}:<={least}")));
            terms.push(("range of half", format!("{name}:>={middle}")));
            terms.push(("range at the end", format!("{name}:>={greatest}")));
        }
        return terms;
    }
    terms.extend(values.common.first().map(|value| ("common", format!("{name}:{value}"))));
    terms.extend(absent(key, 0).map(|value| ("absent", format!("{name}:{value}"))));
    if key.comparators.contains(&Comparator::In) && values.common.len() > 1 {
        terms.push(("100 common", format!("{name}:{}", values.common.join(","))));
    }
    terms
}

/// A value that no row has.
fn absent(key: &SearchKey, number: usize) -> Option<String> {
    match key.column.scalar {
        ScalarType::Id | ScalarType::String if number == 0 => Some("NOPE".to_owned()),
        ScalarType::Id | ScalarType::String => Some(format!("NOPE{number}")),
        ScalarType::Int | ScalarType::Decimal => Some((-1_000_000 - i64::try_from(number).unwrap_or(0)).to_string()),
        _ => None,
    }
}
