//! Rounds that measure everything once, each in another random order, so that other work of the machine affects all measurements
//! alike.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::error::Result;

/// Calls `measure` with the number of the round and each item.
pub fn run<T>(
    rounds: usize,
    seed: u64,
    items: &mut [T],
    mut measure: impl FnMut(usize, &mut T) -> Result<()>,
) -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut order: Vec<_> = (0..items.len()).collect();
    for round in 1..=rounds {
        order.shuffle(&mut random);
        for index in &order {
            measure(round, &mut items[*index])?;
        }
    }
    Ok(())
}
