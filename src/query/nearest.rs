//! The names that somebody probably meant.

/// Names longer than this are nobody's slip, and comparing them would cost time that a client decides.
const LONGEST: usize = 64;

/// The candidate with the fewest edits from `name`, if it is near enough to be a slip; case does not count.
pub(super) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    near(name, candidates).into_iter().next()
}

/// The candidates that are near enough to be slips, and about as near as the nearest: three at most, the nearest first.
pub(super) fn near<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    // A third of the letters may be wrong and one more, but never all of them.
    let length = name.chars().count();
    let most = (1 + length / 3).min(length.saturating_sub(1));
    let name = name.to_ascii_lowercase();
    let candidates = candidates.into_iter().filter(|candidate| candidate.len() <= LONGEST);
    let rated = candidates.filter_map(|candidate| {
        let edits = edits(&name, &candidate.to_ascii_lowercase());
        (edits <= most).then_some((edits, candidate))
    });
    let mut rated: Vec<_> = rated.collect();
    rated.sort_by_key(|(edits, _)| *edits);
    // Where only the case is wrong, there is nothing to guess.
    let worst = rated.first().map_or(0, |(least, _)| if *least == 0 { 0 } else { least + 1 });
    rated.into_iter().take(3).take_while(|(edits, _)| *edits <= worst).map(|(_, candidate)| candidate).collect()
}

/// The Levenshtein distance: insertions, deletions and replacements of characters.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let keys = ["orderId", "externalId", "statusId", "orderDate"];
        assert_eq!(nearest("status", keys), Some("statusId"));
        assert_eq!(nearest("ORDERID", keys), Some("orderId"));
        assert_eq!(nearest("orderDat", keys), Some("orderDate"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("", keys), None);
        assert_eq!(nearest("x", ["y", "z"]), None);
    }

    #[test]
    fn the_nearest_come_first() {
        assert_eq!(near("orderdat", ["orderNames", "orderDate", "orderDay"]), ["orderDate", "orderDay"]);
        assert_eq!(near("statusid", ["statuses", "statusId"]), ["statusId"]);
        assert_eq!(near("ab", ["aa", "ac", "ad", "ae"]), ["aa", "ac", "ad"]);
        assert!(near(&"a".repeat(1_000_000), ["a"]).is_empty());
    }

    #[test]
    fn edits_are_counted_both_ways() {
        for (a, b, expected) in [("", "abc", 3), ("kitten", "sitting", 3), ("abc", "abc", 0), ("ab", "ba", 2)] {
            assert_eq!((edits(a, b), edits(b, a)), (expected, expected));
        }
    }
}
