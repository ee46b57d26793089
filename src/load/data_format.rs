//! The formats of data files, by their root elements.

/// The root element of a file that OFBiz turns into rows with a template of its own. The loader skips such files.
pub(crate) const TRANSFORM_ROOT: &str = "entity-engine-transform-xml";

/// The root elements of data files, for messages.
pub(crate) const ROOT_ELEMENTS: &str = "<entity-engine-xml> or <entity-facade-xml>";

/// The format of a data file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum DataFormat {
    /// OFBiz's format.
    #[default]
    EntityEngine,
    /// Moqui's format, in which rows may contain rows.
    EntityFacade,
}

impl DataFormat {
    /// The format whose root element has this name.
    pub(crate) fn of_root(name: &str) -> Option<Self> {
        [Self::EntityEngine, Self::EntityFacade].into_iter().find(|format| format.root_element() == name)
    }

    /// The name of the root element.
    pub(crate) const fn root_element(self) -> &'static str {
        match self {
            Self::EntityEngine => "entity-engine-xml",
            Self::EntityFacade => "entity-facade-xml",
        }
    }
}
