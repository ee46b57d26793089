//! How the rows of a response are written.

/// How the rows of a response are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output<'a> {
    /// The `data` of a response.
    Data,
    /// The nodes of the operation's one collection, a line each. For an export.
    Lines {
        /// The response key of the collection in the request.
        root: &'a str,
    },
}
