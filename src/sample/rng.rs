//! Reproducible random numbers: the same seed gives the same numbers on every machine and in every build.
//!
//! The generator is `ChaCha8`, whose output its definition fixes; only integer operations derive numbers from it. Every
//! entity (an order, a person, a facility …) has its own stream, selected by its kind and number, so a change to one
//! entity does not affect the others.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

/// The kinds of streams. The discriminants are part of the seed: changing one changes the sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::sample) enum RngStream {
    Party = 1,
    Facility = 2,
    Product = 3,
    Store = 4,
    Stock = 5,
    Order = 6,
}

/// The random numbers of one entity.
#[derive(Debug, Clone)]
pub(in crate::sample) struct SampleRng(ChaCha8Rng);

impl SampleRng {
    /// The stream of the entity of this kind and number.
    pub(in crate::sample) fn new(seed: u64, stream: RngStream, number: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8] = stream as u8;
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(number);
        Self(generator)
    }

    /// A number in `0..bound`; `bound` must not be 0. Uniform, except for a bias of `bound` / 2³².
    pub(in crate::sample) fn below(&mut self, bound: u32) -> u32 {
        let wide = u64::from(self.0.next_u32()) * u64::from(bound);
        (wide >> 32) as u32
    }

    /// A number of microseconds in `0..bound`; `bound` must be positive.
    pub(in crate::sample) fn microseconds(&mut self, bound: i64) -> i64 {
        let wide = u128::from(self.0.next_u64()) * u128::from(bound.unsigned_abs());
        i64::try_from(wide >> 64).unwrap_or_default()
    }

    /// A number in `min..=max`.
    pub(in crate::sample) fn between(&mut self, min: u32, max: u32) -> u32 {
        min + self.below(max - min + 1)
    }

    /// True with a probability of `percent` in a hundred.
    pub(in crate::sample) fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// True with a probability of `per_mille` in a thousand.
    pub(in crate::sample) fn per_mille(&mut self, per_mille: u32) -> bool {
        self.below(1000) < per_mille
    }

    /// An index into a list of length `length`, which must not be 0.
    pub(in crate::sample) fn index(&mut self, length: usize) -> usize {
        self.below(u32::try_from(length).unwrap_or(u32::MAX)) as usize
    }

    /// A random one of `choices`, which must not be empty.
    pub(in crate::sample) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }

    /// A random one of `choices`, with a probability proportional to its weight.
    pub(in crate::sample) fn weighted<T: Copy>(&mut self, choices: &[(u32, T)]) -> T {
        let total = choices.iter().map(|(weight, _)| weight).sum();
        let mut position = self.below(total);
        for (weight, choice) in choices {
            if position < *weight {
                return *choice;
            }
            position -= weight;
        }
        choices[choices.len() - 1].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_seed_do_not_change() {
        let mut rng = SampleRng::new(7, RngStream::Order, 42);
        let drawn: Vec<u32> = (0..6).map(|_| rng.below(1_000_000)).collect();
        assert_eq!(drawn, [604_943, 72_483, 454_861, 470_313, 502_586, 231_133]);
        assert_eq!(rng.microseconds(1_000_000_000_000), 295_322_746_866);
    }

    #[test]
    fn entities_have_different_streams() {
        let first = |seed, stream, number| SampleRng::new(seed, stream, number).below(u32::MAX);
        let one = first(1, RngStream::Order, 1);
        assert_eq!(one, first(1, RngStream::Order, 1));
        for other in [first(2, RngStream::Order, 1), first(1, RngStream::Party, 1), first(1, RngStream::Order, 2)] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn numbers_respect_bounds_and_weights() {
        let mut rng = SampleRng::new(1, RngStream::Stock, 1);
        let mut counts = [0; 3];
        for _ in 0..10_000 {
            assert!((3..=5).contains(&rng.between(3, 5)));
            counts[rng.weighted(&[(70, 0), (30, 1), (0, 2)])] += 1;
        }
        assert!((6_700..7_300).contains(&counts[0]), "{counts:?}");
        assert_eq!(counts[2], 0);
        assert!(!rng.percent(0) && rng.percent(100) && rng.per_mille(1000));
    }
}
