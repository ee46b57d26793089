//! The two listeners.

/// The listener of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListenerKind {
    /// For callers.
    Public,
    /// For operators, which responds however busy the other is.
    Admin,
}

impl ListenerKind {
    /// Both, in the order of their declaration.
    pub(crate) const ALL: [Self; 2] = [Self::Public, Self::Admin];

    /// The setting with its address.
    pub(crate) const fn setting(self) -> &'static str {
        match self {
            Self::Public => "listen",
            Self::Admin => "admin-listen",
        }
    }

    /// The name in the log.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Admin => "admin",
        }
    }
}
