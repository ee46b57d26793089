//! Statement parameters in PostgreSQL's binary format, encoded for the type that the statement expects.

use std::error::Error as StdError;

use bytes::{BufMut, BytesMut};
use rust_decimal::Decimal;
use thiserror::Error;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::value::{Date, ScalarType, TimeOfDay, Timestamp, Uuid, Value};

/// A parameter of a statement as it is sent.
#[derive(Debug)]
pub enum BinaryParameter<'a> {
    /// One value, or null.
    Value(Option<&'a Value>),
    /// An array of values.
    Values(Vec<BinaryParameter<'a>>),
    /// A number of rows.
    Limit(i64),
}

type BoxError = Box<dyn StdError + Sync + Send>;

/// A parameter that cannot be sent as the type that its statement expects: preflight and binding rule this out until a column has another
/// type.
#[derive(Debug, Error)]
#[error("a parameter cannot be sent as {ty}")]
pub(super) struct UnfitParameter {
    ty: Type,
    source: BoxError,
}

impl ToSql for BinaryParameter<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, BoxError> {
        self.write(ty, out).map_err(|source| UnfitParameter { ty: ty.clone(), source }.into())
    }

    // The catalog chooses the type of each value. Preflight checks the catalog against the database.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl BinaryParameter<'_> {
    fn write(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, BoxError> {
        match self {
            Self::Value(None) => return Ok(IsNull::Yes),
            Self::Value(Some(value)) => encode(value, ty, out)?,
            Self::Values(values) => return values.to_sql(ty, out),
            Self::Limit(rows) => out.put_i64(*rows),
        }
        Ok(IsNull::No)
    }
}

fn encode(value: &Value, ty: &Type, out: &mut BytesMut) -> Result<(), BoxError> {
    match value {
        Value::Text(text) if !has_fixed_length(ty) => out.put_slice(text.as_bytes()),
        Value::Text(_) => return Err(mismatch("a text", ty)),
        Value::Int(number) => match *ty {
            Type::INT8 => out.put_i64(*number),
            Type::INT4 => out.put_i32(i32::try_from(*number)?),
            Type::INT2 => out.put_i16(i16::try_from(*number)?),
            Type::NUMERIC => {
                Decimal::from(*number).to_sql(ty, out)?;
            }
            _ => return Err(mismatch("a whole number", ty)),
        },
        Value::Decimal(number) => match *ty {
            Type::NUMERIC => {
                number.to_sql(ty, out)?;
            }
            _ => return Err(mismatch("a decimal", ty)),
        },
        Value::Numeric(number) => match *ty {
            Type::NUMERIC => out.put_slice(number.as_binary()),
            _ => return Err(mismatch("a numeric", ty)),
        },
        Value::DateTime(Timestamp(micros)) => match *ty {
            Type::TIMESTAMPTZ | Type::TIMESTAMP => out.put_i64(*micros),
            _ => return Err(mismatch("a moment", ty)),
        },
        Value::Boolean(truth) => match *ty {
            Type::BOOL => out.put_u8(u8::from(*truth)),
            Type::BPCHAR | Type::VARCHAR | Type::TEXT => out.put_u8(if *truth { b'Y' } else { b'N' }),
            _ => return Err(mismatch("a truth value", ty)),
        },
        Value::Uuid(Uuid(bits)) => match *ty {
            Type::UUID => out.put_u128(*bits),
            _ => return Err(mismatch("a UUID", ty)),
        },
        Value::Float(number) => match *ty {
            Type::FLOAT8 => out.put_f64(number.get()),
            Type::FLOAT4 => out.put_f32(number.to_single()),
            _ => return Err(mismatch("a floating-point number", ty)),
        },
        Value::Date(Date(days)) => match *ty {
            Type::DATE => out.put_i32(*days),
            _ => return Err(mismatch("a date", ty)),
        },
        Value::Time(TimeOfDay(micros)) => match *ty {
            Type::TIME => out.put_i64(*micros),
            _ => return Err(mismatch("a time", ty)),
        },
        Value::Bytes(bytes) => match *ty {
            Type::BYTEA => out.put_slice(bytes),
            _ => return Err(mismatch("bytes", ty)),
        },
        Value::Interval(interval) => match *ty {
            Type::INTERVAL => out.put_slice(&interval.to_binary()),
            _ => return Err(mismatch("an interval", ty)),
        },
    }
    Ok(())
}

/// Whether a value of the scalar type can be sent as the PostgreSQL type. An ID can be sent as text, as a number or as a UUID, as
/// the type says.
pub(crate) fn accepts_scalar(ty: &Type, scalar: ScalarType) -> bool {
    match scalar {
        ScalarType::Id => {
            let is_number = accepts_scalar(ty, ScalarType::Int);
            is_number || *ty == Type::UUID || accepts_scalar(ty, ScalarType::String)
        }
        ScalarType::String | ScalarType::Enum(_) => {
            matches!(*ty, Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME)
        }
        ScalarType::Int => matches!(*ty, Type::INT2 | Type::INT4 | Type::INT8 | Type::NUMERIC),
        ScalarType::Decimal => *ty == Type::NUMERIC,
        ScalarType::DateTime => matches!(*ty, Type::TIMESTAMPTZ | Type::TIMESTAMP),
        ScalarType::Boolean => matches!(*ty, Type::BOOL | Type::BPCHAR | Type::VARCHAR | Type::TEXT),
        ScalarType::Float => matches!(*ty, Type::FLOAT4 | Type::FLOAT8),
        ScalarType::BigInt => matches!(*ty, Type::INT2 | Type::INT4 | Type::INT8),
        ScalarType::Date => *ty == Type::DATE,
        ScalarType::Time => *ty == Type::TIME,
        ScalarType::Interval => *ty == Type::INTERVAL,
        ScalarType::Uuid => *ty == Type::UUID,
        ScalarType::Bytes => *ty == Type::BYTEA,
        ScalarType::Json => false,
    }
}

/// Whether values of the type have a fixed number of bytes. The bytes of a text could be taken for such a value.
fn has_fixed_length(ty: &Type) -> bool {
    matches!(
        *ty,
        Type::BOOL
            | Type::INT2
            | Type::INT4
            | Type::INT8
            | Type::FLOAT4
            | Type::FLOAT8
            | Type::DATE
            | Type::TIME
            | Type::TIMESTAMP
            | Type::TIMESTAMPTZ
            | Type::UUID
            | Type::INTERVAL
    )
}

fn mismatch(kind: &'static str, ty: &Type) -> BoxError {
    format!("{kind} cannot be sent as {ty}").into()
}

/// A value's bytes as PostgreSQL sent them. The caller decodes them by the column's type, or sends them back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawValue<'a>(pub &'a [u8]);

impl<'a> FromSql<'a> for RawValue<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, BoxError> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl ToSql for RawValue<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, BoxError> {
        out.put_slice(self.0);
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_exactly_the_types_that_can_be_encoded() {
        let types = [
            Type::TEXT,
            Type::VARCHAR,
            Type::BPCHAR,
            Type::INT2,
            Type::INT4,
            Type::INT8,
            Type::NUMERIC,
            Type::FLOAT8,
            Type::TIMESTAMPTZ,
            Type::TIMESTAMP,
            Type::DATE,
            Type::BOOL,
            Type::UUID,
            Type::FLOAT4,
            Type::TIME,
            Type::INTERVAL,
            Type::BYTEA,
        ];
        for (scalar, value) in [
            (ScalarType::Int, Value::Int(7)),
            (ScalarType::Decimal, Value::Decimal(Decimal::ONE)),
            (ScalarType::DateTime, Value::DateTime(Timestamp(0))),
            (ScalarType::Boolean, Value::Boolean(true)),
            (ScalarType::Float, ScalarType::Float.parse("0.5").unwrap()),
            (ScalarType::Date, ScalarType::Date.parse("2026-11-24").unwrap()),
            (ScalarType::Time, ScalarType::Time.parse("09:30").unwrap()),
            (ScalarType::Interval, ScalarType::Interval.parse("P1D").unwrap()),
            (ScalarType::Uuid, Value::Uuid(Uuid(7))),
            (ScalarType::Bytes, Value::Bytes(vec![0, 255])),
        ] {
            for ty in &types {
                let is_encoded = encode(&value, ty, &mut BytesMut::new()).is_ok();
                assert_eq!(accepts_scalar(ty, scalar), is_encoded, "{scalar} as {ty}");
            }
        }
    }
}
