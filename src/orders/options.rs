//! The settings of the order update.

use std::time::Duration;

/// The settings of the order update.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UpdateOptions {
    /// Whether a rejection lowers quantity on hand too, if its reason says that the items are not there.
    pub(crate) rejections_lower_quantity_on_hand: bool,
    /// How long a rejected order item is not to be sent from the facility that rejected it; `None` records nothing.
    pub(crate) exclusion: Option<Duration>,
    /// Whether outcomes have their position in the write-ahead log, because replicas are read.
    pub(crate) has_position: bool,
}
