//! The parts of an input. Texts never have a NUL character where it matters, so it separates them.

/// So many texts, the missing ones empty. `None` if one is not UTF-8.
pub fn texts<const N: usize>(data: &[u8]) -> Option<[&str; N]> {
    let mut texts = [""; N];
    for (text, part) in texts.iter_mut().zip(data.splitn(N, |byte| *byte == 0)) {
        *text = str::from_utf8(part).ok()?;
    }
    Some(texts)
}

/// The first byte, and the rest. The first of nothing is 0.
pub fn choice(data: &[u8]) -> (usize, &[u8]) {
    data.split_first().map_or((0, data), |(first, rest)| (usize::from(*first), rest))
}
