//! Tokens of a change feed that mean nothing in the database.

use crate::api::errors::api_error::ApiError;
use crate::error::code::ErrorCode;

/// Why a page of changes cannot be answered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangesError {
    /// The token is of another database, or of before a reset.
    #[error(
        "the token is of another database, or of this one before it was restored or its feeds were reset; take a new token without \
         `after:`, copy everything once more, and go on from it"
    )]
    OtherEpoch,
    /// The token is of a history that the server does not have.
    #[error(
        "the token is of a history that this server does not have, such as that of a server promoted elsewhere; take a new token \
         without `after:`, copy everything once more, and go on from it"
    )]
    OtherTimeline,
    /// The token names transactions that have not begun.
    #[error(
        "the token is ahead of the database, which was probably restored from a backup; take a new token without `after:`, copy \
         everything once more, and go on from it"
    )]
    Ahead,
    /// No snapshot is known of so long ago.
    #[error("no token is known of a time as early as `since:`; take one without `since:`, and copy everything once")]
    TooOld,
    /// Some of the changes that the token shows were lost when a standby was promoted.
    #[error(
        "the token has seen changes that were lost when a standby was promoted; go on from the token in `extensions.token`, which is \
         of {at}: changes since then come once more, as far as they were not lost"
    )]
    Rewound {
        /// A token whose changes survived.
        token: String,
        /// Its time.
        at: String,
    },
}

impl From<ChangesError> for ApiError {
    fn from(error: ChangesError) -> Self {
        let invalid = |reason: &str| Self::new(ErrorCode::SyncTokenInvalid, &error).with_extension("reason", reason);
        let response = match &error {
            ChangesError::OtherEpoch => invalid("epoch"),
            ChangesError::OtherTimeline => invalid("timeline"),
            ChangesError::Ahead => invalid("ahead"),
            ChangesError::TooOld => invalid("since"),
            ChangesError::Rewound { token, at } => Self::new(ErrorCode::SyncRewound, &error)
                .with_extension("token", token.as_str())
                .with_extension("at", at.as_str()),
        };
        Self { is_well_formed_request: true, ..response }
    }
}
