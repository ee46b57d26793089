//! Errors of the JSON around a query.

use crate::api::errors::api_error::ApiError;
use crate::api::graphql::request::json_size::MAX_VALUES;
use crate::error::code::ErrorCode;

/// Why there is no GraphQL request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EnvelopeError {
    /// A body of no bytes.
    #[error("the body is empty; send a JSON object with the key \"query\"")]
    EmptyBody,
    /// A body that begins with U+FEFF.
    #[error("the body begins with a byte order mark (EF BB BF); send the JSON without it")]
    ByteOrderMark,
    /// A batch of requests.
    #[error(
        "a list of requests (a batch) is not accepted; send one request at a time, as a JSON object with the key \"query\""
    )]
    Batch,
    /// Another JSON value.
    #[error("the body must be a JSON object with the key \"query\"")]
    NotAnObject,
    /// A body that is not JSON.
    #[error("the body is not JSON: {0}")]
    MalformedBody(serde_json::Error),
    /// An object with a key that is there twice.
    #[error("the key \"{key}\" is given twice; give it once")]
    RepeatedKey { key: String },
    /// JSON of too many values.
    #[error("the request has {values} JSON values; at most {MAX_VALUES} are allowed")]
    TooManyValues {
        /// How many it has.
        values: usize,
    },
    /// A parameter that is not in UTF-8.
    #[error("the parameter \"{name}\" is not in UTF-8")]
    ParameterNotUtf8 { name: String },
    /// A parameter that must be JSON and is not.
    #[error("the parameter \"{name}\" is not JSON: {source}")]
    MalformedParameter {
        name: String,
        /// The mistake.
        source: serde_json::Error,
    },
    /// A parameter that is there twice.
    #[error("the parameter \"{name}\" is given twice; give it once")]
    RepeatedParameter { name: String },
    /// `query` has another type.
    #[error("\"query\" must be a string that holds a GraphQL document")]
    QueryType,
    /// `operationName` has another type.
    #[error("\"operationName\" must be a string or null")]
    OperationNameType,
    /// `documentId` has another type.
    #[error("\"documentId\" must be a string or null")]
    DocumentIdType,
    /// `variables` or `extensions` has another type.
    #[error("\"{0}\" must be a JSON object or null")]
    ObjectType(&'static str),
}

impl From<EnvelopeError> for ApiError {
    fn from(error: EnvelopeError) -> Self {
        match error {
            EnvelopeError::TooManyValues { values } => Self::new(ErrorCode::PayloadTooLarge, &error)
                .with_extension("values", values as u64)
                .with_extension("maxValues", MAX_VALUES as u64),
            _ => Self::new(ErrorCode::BadUserInput, &error),
        }
    }
}
