//! Resolves the binding of a totals root: its paths to fields.

use crate::catalog::binding::Totals;
use crate::catalog::connection::Connection;
use crate::catalog::totals::{FieldPath, GroupKey, MAX_KEYS, Sum};
use crate::schema_file::build::bindings::Bindings;
use crate::schema_file::definition::{BindingDefinition, FieldDefinition, QUERY, TypeDefinition};
use crate::schema_file::error::{SchemaError, SchemaErrorKind};
use crate::schema_file::sdl_reader::snake_case;
use crate::value::ScalarType;

/// A totals root, and what its types are made from.
pub(super) struct BuiltTotals<'a> {
    /// The root connection whose rows are summed up.
    pub(super) of: &'a FieldDefinition,
    pub(super) totals: Totals,
    /// The fields that the keys show, one for each.
    pub(super) keys: Vec<&'a FieldDefinition>,
    /// The fields that the sums add up, and the fields by which they are multiplied.
    pub(super) sums: Vec<(&'a FieldDefinition, Option<&'a FieldDefinition>)>,
}

/// What a column of totals is used for.
#[derive(Clone, Copy)]
enum ColumnUse {
    Key,
    /// A key that is a period of time.
    Moment,
    /// A sum, or what a sum is multiplied by.
    Number,
}

impl ColumnUse {
    /// Whether columns of this type can be used for it.
    fn fits(self, scalar: ScalarType) -> bool {
        match self {
            Self::Key => scalar.is_compared(),
            Self::Moment => scalar == ScalarType::DateTime,
            Self::Number => matches!(scalar, ScalarType::Int | ScalarType::BigInt | ScalarType::Decimal),
        }
    }

    /// What such a column is, for errors.
    fn describe(self) -> &'static str {
        match self {
            Self::Key => "can be a key",
            Self::Moment => "is a moment",
            Self::Number => "is a number",
        }
    }
}

impl<'a> Bindings<'a> {
    /// The totals that a root declares.
    pub(super) fn totals(&self, field: &'a FieldDefinition) -> Result<BuiltTotals<'a>, SchemaError> {
        let error = |kind| Err(SchemaError::new(field.position, kind));
        let Some(BindingDefinition::Totals { of, currency }) = &field.binding else {
            return error(SchemaErrorKind::WrongBinding);
        };
        let Some((of, connection)) = self.summed_root(field, of)? else {
            return error(SchemaErrorKind::UnknownRoot { of: of.clone(), ty: field.ty.clone() });
        };
        if of.sort_keys.iter().any(|key| key.ties.is_some()) {
            return error(SchemaErrorKind::TotalsWithTies);
        }
        let (mut keys, mut shown) = (Vec::new(), Vec::new());
        let currency_name = currency.as_deref().map(|path| path.rsplit('.').next().unwrap_or(path));
        let declared = field.groups.iter().map(|group| (group.name.as_str(), group.path.as_str(), group.unit));
        let of_currency = currency_name.zip(currency.as_deref()).map(|(name, path)| (name, path, None));
        for (name, path, unit) in declared.chain(of_currency) {
            let use_ = if unit.is_some() { ColumnUse::Moment } else { ColumnUse::Key };
            let (path, column) = self.path(field, path, use_)?;
            keys.push(GroupKey { name: name.to_owned(), value: enum_value(name), path, unit });
            shown.push(column);
        }
        if !(1..=MAX_KEYS).contains(&keys.len()) {
            return error(SchemaErrorKind::GroupKeys);
        }
        let (mut sums, mut added) = (Vec::new(), Vec::new());
        for sum in &field.sums {
            if sum.is_money && currency.is_none() {
                return error(SchemaErrorKind::MoneyWithoutCurrency(sum.name.clone()));
            }
            let number = |path: &str| self.path(field, path, ColumnUse::Number);
            let (path, column) = number(&sum.path)?;
            let (times, factor) = sum.times.as_deref().map(number).transpose()?.unzip();
            let (name, value) = (sum.name.clone(), enum_value(&sum.name));
            sums.push(Sum { name, value, path, times, is_money: sum.is_money });
            added.push((column, factor));
        }
        let currency = currency.as_ref().map(|_| keys.len() - 1);
        Ok(BuiltTotals { of, totals: Totals { connection, keys, sums, currency }, keys: shown, sums: added })
    }

    /// The root connection with that name, if it has rows of the field's type.
    fn summed_root(
        &self,
        field: &FieldDefinition,
        of: &str,
    ) -> Result<Option<(&'a FieldDefinition, Connection)>, SchemaError> {
        let query = self.schema.types.iter().find(|ty| ty.name == QUERY);
        let root = query.and_then(|query| query.fields.iter().find(|root| root.name == of));
        match root.filter(|root| root.is_list && root.binding.is_none() && root.ty == field.ty) {
            Some(root) => Ok(Some((root, self.collection(root)?))),
            None => Ok(None),
        }
    }

    /// The path from a totals root's rows to a column that fits, and the field that shows it.
    fn path(
        &self,
        field: &FieldDefinition,
        path: &str,
        use_: ColumnUse,
    ) -> Result<(FieldPath, &'a FieldDefinition), SchemaError> {
        let node = self.node(&field.ty, field.position)?;
        let bad = || {
            let (ty, path) = (node.name.clone(), path.to_owned());
            let kind = SchemaErrorKind::BadPath { ty, path, use_: use_.describe() };
            SchemaError::new(field.position, kind)
        };
        let (objects, last) = path.rsplit_once('.').map_or((None, path), |(objects, last)| (Some(objects), last));
        let (mut ty, mut indexes) = (node, Vec::new());
        for name in objects.into_iter().flat_map(|objects| objects.split('.')) {
            let (index, object) = field_named(ty, name).ok_or_else(bad)?;
            let Some(BindingDefinition::One(_)) = object.binding else { return Err(bad()) };
            ty = self.node(&object.ty, object.position)?;
            indexes.push(index);
        }
        let (column, shown) = field_named(ty, last).ok_or_else(bad)?;
        let scalar = shown.scalar.filter(|_| shown.binding.is_none() && !shown.is_list);
        if !scalar.is_some_and(|scalar| use_.fits(scalar)) {
            return Err(bad());
        }
        Ok((FieldPath { objects: indexes, column }, shown))
    }
}

fn field_named<'a>(ty: &'a TypeDefinition, name: &str) -> Option<(u16, &'a FieldDefinition)> {
    (0..).zip(&ty.fields).find(|(_, field)| field.name == name)
}

/// The enum value for a name in camelCase.
fn enum_value(name: &str) -> String {
    snake_case(name).to_ascii_uppercase()
}
