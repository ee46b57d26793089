//! Searches among rows that their caller does not see.
//!
//! A page that ends with its window tells that its range has more rows than the window. If the caller does not see some of them, that says
//! something about these rows: by trying one end of the range after the other, a client could find out when each was written. So such a
//! search examines many times as many rows before it ends. How many times differs from request to request, so that an end says next to
//! nothing about a single row.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// How many times as many rows are examined, on average.
pub(crate) const TIMES: u32 = 24;

/// How far the searches of one request go: a share of the rows that searches examine on average, in parts of [`Breadth::WHOLE`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Breadth(u32);

impl Breadth {
    /// As far as on average.
    pub(crate) const AVERAGE: Self = Self(Self::WHOLE);

    /// The share of the average. It is so large that every number of rows can be the last one.
    pub(crate) const WHOLE: u32 = 1 << 20;

    /// A third of the average: the most by which a search goes less far, or farther.
    const SPREAD: u32 = Self::WHOLE / 3;

    /// A random share. The sum of two numbers, because the largest and the smallest of single ones could be found out by trying.
    pub(crate) fn random() -> Self {
        let random = RandomState::new().build_hasher().finish();
        let [one, other] = [random >> u32::BITS, random & u64::from(u32::MAX)];
        let drawn = ((one + other) * u64::from(Self::SPREAD)) >> u32::BITS;
        Self(Self::WHOLE - Self::SPREAD + u32::try_from(drawn).unwrap_or(Self::SPREAD))
    }

    /// The share as a number.
    pub(crate) fn parts(self) -> u32 {
        self.0
    }

    /// This share of a number of rows; one row at least.
    pub(crate) fn of(self, rows: u32) -> u32 {
        u32::try_from(u64::from(rows) * u64::from(self.0) / u64::from(Self::WHOLE)).unwrap_or(u32::MAX).max(1)
    }

    /// The most rows of a request, if a search examines this many on average.
    pub(crate) fn most(rows: u64) -> u64 {
        rows.saturating_add(rows / 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_share_differs_by_a_third_at_most_and_rarely_by_so_much() {
        let drawn: Vec<_> = (0..2000).map(|_| Breadth::random().of(3000)).collect();
        assert!(drawn.iter().all(|rows| (2000..=4000).contains(rows)));
        assert!(drawn.iter().all(|rows| u64::from(*rows) <= Breadth::most(3000)));
        let near = |from: u32, to: u32| drawn.iter().filter(|rows| (from..to).contains(rows)).count();
        // An eighth of them lies in either outer quarter.
        assert!(near(2000, 2500) < 500 && near(3500, 4001) < 500 && near(2500, 3500) > 1200, "{drawn:?}");
        assert_eq!(Breadth::AVERAGE.of(3000), 3000);
        assert_eq!(Breadth(Breadth::WHOLE - Breadth::SPREAD).of(1), 1);
    }
}
