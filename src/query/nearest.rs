//! The name that somebody probably meant.

/// The candidate with the fewest edits from `name`, if it is near enough to be a slip; case does not count.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = 1 + name.chars().count() / 3;
    let name = name.to_ascii_lowercase();
    let near = candidates.into_iter().filter_map(|candidate| {
        let edits = edits(&name, &candidate.to_ascii_lowercase());
        (edits <= most).then_some((edits, candidate))
    });
    near.min_by_key(|(edits, _)| *edits).map(|(_, candidate)| candidate)
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
    }
}
