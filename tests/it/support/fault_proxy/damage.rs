//! What a fault does to the bytes of a message.

use std::time::Duration;

use crate::support::fault_proxy::fault::{Direction, Fault, FaultKind};
use crate::support::fault_proxy::message::Message;
use crate::support::random::Random;

/// What is done to a message.
#[derive(Debug)]
pub enum Damage {
    /// The connection ends after so many bytes of it.
    Cut {
        bytes: usize,
    },
    Delay(Duration),
    Split,
    Changed {
        bytes: Vec<u8>,
        /// Whether either end can tell.
        is_visible: bool,
    },
}

/// The types of messages that the two ends know.
const TYPES: [&[u8]; 2] = [b"BCDEHPQSXcdf", b"123ACDEGHIKNRSTZWcdnst"];

impl Damage {
    /// Whether the connection must not be used again.
    pub fn ends_the_connection(&self) -> bool {
        match self {
            Self::Cut { .. } => true,
            Self::Delay(_) | Self::Split => false,
            Self::Changed { is_visible, .. } => *is_visible,
        }
    }
}

/// What a fault does to its message. A kind that the message cannot have becomes another type.
pub fn damage(fault: &Fault, message: Message<'_>) -> Damage {
    let mut random = Random(fault.seed);
    let is_from_client = fault.direction == Direction::FromClient;
    let mut bytes = message.bytes.to_vec();
    let mut is_visible = true;
    match fault.kind {
        FaultKind::Cut => return Damage::Cut { bytes: random.below(bytes.len() + 1) },
        FaultKind::Delay => return Damage::Delay(FaultKind::DELAY),
        FaultKind::Hold => return Damage::Delay(FaultKind::HOLD),
        FaultKind::Split => return Damage::Split,
        FaultKind::Length => change_length(&mut bytes, &mut random),
        FaultKind::ThatType(kind) => bytes[0] = kind,
        FaultKind::Type => change_type(&mut bytes, is_from_client, &mut random),
        FaultKind::Count => match message.count(is_from_client) {
            Some(offset) => {
                let count = u16::from_be_bytes([bytes[offset], bytes[offset + 1]]);
                let other = match random.below(4) {
                    0 => count.wrapping_add(1),
                    1 => count.wrapping_sub(1),
                    2 => count ^ (1 << random.below(16)),
                    _ => u16::MAX,
                };
                let other = if other == count { count.wrapping_add(1) } else { other };
                bytes[offset..offset + 2].copy_from_slice(&other.to_be_bytes());
            }
            None => change_type(&mut bytes, is_from_client, &mut random),
        },
        FaultKind::Name => match message.statement_name().filter(|_| is_from_client) {
            Some(offset) => bytes[offset] = b'?',
            None => change_type(&mut bytes, is_from_client, &mut random),
        },
        FaultKind::SqlState => match message.sql_state().filter(|_| !is_from_client) {
            Some(offset) => bytes[offset + random.below(5)] = *random.pick(b"?az\x7f "),
            None => change_type(&mut bytes, is_from_client, &mut random),
        },
        FaultKind::Value => {
            let is_row = !is_from_client && message.kind() == b'D';
            let values = if is_row { message.values() } else { Vec::new() };
            if values.is_empty() {
                change_type(&mut bytes, is_from_client, &mut random);
            } else {
                bytes[*random.pick(&values)] ^= 1 << random.below(8);
                is_visible = false;
            }
        }
    }
    Damage::Changed { is_visible: is_visible && !is_ignored(message, &bytes, is_from_client), bytes }
}

/// Whether nobody reads what was changed: the end of a statement that is forgotten, and the type of a result without rows,
/// which may be that of a row inside a batch of statements.
fn is_ignored(message: Message<'_>, changed: &[u8], is_from_client: bool) -> bool {
    let is_batch = message.kind() == b'C' && !message.body().iter().any(u8::is_ascii_digit);
    !is_from_client && (message.kind() == b'3' || (is_batch && matches!(changed[0], b'D' | b'T')))
}

fn change_length(bytes: &mut [u8], random: &mut Random) {
    let length = i32::try_from(bytes.len() - 1).unwrap();
    let near = 1 + i32::try_from(random.below(12)).unwrap();
    let other = match random.below(6) {
        0 => length + near,
        1 => length - near,
        2 => i32::try_from(random.below(4)).unwrap(),
        3 => -near,
        4 => i32::MAX,
        _ => length ^ (1 << random.below(31)),
    };
    let other = if other == length { length + 1 } else { other };
    bytes[1..5].copy_from_slice(&other.to_be_bytes());
}

fn change_type(bytes: &mut [u8], is_from_client: bool, random: &mut Random) {
    let known = TYPES[usize::from(!is_from_client)];
    loop {
        let other = if random.chance(70) { *random.pick(known) } else { random.next().to_le_bytes()[0] };
        if other != bytes[0] && !(is_from_client && matches!(other, b'F' | b'Q')) {
            bytes[0] = other;
            return;
        }
    }
}
