//! Numbers of many measurements.

#![allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]

/// The middle of some numbers; of two in the middle, halfway between.
pub fn middle(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let half = numbers.len() / 2;
    match numbers.get(half) {
        None => 0.0,
        Some(upper) if numbers.len() % 2 == 1 => *upper,
        Some(upper) => f64::midpoint(*upper, numbers[half - 1]),
    }
}

/// The ranks of some numbers among each other, from 1; those that are equal share the mean of theirs.
pub fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<_> = (0..numbers.len()).collect();
    order.sort_by(|one, other| numbers[*one].total_cmp(&numbers[*other]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut before = 0;
    for equal in order.chunk_by(|one, other| numbers[*one].total_cmp(&numbers[*other]).is_eq()) {
        let mean = before as f64 + f64::midpoint(1.0, equal.len() as f64);
        for place in equal {
            ranks[*place] = mean;
        }
        before += equal.len();
    }
    ranks
}

/// Spearman's rank correlation of pairs of numbers: 1 where both rise together, 0 where one says nothing of the other, or
/// does not vary.
pub fn rank_correlation(one: &[f64], other: &[f64]) -> f64 {
    let (one, other) = (ranks(one), ranks(other));
    let middle = f64::midpoint(1.0, one.len() as f64);
    let product = |left: &[f64], right: &[f64]| -> f64 {
        left.iter().zip(right).map(|(left, right)| (left - middle) * (right - middle)).sum()
    };
    let spread = (product(&one, &one) * product(&other, &other)).sqrt();
    if spread > 0.0 { product(&one, &other) / spread } else { 0.0 }
}
