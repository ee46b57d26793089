//! "Did you mean …?": the known names that are closest to a misspelt one.

/// Longer names are not compared, because the time that a comparison takes grows with both lengths and the client
/// chooses one of them. In bytes.
const MAX_LENGTH: usize = 64;

/// How many suggestions an error makes at most.
const MAX_SUGGESTIONS: usize = 3;

/// The candidate that `name` most likely means, if any is close enough. Ignores case.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    suggestions(name, candidates).into_iter().next()
}

/// The candidates that `name` likely means, the closest first: at most three, and only those about as close as the
/// closest. Ignores case.
pub(crate) fn suggestions<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
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
    // A name that differs in case alone leaves nothing to guess.
    let worst = close.first().map_or(0, |(best, _)| if *best == 0 { 0 } else { best + 1 });
    let close = close.into_iter().take(MAX_SUGGESTIONS).take_while(|(distance, _)| *distance <= worst);
    close.map(|(_, candidate)| candidate).collect()
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
