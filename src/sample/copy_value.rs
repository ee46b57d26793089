//! The values of rows, as binary COPY sends them.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::Write as _;

use bytes::BytesMut;
use rust_decimal::Decimal;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::sample::ids::{FacilityId, Id, SeqId};
use crate::sample::timestamp::SampleTime;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sample) enum CopyType {
    /// `varchar`, `char` or `text`.
    Text,
    /// `timestamptz`, or `timestamp` in UTC.
    Timestamp,
    Numeric,
}

impl CopyType {
    pub(in crate::sample) fn postgres_type(self) -> Type {
        match self {
            Self::Text => Type::TEXT,
            Self::Timestamp => Type::TIMESTAMPTZ,
            Self::Numeric => Type::NUMERIC,
        }
    }
}

/// The value of one column of one row.
#[derive(Debug)]
pub(in crate::sample) enum CopyValue {
    Null,
    Text(Cow<'static, str>),
    Id(Id),
    SeqId(SeqId),
    /// OFBiz's indicator: `Y` or `N`.
    Indicator(bool),
    Timestamp(SampleTime),
    Decimal(Decimal),
}

impl ToSql for CopyValue {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Text(text) => text.to_sql(ty, out),
            Self::Id(id) => {
                write!(out, "{id}")?;
                Ok(IsNull::No)
            }
            Self::SeqId(id) => {
                write!(out, "{id}")?;
                Ok(IsNull::No)
            }
            Self::Indicator(value) => (if *value { "Y" } else { "N" }).to_sql(ty, out),
            // A timestamp is sent as its number of microseconds.
            Self::Timestamp(SampleTime(microseconds)) => microseconds.to_sql(&Type::INT8, out),
            Self::Decimal(number) => number.to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        matches!(*ty, Type::TEXT | Type::TIMESTAMPTZ | Type::NUMERIC)
    }

    to_sql_checked!();
}

/// A type of the rows' fields.
pub(in crate::sample) trait ColumnValue: Into<CopyValue> {
    const TYPE: CopyType;
}

/// Implements [`ColumnValue`] for types that a variant of [`CopyValue`] holds.
macro_rules! column_values {
    ($($type:ty => $column:ident, $value:expr;)*) => {$(
        impl ColumnValue for $type {
            const TYPE: CopyType = CopyType::$column;
        }

        impl From<$type> for CopyValue {
            fn from(value: $type) -> Self {
                $value(value)
            }
        }
    )*};
}

column_values! {
    &'static str => Text, |text| CopyValue::Text(Cow::Borrowed(text));
    Cow<'static, str> => Text, CopyValue::Text;
    Id => Text, CopyValue::Id;
    SeqId => Text, CopyValue::SeqId;
    bool => Text, CopyValue::Indicator;
    SampleTime => Timestamp, CopyValue::Timestamp;
    Decimal => Numeric, CopyValue::Decimal;
}

impl ColumnValue for FacilityId {
    const TYPE: CopyType = CopyType::Text;
}

impl From<FacilityId> for CopyValue {
    fn from(id: FacilityId) -> Self {
        match id {
            FacilityId::Sample(id) => id.into(),
            FacilityId::Queue(id) => id.into(),
        }
    }
}

impl<T: ColumnValue> ColumnValue for Option<T> {
    const TYPE: CopyType = T::TYPE;
}

impl<T: ColumnValue> From<Option<T>> for CopyValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, T::into)
    }
}
