//! Which listener has the console.

/// Which listener has the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConsoleMode {
    On,
    /// The operators' one, which then has the endpoints too that the console calls.
    Admin,
    Off,
}

impl ConsoleMode {
    /// Parses the setting.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "on" => Some(Self::On),
            "admin" => Some(Self::Admin),
            "off" => Some(Self::Off),
            _ => None,
        }
    }
}
