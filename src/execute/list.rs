//! Arrays as lists.

use tokio_postgres::types::Type;

use crate::database::column_format::ColumnFormat;
use crate::execute::encode;
use crate::value::ScalarType;

/// The most elements of a list in a response.
const MAX_ELEMENTS: usize = 1000;

/// Appends an array as a list. Returns `false`, and appends nothing, if it has too many elements, several dimensions, an element that the
/// type cannot have, or a null among elements that are non-null.
// Lists are rare: their code is kept out of the code of scalars.
#[inline(never)]
pub(super) fn list(scalar: ScalarType, non_null: bool, raw: &[u8], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let is_written = write(scalar, non_null, raw, out).is_some();
    if !is_written {
        out.truncate(start);
    }
    is_written
}

/// The binary format: the number of dimensions, whether there are nulls, the type of elements, for each dimension its length and first
/// index, then the length of each element, or -1 for a null, and its bytes.
fn write(scalar: ScalarType, non_null: bool, raw: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut rest = raw;
    let (dimensions, _, element) = (word(&mut rest)?, word(&mut rest)?, word(&mut rest)?);
    let elements = match dimensions {
        0 => 0,
        1 => usize::try_from(word(&mut rest)?).ok()?,
        _ => return None,
    };
    if elements > MAX_ELEMENTS {
        return None;
    }
    let ty = Type::from_oid(element.cast_unsigned())?;
    let format = ColumnFormat::of(&ty).filter(|format| format.can_be(scalar))?;
    if dimensions == 1 {
        let _first = word(&mut rest)?;
    }
    out.push(b'[');
    for index in 0..elements {
        out.extend_from_slice(if index > 0 { b"," } else { b"" });
        match usize::try_from(word(&mut rest)?) {
            Ok(length) => {
                let (value, after) = rest.split_at_checked(length)?;
                rest = after;
                encode::json(scalar, format, value, out).then_some(())?;
            }
            Err(_) if non_null => return None,
            Err(_) => out.extend_from_slice(b"null"),
        }
    }
    out.push(b']');
    rest.is_empty().then_some(())
}

fn word(rest: &mut &[u8]) -> Option<i32> {
    let (word, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some(i32::from_be_bytes(*word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio_postgres::types::ToSql;

    use super::*;

    fn written(array: &impl ToSql, ty: &Type, scalar: ScalarType, non_null: bool) -> Option<String> {
        let mut raw = bytes::BytesMut::new();
        array.to_sql(ty, &mut raw).unwrap();
        let mut out = b"~".to_vec();
        let is_written = list(scalar, non_null, &raw, &mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(is_written || text == "~");
        is_written.then(|| text[1..].to_owned())
    }

    #[test]
    fn writes_arrays_of_one_dimension() {
        let texts =
            |array: Vec<Option<&str>>, non_null| written(&array, &Type::TEXT_ARRAY, ScalarType::String, non_null);
        assert_eq!(texts(vec![Some("a\""), None, Some("")], false).as_deref(), Some(r#"["a\"",null,""]"#));
        assert_eq!(texts(vec![Some("a"), None], true), None);
        assert_eq!(texts(vec![], true).as_deref(), Some("[]"));
        let ints = |array: Vec<i64>, scalar| written(&array, &Type::INT8_ARRAY, scalar, true);
        assert_eq!(ints(vec![1, -2], ScalarType::Int).as_deref(), Some("[1,-2]"));
        assert_eq!(ints(vec![1, i64::MAX], ScalarType::Int), None);
        assert_eq!(ints(vec![i64::MAX], ScalarType::BigInt).as_deref(), Some(r#"["9223372036854775807"]"#));
        assert_eq!(ints(vec![1], ScalarType::Date), None);
        assert!(ints(vec![7; MAX_ELEMENTS], ScalarType::Int).is_some());
        assert!(ints(vec![7; MAX_ELEMENTS + 1], ScalarType::Int).is_none());
    }

    proptest! {
        #[test]
        fn reads_any_bytes_without_panicking(raw in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut out = Vec::new();
            let is_written = list(ScalarType::String, false, &raw, &mut out);
            prop_assert!(is_written || out.is_empty());
        }
    }
}
