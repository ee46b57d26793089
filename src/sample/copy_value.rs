//! The values of rows, in the text format of COPY.

use std::fmt::Write as _;

use rust_decimal::Decimal;

use crate::sample::ids::{Id, SeqId};
use crate::sample::sample_time::SampleTime;

/// The value of a column. PostgreSQL reads it as the column's type.
pub(in crate::sample) trait CopyValue {
    /// Appends the value to a row.
    fn append_to(&self, row: &mut String);
}

impl CopyValue for str {
    fn append_to(&self, row: &mut String) {
        for character in self.chars() {
            match character {
                '\\' => row.push_str(r"\\"),
                '\t' => row.push_str(r"\t"),
                '\n' => row.push_str(r"\n"),
                '\r' => row.push_str(r"\r"),
                _ => row.push(character),
            }
        }
    }
}

impl CopyValue for String {
    fn append_to(&self, row: &mut String) {
        self.as_str().append_to(row);
    }
}

/// OFBiz's indicator: `Y` or `N`.
impl CopyValue for bool {
    fn append_to(&self, row: &mut String) {
        row.push(if *self { 'Y' } else { 'N' });
    }
}

impl<T: CopyValue> CopyValue for Option<T> {
    fn append_to(&self, row: &mut String) {
        match self {
            Some(value) => value.append_to(row),
            None => row.push_str(r"\N"),
        }
    }
}

impl<T: CopyValue + ?Sized> CopyValue for &T {
    fn append_to(&self, row: &mut String) {
        (**self).append_to(row);
    }
}

/// Implements [`CopyValue`] for types whose text has no character with a meaning in COPY.
macro_rules! plain_values {
    ($($type:ty),*) => {$(
        impl CopyValue for $type {
            fn append_to(&self, row: &mut String) {
                // Writing into a string cannot fail.
                let _ = write!(row, "{self}");
            }
        }
    )*};
}

plain_values!(Id, SeqId, SampleTime, Decimal, i32, u32, i64);
