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
    let mut words = raw.chunks_exact(2).map(|word| u16::from_be_bytes([word[0], word[1]]));
    let (Some(count), Some(weight), Some(sign), Some(scale)) = (words.next(), words.next(), words.next(), words.next())
    else {
        return false;
    };
    if sign & !NEGATIVE != 0 {
        return false; // NaN or an infinity
    }
    let digits: &[u8] = raw.get(8..8 + 2 * usize::from(count)).unwrap_or(&[]);
    let digit = |index: i32| -> u16 {
        let bytes = usize::try_from(index).ok().and_then(|index| digits.get(2 * index..2 * index + 2));
        bytes.map_or(0, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    };
    if sign == NEGATIVE {
        out.push(b'-');
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
            // A slice whose length the compiler knows is appended faster.
            out.extend_from_slice(&four(digit(index)));
            out.truncate(out.len() - (4 - taken));
            left -= taken;
            index += 1;
        }
    }
    true
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

/// The digits of a number below 100.
pub(super) fn two(number: u32) -> [u8; 2] {
    [digit((number / 10).into()), digit((number % 10).into())]
}

fn digit(number: u64) -> u8 {
    #[expect(clippy::cast_possible_truncation, reason = "a single decimal digit")]
    let digit = number as u8;
    b'0' + digit
}
