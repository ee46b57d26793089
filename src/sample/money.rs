//! Amounts of money.

use rust_decimal::Decimal;

/// An amount with two decimal places.
pub(in crate::sample) fn cents(cents: impl Into<i64>) -> Decimal {
    Decimal::new(cents.into(), 2)
}
