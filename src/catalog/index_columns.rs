//! Which searches the columns of an index serve.

/// Whether an index on these columns begins with some that are compared for equality, in any order, and goes on with others in theirs.
pub(crate) fn serves(index: &[String], equal: &[&str], order: &[&str]) -> bool {
    let Some((first, rest)) = index.split_at_checked(equal.len()) else { return false };
    equal.iter().all(|column| first.iter().any(|other| other == column))
        && rest.len() >= order.len()
        && rest.iter().zip(order).all(|(one, other)| one == other)
}
