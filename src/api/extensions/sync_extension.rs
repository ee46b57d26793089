//! `extensions.sync`: how recent the changes of a feed are.

use serde::Serialize;

use crate::execute::changes_state::ChangesState;

/// How recent the changes of a page are.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SyncExtension {
    /// How long ago the page's later snapshot was taken; null if the server has not come as far as the token.
    lag_seconds: Option<f64>,
    /// How long the oldest transaction has been writing whose changes will come later, at most; null if there is none.
    oldest_writer_seconds: Option<f64>,
}

impl From<&ChangesState> for SyncExtension {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of less than a hundred thousand years")]
    fn from(state: &ChangesState) -> Self {
        let seconds = |milliseconds: i64| milliseconds.max(0) as f64 / 1000.0;
        Self { lag_seconds: state.lag.map(seconds), oldest_writer_seconds: state.oldest_writer.map(seconds) }
    }
}
