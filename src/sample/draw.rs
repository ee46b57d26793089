//! Chance that repeats itself: the same seed gives the same numbers on every machine, in every build.
//!
//! The generator is `ChaCha8`, whose output is fixed by its definition, and the numbers are taken from it with integers
//! alone. Everything that is made up (an order, a person, a facility …) has a stream of its own, named by its kind and its
//! number, so that what is drawn for one thing does not move what is drawn for the next.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

/// What a stream is for. The discriminants are part of the recipe: a sample is only the same while they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::sample) enum Kind {
    Party = 1,
    Facility = 2,
    Product = 3,
    Store = 4,
    Stock = 5,
    Order = 6,
}

/// The numbers drawn for one thing, one after the other.
#[derive(Debug, Clone)]
pub(in crate::sample) struct Draw(ChaCha8Rng);

impl Draw {
    /// The beginning of the stream of the thing of this kind and number.
    pub(in crate::sample) fn new(seed: u64, kind: Kind, number: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8] = kind as u8;
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(number);
        Self(generator)
    }

    /// A number from 0 up to, not including, `bound`, which is not 0. Each is as likely as the next, but for a share of
    /// `bound` / 2³².
    pub(in crate::sample) fn below(&mut self, bound: u32) -> u32 {
        let wide = u64::from(self.0.next_u32()) * u64::from(bound);
        (wide >> 32) as u32
    }

    /// Some microseconds, less than `bound`, which is more than 0.
    pub(in crate::sample) fn microseconds(&mut self, bound: i64) -> i64 {
        let wide = u128::from(self.0.next_u64()) * u128::from(bound.unsigned_abs());
        i64::try_from(wide >> 64).unwrap_or_default()
    }

    /// A number from `least` to `most`, both included.
    pub(in crate::sample) fn between(&mut self, least: u32, most: u32) -> u32 {
        least + self.below(most - least + 1)
    }

    /// True in `share` of a hundred cases.
    pub(in crate::sample) fn percent(&mut self, share: u32) -> bool {
        self.below(100) < share
    }

    /// True in `share` of a thousand cases.
    pub(in crate::sample) fn per_mille(&mut self, share: u32) -> bool {
        self.below(1000) < share
    }

    /// A place in a list of that many, which is not empty.
    pub(in crate::sample) fn place(&mut self, places: usize) -> usize {
        self.below(u32::try_from(places).unwrap_or(u32::MAX)) as usize
    }

    /// One of `choices`, which are not empty.
    pub(in crate::sample) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.place(choices.len())]
    }

    /// One of `choices`, each as often as its weight says.
    pub(in crate::sample) fn weighted<T: Copy>(&mut self, choices: &[(u32, T)]) -> T {
        let all = choices.iter().map(|(weight, _)| weight).sum();
        let mut at = self.below(all);
        for (weight, choice) in choices {
            if at < *weight {
                return *choice;
            }
            at -= weight;
        }
        choices[choices.len() - 1].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recipe_stands() {
        let mut draw = Draw::new(7, Kind::Order, 42);
        let drawn: Vec<u32> = (0..6).map(|_| draw.below(1_000_000)).collect();
        assert_eq!(drawn, [604_943, 72_483, 454_861, 470_313, 502_586, 231_133]);
        assert_eq!(draw.microseconds(1_000_000_000_000), 295_322_746_866);
    }

    #[test]
    fn things_do_not_share_a_stream() {
        let first = |seed, kind, number| Draw::new(seed, kind, number).below(u32::MAX);
        let here = first(1, Kind::Order, 1);
        assert_eq!(here, first(1, Kind::Order, 1));
        for other in [first(2, Kind::Order, 1), first(1, Kind::Party, 1), first(1, Kind::Order, 2)] {
            assert_ne!(here, other);
        }
    }

    #[test]
    fn what_is_drawn_keeps_to_its_bounds_and_its_weights() {
        let mut draw = Draw::new(1, Kind::Stock, 1);
        let mut met = [0; 3];
        for _ in 0..10_000 {
            assert!((3..=5).contains(&draw.between(3, 5)));
            met[draw.weighted(&[(70, 0), (30, 1), (0, 2)])] += 1;
        }
        assert!((6_700..7_300).contains(&met[0]), "{met:?}");
        assert_eq!(met[2], 0);
        assert!(!draw.percent(0) && draw.percent(100) && draw.per_mille(1000));
    }
}
