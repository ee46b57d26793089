//! `Orderql-Position` and `Orderql-After`: how far a change is in the primary's write-ahead log, and how far the server must be that
//! a query is read from.

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

use crate::api::errors::endpoint_error::EndpointError;
use crate::database::wal_position::WalPosition;
use crate::replicas::read_servers::ReadServers;

/// The header of the response to an order update.
const POSITION: HeaderName = HeaderName::from_static("orderql-position");

/// The header of a request that is to see the update.
pub(crate) const AFTER: HeaderName = HeaderName::from_static("orderql-after");

/// The position after which a request is to be read, if it names one. Fails if the primary has not written so far: no replica would
/// ever be read.
pub(crate) async fn after(headers: &HeaderMap, servers: &ReadServers) -> Result<Option<WalPosition>, EndpointError> {
    match parse(headers)? {
        Some(position) if !servers.may_be_written(position).await => Err(EndpointError::UnwrittenPosition),
        position => Ok(position),
    }
}

fn parse(headers: &HeaderMap) -> Result<Option<WalPosition>, EndpointError> {
    let mut values = headers.get_all(AFTER).into_iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => {
            let text = value.to_str().map_err(|_| EndpointError::Position)?;
            text.trim().parse().map(Some).map_err(|_| EndpointError::Position)
        }
        (Some(_), Some(_)) => Err(EndpointError::Position),
    }
}

/// Adds the position behind an update.
pub(crate) fn add(position: WalPosition, headers: &mut HeaderMap) {
    // It consists of digits and a slash.
    if let Ok(value) = HeaderValue::try_from(position.to_string()) {
        headers.insert(POSITION, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_one_position_or_none() {
        let read = |values: &[&str]| {
            let headers = values.iter().map(|value| (AFTER, value.parse().unwrap())).collect();
            parse(&headers).map(|position| position.map(|position| position.to_string())).ok()
        };
        assert_eq!(read(&[]), Some(None));
        assert_eq!(read(&[" 16/b374d848"]), Some(Some("16/B374D848".to_owned())));
        for wrong in [&[""][..], &["latest"], &["1/2,1/3"], &["1/2", "1/2"], &["\u{e9}/1"]] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }
}
