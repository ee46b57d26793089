//! The parts of an input, and sizes of what is made of them. Texts never have a NUL character where it matters, so it separates them.

use orderql_generator::generate::Settings;

/// The most fields of a document. Small documents are quicker, and large ones have more parts that affect each other.
const MAX_FIELDS: [usize; 4] = [5, 10, 20, 40];

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

/// The settings of a generated request, which the first byte chooses, and the rest.
pub fn settings(data: &[u8]) -> (Settings, &[u8]) {
    let (size, data) = choice(data);
    (Settings { max_fields: MAX_FIELDS[size % MAX_FIELDS.len()], ..Settings::default() }, data)
}
