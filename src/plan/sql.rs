//! The writer of SQL text: quoted identifiers out of the catalog, numbered parameters, nothing else. A value can never
//! become text here, because there is no way to write one.

use std::fmt::{self, Display};

use crate::plan::step::Slot;

/// A statement's parameters, in the order in which they were first needed.
#[derive(Debug, Default)]
pub struct Parameters {
    slots: Vec<Slot>,
}

impl Parameters {
    /// Adds a parameter; what is returned writes its `$n`, as often as needed.
    pub fn add(&mut self, slot: Slot) -> Placeholder {
        self.slots.push(slot);
        Placeholder(self.slots.len())
    }

    /// Where their values come from, `$1` first.
    pub fn into_slots(self) -> Vec<Slot> {
        self.slots
    }
}

/// A parameter's place in the text.
#[derive(Debug, Clone, Copy)]
pub struct Placeholder(usize);

impl Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}", self.0)
    }
}

/// A quoted identifier, or several with dots between: `orderql.ship_group` is `"orderql"."ship_group"`.
#[derive(Debug, Clone, Copy)]
pub struct Relation<'a>(pub &'a str);

impl Display for Relation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.split('.').enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            Identifier(part).fmt(f)?;
        }
        Ok(())
    }
}

/// A quoted identifier.
#[derive(Debug, Clone, Copy)]
pub struct Identifier<'a>(pub &'a str);

impl Display for Identifier<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.replace('"', "\"\""))
    }
}

/// A column of an aliased relation.
#[derive(Debug, Clone, Copy)]
pub struct ColumnOf<'a>(pub Alias, pub &'a str);

impl Display for ColumnOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, Identifier(self.1))
    }
}

/// A name for a relation inside one statement, made from its position, so that the same question has the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alias {
    /// The relation whose rows are the step's.
    Base,
    /// The n-th object joined to it.
    Joined(usize),
    /// A relation inside a sub-select.
    Inner,
}

impl Display for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Base => f.write_str("t"),
            Self::Joined(number) => write!(f, "j{number}"),
            Self::Inner => f.write_str("x"),
        }
    }
}

/// Conditions that all hold: `WHERE a AND b`, or nothing.
pub fn where_clause<'a>(conditions: impl IntoIterator<Item = &'a String>) -> String {
    let mut clause = String::new();
    for (index, condition) in conditions.into_iter().enumerate() {
        clause.push_str(if index == 0 { "\nWHERE " } else { " AND " });
        clause.push_str(condition);
    }
    clause
}

/// Things with commas between.
pub fn list<T: Display>(things: impl IntoIterator<Item = T>) -> String {
    let mut text = String::new();
    for (index, thing) in things.into_iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(&thing.to_string());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_quoted_whatever_they_hold() {
        assert_eq!(Relation("orderql.ship_group").to_string(), r#""orderql"."ship_group""#);
        assert_eq!(Identifier(r#"a"b; drop table"#).to_string(), r#""a""b; drop table""#);
        assert_eq!(ColumnOf(Alias::Joined(2), "city").to_string(), r#"j2."city""#);
    }
}
