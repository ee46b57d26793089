//! "Did you mean …?": the known names that are closest to a misspelt one.

use crate::words::words;

/// Longer names are not compared, because the time that a comparison takes grows with both lengths and the client
/// chooses one of them. In bytes.
const MAX_LENGTH: usize = 64;

/// How many suggestions an error makes at most.
const MAX_SUGGESTIONS: usize = 3;

/// The candidate that `name` most likely means, if any is close enough. Ignores case.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    suggestions(name, candidates).into_iter().next()
}

/// The candidates that `name` likely means, the closest first: at most three, and only candidates about as close as the closest. Ignores
/// case.
pub(crate) fn suggestions<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let close = spelt_alike(name, candidates);
    // A name that differs in case alone leaves nothing to guess.
    let worst = close.first().map_or(0, |(best, _)| if *best == 0 { 0 } else { best + 1 });
    let close = close.into_iter().take(MAX_SUGGESTIONS).take_while(|(distance, _)| *distance <= worst);
    close.map(|(_, candidate)| candidate).collect()
}

/// The candidates that are spelt like `name`, each with its distance, the closest first.
fn spelt_alike<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<(usize, &'a str)> {
    if name.len() > MAX_LENGTH {
        return Vec::new();
    }
    // A third of the letters may be wrong, and one more, but never all of them.
    let length = name.chars().count();
    let max_distance = (1 + length / 3).min(length.saturating_sub(1));
    let name = name.to_ascii_lowercase();
    // Names whose lengths differ by more are too far away, whatever their letters.
    let is_near =
        |candidate: &&str| candidate.len() <= MAX_LENGTH && candidate.chars().count().abs_diff(length) <= max_distance;
    let candidates = candidates.into_iter().filter(is_near);
    let close = candidates.filter_map(|candidate| {
        let distance = strsim::levenshtein(&name, &candidate.to_ascii_lowercase());
        (distance <= max_distance).then_some((distance, candidate))
    });
    let mut close: Vec<_> = close.collect();
    close.sort_by_key(|(distance, _)| *distance);
    close
}

/// The candidates that `name` likely means: candidates with a similar spelling, or if there are none, candidates that contain its words. A
/// candidate with fewer other words comes first. So `date` means `orderDate`.
pub(crate) fn meant<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Vec<&'a str> {
    let spelt_alike = suggestions(name, candidates.clone());
    if !spelt_alike.is_empty() {
        return spelt_alike;
    }
    with_words(name, candidates).into_iter().take(MAX_SUGGESTIONS).map(|(_, candidate)| candidate).collect()
}

/// The candidates that contain the words of `name`, each with the number of its other words. The candidate with the fewest comes first.
fn with_words<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<(usize, &'a str)> {
    let wanted = if name.len() > MAX_LENGTH { Vec::new() } else { words(name) };
    let with_words = candidates.into_iter().filter_map(|candidate| {
        let words = words(candidate);
        let mut rest = words.iter();
        let has_all = !wanted.is_empty() && wanted.iter().all(|word| rest.any(|other| other == word));
        has_all.then(|| (words.len() - wanted.len(), candidate))
    });
    let mut with_words: Vec<_> = with_words.collect();
    with_words.sort_by_key(|(others, _)| *others);
    with_words
}

/// The candidate that `name` means without doubt: nearly spelt like it, or else with its words and at most one other, and no other
/// candidate comes as close.
pub(crate) fn clearly_meant<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let lower_case = name.to_ascii_lowercase();
    // A transposition counts once.
    let rated = spelt_alike(name, candidates.clone()).into_iter();
    let rated = rated.map(|(_, name)| (strsim::damerau_levenshtein(&lower_case, &name.to_ascii_lowercase()), name));
    // A word with two typing errors has none in the first letter: `amount` is not `count`.
    let is_near = |(distance, candidate): &(usize, &str)| {
        let begins_alike = candidate.chars().next().map(|c| c.to_ascii_lowercase()) == lower_case.chars().next();
        *distance <= (name.chars().count() / 3).min(if begins_alike { 2 } else { 1 })
    };
    let mut rated: Vec<_> = rated.filter(is_near).collect();
    rated.sort_by_key(|(distance, _)| *distance);
    if rated.is_empty() {
        rated = with_words(name, candidates);
        rated.retain(|(others, _)| *others <= 1);
    }
    match rated.as_slice() {
        [(_, only)] => Some(only),
        [(best, first), (second, _), ..] if best < second => Some(first),
        _ => None,
    }
}

/// At most `limit` candidates. The candidate with the most similar spelling comes first.
pub(crate) fn closest_first<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    let name = name.to_ascii_lowercase();
    let distance = |candidate: &&str| {
        let is_short = name.len().max(candidate.len()) <= MAX_LENGTH;
        if is_short { strsim::levenshtein(&name, &candidate.to_ascii_lowercase()) } else { usize::MAX }
    };
    let mut candidates: Vec<_> = candidates.into_iter().collect();
    candidates.sort_by_cached_key(distance);
    candidates.truncate(limit);
    candidates
}

/// A candidate and how close it is.
#[cfg(feature = "server")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closest {
    /// The candidate's index.
    pub(crate) index: usize,
    /// The Damerau-Levenshtein distance: a transposition counts once.
    pub(crate) distance: usize,
}

/// The closest candidate, however far away; of several the first. For names that operators type. Does not ignore case.
#[cfg(feature = "server")]
pub(crate) fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<Closest> {
    let candidates = candidates.into_iter().enumerate();
    let rated = candidates.map(|(index, candidate)| {
        let distance = strsim::damerau_levenshtein(candidate, name);
        Closest { index, distance }
    });
    rated.min_by_key(|candidate| candidate.distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_names_for_typing_errors_only() {
        let keys = ["orderId", "externalId", "statusId", "orderDate"];
        assert_eq!(nearest("status", keys), Some("statusId"));
        assert_eq!(nearest("ORDERID", keys), Some("orderId"));
        assert_eq!(nearest("orderDat", keys), Some("orderDate"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("", keys), None);
        assert_eq!(nearest("x", ["y", "z"]), None);
    }

    #[test]
    fn suggests_the_closest_names_first() {
        assert_eq!(suggestions("orderdat", ["orderNames", "orderDate", "orderDay"]), ["orderDate", "orderDay"]);
        assert_eq!(suggestions("statusid", ["statuses", "statusId"]), ["statusId"]);
        assert_eq!(suggestions("ab", ["aa", "ac", "ad", "ae"]), ["aa", "ac", "ad"]);
        assert!(suggestions(&"a".repeat(1_000_000), ["a"]).is_empty());
    }

    #[test]
    fn suggests_names_with_the_same_words_if_none_is_spelt_alike() {
        let fields = ["orderId", "externalId", "orderTypeId", "orderDate", "entryDate", "grandTotal", "billToCustomer"];
        assert_eq!(meant("id", fields), ["orderId", "externalId", "orderTypeId"]);
        assert_eq!(meant("type", fields), ["orderTypeId"]);
        assert_eq!(meant("total", fields), ["grandTotal"]);
        assert_eq!(meant("customers", fields), ["billToCustomer"]);
        assert_eq!(meant("orderDat", fields), ["orderDate"]);
        assert_eq!(meant("DATE", ["ORDER_DATE", "ORDER_ID"]), ["ORDER_DATE"]);
        assert!(meant("colour", fields).is_empty() && meant("", fields).is_empty() && meant("__", fields).is_empty());
    }

    #[test]
    fn a_name_is_clear_if_no_other_is_as_close() {
        let keys = ["orderId", "externalId", "statusId", "orderDate", "customerPartyId", "roleTypeId"];
        for (name, meant) in [
            ("status", Some("statusId")),
            ("oredrId", Some("orderId")),
            ("ORDER_DATE", Some("orderDate")),
            ("date", Some("orderDate")),
            ("id", None),
            ("customer", None),
            ("customerName", None),
            ("city", None),
        ] {
            assert_eq!(clearly_meant(name, keys), meant, "{name}");
        }
        assert_eq!(clearly_meant("amount", ["count", "edges", "pageInfo"]), None);
        assert_eq!(clearly_meant("facilityId", ["originFacilityId", "destinationFacilityId"]), None);
    }

    #[test]
    fn lists_candidates_by_their_spelling() {
        assert_eq!(closest_first("orderdate", ["a", "orderDay", "orderDate"], 2), ["orderDate", "orderDay"]);
        assert_eq!(closest_first(&"a".repeat(1_000_000), ["b", "a"], 9), ["b", "a"]);
    }

    #[test]
    fn a_transposition_counts_twice_for_names_that_clients_send() {
        assert_eq!(suggestions("abc", ["bac"]), ["bac"]);
        assert!(suggestions("ab", ["ba"]).is_empty());
    }

    #[cfg(feature = "server")]
    #[test]
    fn a_transposition_counts_once_for_names_that_operators_type() {
        assert_eq!(closest("ab", ["xy", "ba", "aa"]), Some(Closest { index: 1, distance: 1 }));
        assert_eq!(closest("ab", []), None);
    }
}
