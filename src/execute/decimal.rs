//! Whole numbers and decimals as text, without `std::fmt`, which is slower: a response has hundreds of them.

/// Appends a whole number.
pub(super) fn int(number: i64, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    let mut left = number.unsigned_abs();
    // The largest has 19 digits.
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = digit(left % 10);
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

/// Appends a `numeric`, with its scale as stored. Returns `false` for NaN, the infinities and malformed bytes. The binary
/// format: four 16-bit numbers (count of digits, weight of the first, sign, digits after the point), then the digits in base
/// 10,000.
pub(super) fn numeric(raw: &[u8], out: &mut Vec<u8>) -> bool {
    const NEGATIVE: u16 = 0x4000;
    let (words, _) = raw.as_chunks::<2>();
    let Some(([count, weight, sign, scale], digits)) = words.split_first_chunk::<4>() else { return false };
    let [count, weight, sign, scale] = [count, weight, sign, scale].map(|word| u16::from_be_bytes(*word));
    if sign & !NEGATIVE != 0 {
        return false; // NaN or an infinity
    }
    let digits = digits.get(..usize::from(count)).unwrap_or(&[]);
    let digit = |index: i32| {
        let word = usize::try_from(index).ok().and_then(|index| digits.get(index));
        word.map_or(0, |word| u16::from_be_bytes(*word))
    };
    if sign == NEGATIVE {
        out.push(b'-');
    }
    if weight == 0 && scale <= 8 {
        amount([0, 1, 2].map(digit), scale.into(), out);
        return true;
    }
    let weight = i32::from(weight.cast_signed());
    if weight < 0 {
        out.push(b'0');
    }
    for index in 0..=weight {
        match index {
            0 => small(digit(index), out),
            _ => out.extend_from_slice(&four(digit(index))),
        }
    }
    if scale > 0 {
        out.push(b'.');
        let mut left = usize::from(scale);
        let mut index = weight + 1;
        while left > 0 {
            let taken = left.min(4);
            // A slice with a length that is known at compile time is appended faster.
            out.extend_from_slice(&four(digit(index)));
            out.truncate(out.len() - (4 - taken));
            left -= taken;
            index += 1;
        }
    }
    true
}

/// Appends a number below 10,000, without leading zeros, and this many digits of its fraction, at most eight. Most amounts are such
/// numbers.
fn amount(words: [u16; 3], scale: usize, out: &mut Vec<u8>) {
    let start = match words[0] {
        0..10 => 3,
        10..100 => 2,
        100..1000 => 1,
        _ => 0,
    };
    let end = if scale == 0 { 4 } else { 5 + scale.min(8) };
    let mut text = *b"0000.00000000";
    text[..4].copy_from_slice(&four(words[0]));
    text[5..9].copy_from_slice(&four(words[1]));
    text[9..].copy_from_slice(&four(words[2]));
    out.extend_from_slice(&text[start..end]);
}

/// Appends a number below 10,000, without leading zeros.
fn small(number: u16, out: &mut Vec<u8>) {
    let [a, b, c, d] = four(number);
    match number {
        0..10 => out.push(d),
        10..100 => out.extend_from_slice(&[c, d]),
        100..1000 => out.extend_from_slice(&[b, c, d]),
        _ => out.extend_from_slice(&[a, b, c, d]),
    }
}

/// The digits of a number below 10,000.
pub(super) fn four(number: u16) -> [u8; 4] {
    let ([a, b], [c, d]) = (two(u32::from(number / 100)), two(u32::from(number % 100)));
    [a, b, c, d]
}

/// The digits of a number below 100; of a larger one, which malformed bytes may have, some digits.
pub(super) fn two(number: u32) -> [u8; 2] {
    PAIRS[(number % 100) as usize]
}

/// The digits of all numbers below 100: looking them up takes fewer instructions than dividing.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0_u8;
    while number < 100 {
        pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    pairs
};

fn digit(number: u64) -> u8 {
    #[expect(clippy::cast_possible_truncation, reason = "a single decimal digit")]
    let digit = number as u8;
    b'0' + digit
}
