//! Sets of the grants that a schema file names.

/// The most names of grants in a schema file.
pub const MAX_GRANTS: usize = 64;

/// Some of the grants that one schema file names. Means nothing for another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GrantSet(u64);

impl GrantSet {
    /// The set of the grants for which `holds` returns true, in the order of the file's names. The first [`MAX_GRANTS`] count.
    pub(crate) fn of(names: &[String], holds: impl Fn(&str) -> bool) -> Self {
        let held = names.iter().take(MAX_GRANTS).enumerate().filter(|(_, name)| holds(name));
        Self(held.fold(0, |set, (index, _)| set | 1 << index))
    }

    /// Whether it has all grants of another set.
    pub fn contains(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Whether it has a grant of another set.
    pub(super) fn meets(self, other: Self) -> bool {
        other.0 & self.0 != 0
    }

    /// Whether it has none.
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// A number that no other set of the same file has.
    pub fn bits(self) -> u64 {
        self.0
    }
}
