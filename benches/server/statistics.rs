//! Medians, ranks and their correlation.

/// The median; 0 of no numbers.
pub fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut numbers: Vec<_> = numbers.into_iter().collect();
    numbers.sort_by(f64::total_cmp);
    let half = numbers.len() / 2;
    match numbers.get(half) {
        None => 0.0,
        Some(upper) if numbers.len() % 2 == 1 => *upper,
        Some(upper) => f64::midpoint(*upper, numbers[half - 1]),
    }
}

/// The ranks of numbers, from 1; equal numbers share the mean of their ranks.
pub fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<_> = (0..numbers.len()).collect();
    order.sort_by(|one, other| numbers[*one].total_cmp(&numbers[*other]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut before = 0;
    for equal in order.chunk_by(|one, other| numbers[*one].total_cmp(&numbers[*other]).is_eq()) {
        let mean = before as f64 + f64::midpoint(1.0, equal.len() as f64);
        for index in equal {
            ranks[*index] = mean;
        }
        before += equal.len();
    }
    ranks
}

/// Spearman's rank correlation of pairs of numbers; 0 if one of them does not vary.
pub fn rank_correlation(one: &[f64], other: &[f64]) -> f64 {
    let (one, other) = (ranks(one), ranks(other));
    let mean = f64::midpoint(1.0, one.len() as f64);
    let covariance = |left: &[f64], right: &[f64]| -> f64 {
        left.iter().zip(right).map(|(left, right)| (left - mean) * (right - mean)).sum()
    };
    let spread = (covariance(&one, &one) * covariance(&other, &other)).sqrt();
    if spread > 0.0 { covariance(&one, &other) / spread } else { 0.0 }
}
