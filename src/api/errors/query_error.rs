//! Queries that are well-formed requests and still return no rows.

use std::fmt;
use std::time::Duration;

use crate::api::errors::api_error::{ApiError, RequestedCost, milliseconds};
use crate::api::errors::service_error::ServiceError;
use crate::error::code::ErrorCode;
use crate::error::graphql_error::GraphqlErrors;
use crate::throttle::bucket::{InsufficientCredits, ThrottleStatus};
use crate::throttle::rate_limiter::DebitError;

/// When a client may retry after its other queries had the time to finish.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Why a query returns no rows. Nothing is debited, except for a query that ran.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueryError {
    /// The query does not compile, or costs more than its caller may spend.
    #[error("{0}")]
    Compile(GraphqlErrors),
    /// The caller's bucket cannot cover the query.
    #[error(
        "the query costs {} credits{} and the bucket holds {} of {}, refilled by {} a second",
        .0.credits, CostOfOthers(.0.behind),
        .0.status.currently_available, .0.status.maximum_available, .0.status.restore_rate
    )]
    Throttled(InsufficientCredits),
    /// The caller runs as many queries as it may.
    #[error("{limit} of your queries are running, and no more may run at the same time")]
    TooManyRunning {
        /// Queries that may run at the same time.
        limit: u32,
        /// Queries that wait.
        waiting: usize,
        /// The cost of this query.
        cost: u64,
        /// The bucket, which is not debited.
        bucket: ThrottleStatus,
    },
    /// The caller's requests that wait for changes have reached their limit.
    #[error("{limit} of your requests wait for changes, and no more may at the same time")]
    TooManyParked {
        /// How many may.
        limit: u32,
    },
    /// The caller runs an export already.
    #[error("an export of yours is running, and no more may run at the same time")]
    ExportRunning,
    /// The rows that were read of a response have more bytes than all may.
    #[error(
        "the first {rows} rows of the response have {bytes} bytes, and a response may have {limit}; {}",
        FittingRows(fitting_rows(*rows, *bytes, *limit))
    )]
    RowsTooLarge {
        /// The rows that were read.
        rows: u64,
        /// Bytes of their values.
        bytes: u64,
        /// The most bytes of a response.
        limit: u64,
        /// The credits that were debited.
        cost: u64,
        /// The bucket after the debit.
        bucket: ThrottleStatus,
    },
    /// The caller asks for reports of prices and plans faster than it gets them.
    #[error("you ask for more prices and plans than are made in a second")]
    TooManyReports {
        /// When the next one is due.
        retry_after: Duration,
    },
    /// The caller sends introspection, or other queries that cost nothing, faster than they are run.
    #[error(
        "you send more queries that cost nothing, such as introspection, or little for what they write, than are run in a second; \
         cache the schema"
    )]
    TooManyFreeQueries {
        /// When the next one is due.
        retry_after: Duration,
    },
    /// The caller sends large queries that do not compile faster than they are checked.
    #[error(
        "you send more large queries that are not valid than are checked in a second; check them against the schema first"
    )]
    TooManyInvalidQueries {
        /// When the next one is checked.
        retry_after: Duration,
    },
    /// The query ran longer than it may.
    #[error("the query was not finished within {} s and was cancelled; narrow it", deadline.as_secs_f64())]
    DeadlineExceeded {
        /// How long it may run.
        deadline: Duration,
        /// The credits that were debited.
        cost: u64,
        /// The bucket after the debit.
        bucket: ThrottleStatus,
    },
    /// A sum or a product is beyond the database's numbers.
    #[error(
        "a sum or a product of the rows has more digits than the database computes with; leave it out, or narrow the query"
    )]
    OutOfRange {
        /// The credits that were debited.
        cost: u64,
        /// The bucket after the debit.
        bucket: ThrottleStatus,
    },
    /// A value is none to this database: a time zone of the IANA database that it does not have.
    #[error(
        "the database does not know a value of the query, such as its `timeZone`; give the zone's present name, such as `America/Chicago`"
    )]
    InvalidValue {
        /// The credits that were debited.
        cost: u64,
        /// The bucket after the debit.
        bucket: ThrottleStatus,
    },
    /// The database cancelled the query.
    #[error("the database cancelled the query, which ran longer than the database allows; narrow it")]
    Cancelled {
        /// The credits that were debited.
        cost: u64,
        /// The bucket after the debit.
        bucket: ThrottleStatus,
    },
}

/// The cost of the queries that wait before one, as a part of a sentence.
struct CostOfOthers(u64);

impl fmt::Display for CostOfOthers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            credits => write!(f, ", {credits} more are for your queries that wait before it,"),
        }
    }
}

/// About how many rows have no more bytes than the limit, if further rows are like the rows that were read. A page reads one row beyond it.
fn fitting_rows(rows: u64, bytes: u64, limit: u64) -> u64 {
    let read = u128::from(rows) * u128::from(limit) / u128::from(bytes.max(1));
    u64::try_from(read.saturating_sub(1)).unwrap_or(u64::MAX)
}

/// A better request, as a part of a sentence.
struct FittingRows(u64);

impl fmt::Display for FittingRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("ask for fewer fields"),
            rows => write!(f, "ask for about {rows} rows (`first`), or for fewer fields"),
        }
    }
}

impl From<QueryError> for ApiError {
    fn from(error: QueryError) -> Self {
        let (response, cost) = match error {
            QueryError::Compile(errors) => return Self::graphql(errors),
            QueryError::Throttled(insufficient) => {
                let response = Self::new(ErrorCode::Throttled, &error)
                    .with_extension("requestedQueryCost", insufficient.credits)
                    .with_extension("currentlyAvailable", insufficient.status.currently_available)
                    .with_positive_extension("waitingQueryCost", insufficient.behind)
                    .with_retry_after(insufficient.retry_after);
                (response, RequestedCost { credits: insufficient.credits, bucket: insufficient.status })
            }
            QueryError::TooManyRunning { limit, waiting, cost, bucket } => {
                let response = Self::new(ErrorCode::Throttled, &error)
                    .with_extension("estimatedCost", cost)
                    .with_extension("maxConcurrentQueries", u64::from(limit))
                    .with_positive_extension("waitingQueries", waiting as u64)
                    .with_retry_after(Some(RETRY_AFTER));
                (response, RequestedCost { credits: cost, bucket })
            }
            QueryError::TooManyParked { .. } | QueryError::ExportRunning => {
                let response = Self::new(ErrorCode::Throttled, &error).with_retry_after(Some(RETRY_AFTER));
                return Self { is_well_formed_request: true, ..response };
            }
            QueryError::RowsTooLarge { rows, bytes, limit, cost, bucket } => {
                let response = Self::new(ErrorCode::ResponseTooLarge, &error)
                    .with_extension("responseBytes", bytes)
                    .with_extension("maxResponseBytes", limit)
                    .with_extension("rowsRead", rows)
                    .with_extension("fittingRows", fitting_rows(rows, bytes, limit));
                (response, RequestedCost { credits: cost, bucket })
            }
            QueryError::Cancelled { cost, bucket } => {
                (Self::new(ErrorCode::DeadlineExceeded, &error), RequestedCost { credits: cost, bucket })
            }
            QueryError::OutOfRange { cost, bucket } | QueryError::InvalidValue { cost, bucket } => {
                (Self::new(ErrorCode::ValueOutOfRange, &error), RequestedCost { credits: cost, bucket })
            }
            QueryError::TooManyReports { retry_after }
            | QueryError::TooManyFreeQueries { retry_after }
            | QueryError::TooManyInvalidQueries { retry_after } => {
                let response = Self::new(ErrorCode::Throttled, &error).with_retry_after(Some(retry_after));
                return Self { is_well_formed_request: true, ..response };
            }
            QueryError::DeadlineExceeded { deadline, cost, bucket } => {
                let response =
                    Self::new(ErrorCode::DeadlineExceeded, &error).with_extension("deadlineMs", milliseconds(deadline));
                (response, RequestedCost { credits: cost, bucket })
            }
        };
        Self { cost: Some(cost), is_well_formed_request: true, ..response }
    }
}

impl From<DebitError> for ApiError {
    fn from(error: DebitError) -> Self {
        match error {
            DebitError::Insufficient(insufficient) => QueryError::Throttled(insufficient).into(),
            DebitError::Unavailable(source) => ServiceError::Unavailable(source).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unavailable_store_of_credits_makes_the_service_unavailable() {
        let error = ApiError::from(DebitError::Unavailable("the connection was refused".into()));
        assert_eq!(error.code, ErrorCode::ServiceUnavailable);
        assert!(error.is_well_formed_request);
    }
}
