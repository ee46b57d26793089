//! Values in variables, and the conditions of selections.

use orderql::catalog::schema;

use crate::document::{Argument, Directive, Value};
use crate::generate::Draft;
use crate::request::Variable;

impl Draft<'_, '_> {
    /// An argument whose value is in the document or in a variable.
    pub(crate) fn argument(&mut self, definition: &schema::Argument, value: Value) -> Argument {
        let name = definition.name.clone();
        if !self.choices.chance(40) {
            return Argument { name, value };
        }
        let ty = definition.ty.display(self.catalog);
        let value = self.variable(&ty, value);
        Argument { name, value }
    }

    /// A variable that has such a value, and may stand where that type is expected.
    fn variable(&mut self, expected: &str, value: Value) -> Value {
        let base = expected.trim_end_matches('!');
        let is_required = base.len() < expected.len();
        if self.choices.chance(25) {
            let fits = |known: &&Variable| {
                known.ty.trim_end_matches('!') == base
                    && (!is_required || known.ty.ends_with('!') || known.default.is_some())
                    && known.value().is_some_and(|known| can_replace(known, &value))
            };
            if let Some(known) = self.variables.iter().find(fits) {
                return Value::Variable(known.name.clone());
            }
        }
        let (default, given) = match self.choices.below(4) {
            0 | 1 => (None, Some(value)),
            2 => (Some(value), None),
            _ => {
                let other = if matches!(value, Value::Size(_)) { self.size() } else { value.clone() };
                (Some(other), Some(value))
            }
        };
        let is_non_null =
            if is_required { default.is_none() || self.choices.chance(50) } else { self.choices.chance(20) };
        let ty = if is_non_null { format!("{base}!") } else { base.to_owned() };
        self.declared(ty, default, given)
    }

    fn declared(&mut self, ty: String, default: Option<Value>, given: Option<Value>) -> Value {
        let name = format!("v{}", self.variables.len());
        self.variables.push(Variable { name: name.clone(), ty, default, given });
        Value::Variable(name)
    }

    /// An argument that is null, or a variable without a value.
    pub(crate) fn null_argument(&mut self, definition: &schema::Argument) -> Argument {
        let ty = definition.ty.display(self.catalog);
        let value = match self.choices.below(4) {
            0 | 1 => Value::Null,
            2 => self.declared(ty, None, None),
            _ => self.declared(ty, None, Some(Value::Null)),
        };
        Argument { name: definition.name.clone(), value }
    }

    /// Sometimes `@skip` or `@include`, or both.
    pub(crate) fn guards(&mut self) -> Vec<Directive> {
        let mut directives = Vec::new();
        if self.choices.chance(12) {
            let is_include = self.choices.chance(50);
            directives.push(self.guard(is_include));
            if self.choices.chance(10) {
                directives.push(self.guard(!is_include));
            }
        }
        directives
    }

    fn guard(&mut self, is_include: bool) -> Directive {
        // Most selections are kept.
        let truth = is_include != self.choices.chance(30);
        let mut value = Value::Boolean(truth);
        if self.choices.chance(60) {
            value = self.variable("Boolean!", value);
        }
        let name = if is_include { "include" } else { "skip" };
        Directive { name: name.to_owned(), arguments: vec![Argument { name: "if".to_owned(), value }] }
    }
}

/// Whether a value can stand in for another one, without a change to what is valid.
fn can_replace(known: &Value, value: &Value) -> bool {
    match (known, value) {
        (Value::Size(_), Value::Size(_)) => true,
        (Value::Key(known), Value::Key(key)) => (known.scalar, known.stored) == (key.scalar, key.stored),
        (Value::Boolean(known), Value::Boolean(truth)) => known == truth,
        (Value::Enum(known), Value::Enum(name)) => known == name,
        (Value::Cursor(known), Value::Cursor(cursor)) => known.tag == cursor.tag,
        (Value::Search(known), Value::Search(search)) => known.root == search.root,
        _ => false,
    }
}
