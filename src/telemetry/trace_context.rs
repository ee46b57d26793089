//! The trace that a request belongs to, as the header `traceparent` says it (W3C Trace Context, version 00).

use std::fmt;

/// The trace that a client names, and its span that the request's spans are parts of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceContext {
    /// The trace.
    pub(crate) trace_id: TraceId,
    /// The client's span.
    pub(crate) parent_id: u64,
    /// Whether the client records the trace.
    pub(crate) is_sampled: bool,
}

/// The id of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceId(pub(crate) u128);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl TraceContext {
    /// Parses a header: `00-TRACE-PARENT-FLAGS`. Later versions may have more after it. `None` if it is not valid, and then the
    /// request belongs to no trace.
    pub(crate) fn parse(header: &str) -> Option<Self> {
        let mut parts = header.split('-');
        let version = hex(parts.next()?, 2)?;
        let trace_id = hex(parts.next()?, 32)?;
        let parent_id = u64::try_from(hex(parts.next()?, 16)?).ok()?;
        let flags = hex(parts.next()?, 2)?;
        let is_valid = version != 0xff && trace_id != 0 && parent_id != 0 && (version > 0 || parts.next().is_none());
        is_valid.then_some(Self { trace_id: TraceId(trace_id), parent_id, is_sampled: flags & 1 == 1 })
    }
}

/// A number of this many lower-case hexadecimal digits.
fn hex(digits: &str, count: usize) -> Option<u128> {
    let is_digit = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
    (digits.len() == count && digits.bytes().all(is_digit)).then(|| u128::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn parses_the_header() {
        let context = TraceContext::parse(HEADER).unwrap();
        assert_eq!(context.trace_id.to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!((context.parent_id, context.is_sampled), (0xb7ad_6b71_6920_3331, true));
        assert!(!TraceContext::parse(&HEADER.replace("-01", "-00")).unwrap().is_sampled);
        assert!(TraceContext::parse(&format!("{}-more", HEADER.replace("00-0", "cc-0"))).is_some());
    }

    #[test]
    fn rejects_everything_else() {
        for header in [
            "",
            "00",
            &HEADER.to_uppercase(),
            &HEADER.replace("00-0", "ff-0"),
            &format!("{HEADER}-more"),
            &HEADER.replace("0af7651916cd43dd8448eb211c80319c", "00000000000000000000000000000000"),
            &HEADER.replace("b7ad6b7169203331", "0000000000000000"),
            &HEADER.replace("b7ad", "+7ad"),
            &HEADER[1..],
        ] {
            assert_eq!(TraceContext::parse(header), None, "{header}");
        }
    }
}
