//! The response keys that selection sets have used.

use std::collections::HashMap;

/// The response keys of selection sets that are merged. A key has the name of its field if the field can be selected again
/// without more ado, as a scalar without arguments can.
#[derive(Default)]
pub(crate) struct Keys {
    pub(crate) used: HashMap<String, Option<String>>,
    /// Every use, in order.
    pub(crate) log: Vec<(String, Option<String>)>,
    /// The fragments that are spread.
    pub(crate) spread: Vec<usize>,
}

impl Keys {
    pub(crate) fn accepts(&self, key: &str, repeatable: Option<&str>) -> bool {
        match self.used.get(key) {
            None => true,
            Some(known) => known.is_some() && known.as_deref() == repeatable,
        }
    }

    pub(crate) fn add(&mut self, key: &str, repeatable: Option<&str>) {
        let repeatable = repeatable.map(str::to_owned);
        self.used.insert(key.to_owned(), repeatable.clone());
        self.log.push((key.to_owned(), repeatable));
    }
}
