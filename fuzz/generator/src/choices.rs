//! Choices that bytes make.

use arbitrary::Unstructured;

/// A source of choices. When its bytes run out, every choice is the first one and nothing happens by chance, so that whatever
/// is being generated comes to an end.
#[derive(Debug)]
pub struct Choices<'b> {
    bytes: Unstructured<'b>,
}

impl<'b> Choices<'b> {
    /// The choices that these bytes make.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { bytes: Unstructured::new(bytes) }
    }

    /// Whether there are no more bytes.
    pub fn is_exhausted(&self) -> bool {
        self.bytes.is_empty()
    }

    /// A number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.bytes.int_in_range(0..=bound.saturating_sub(1)).unwrap_or(0)
    }

    /// A number from `low` to `high`.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        self.bytes.int_in_range(low..=high.max(low)).unwrap_or(low)
    }

    /// True with a probability of `per_cent`.
    pub fn chance(&mut self, per_cent: usize) -> bool {
        self.below(100) >= 100 - per_cent.min(100)
    }

    /// One of several; `None` if there are none.
    pub fn pick<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        let index = self.below(all.len());
        all.get(index)
    }

    /// A number that distinguishes values.
    pub fn seed(&mut self) -> u16 {
        self.bytes.int_in_range(0..=u16::MAX).unwrap_or(0)
    }
}

/// So many bytes that are the same in every run: `SplitMix64`.
pub fn bytes_of_seed(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let words = std::iter::repeat_with(|| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)).to_le_bytes()
    });
    words.flatten().take(length).collect()
}
