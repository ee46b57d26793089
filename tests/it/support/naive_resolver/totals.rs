//! Totals: the rows of a page, grouped and added up one by one.

use std::cmp::Ordering;

use orderql::catalog::binding::{One, Totals};
use orderql::catalog::ids::{EntityId, TypeId};
use orderql::catalog::schema::ArgumentRole;
use orderql::catalog::totals::{FieldPath, GroupField, GroupKey, Sum, TimeUnit, TotalsField};
use orderql::value::ScalarType;
use rust_decimal::Decimal;
use serde_json::Value as Input;

use crate::support::naive_resolver::json::Json;
use crate::support::naive_resolver::search::Search;
use crate::support::naive_resolver::tables::{Cell, Row};
use crate::support::naive_resolver::{Arguments, Binding, Query, Set, is_joined};

/// A group: its keys, none of those that it is not grouped by, and its rows.
struct Group<'a> {
    keys: Vec<Option<Cell>>,
    rows: Vec<Row<'a>>,
}

impl<'a, 'q> Query<'a, 'q> {
    /// The object of totals.
    pub(super) fn totals(&self, ty: TypeId, totals: &'a Totals, given: &Arguments<'_>, sets: &[Set<'q>]) -> Json {
        let rows = given.get(ArgumentRole::Rows).cloned().unwrap_or_else(|| 1_000.into());
        let of_page = given.0.iter().filter(|(role, _)| !matches!(role, ArgumentRole::First | ArgumentRole::Rows));
        // A range decides the order, if nothing else does.
        let search = given.text(ArgumentRole::Query).filter(|_| given.get(ArgumentRole::SortKey).is_none());
        let search = search.map(|text| Search::parse(self.tables, &totals.connection, &text));
        let of_range = search.and_then(|search| search.range_order(&totals.connection));
        let of_range = of_range.map(|name| (&ArgumentRole::SortKey, name.into()));
        let of_page = of_page.cloned().chain([(&ArgumentRole::First, rows)]).chain(of_range);
        let page = self.page(&totals.connection, None, &Arguments(of_page.collect()));
        let groups = self.groups(totals, given, &page.rows, &self.selected_fields(sets));
        let first = given.get(ArgumentRole::First).unwrap().as_u64().unwrap();
        self.members(ty, sets, |binding, ty, sets| match binding {
            Binding::Totals(TotalsField::Groups) => {
                let groups = groups.iter().take(first.try_into().unwrap());
                Json::List(groups.map(|group| self.group(ty, totals, group, sets)).collect())
            }
            Binding::Totals(TotalsField::GroupCount) => Json::Number(groups.len().try_into().unwrap()),
            Binding::Totals(TotalsField::RowCount) => Json::Number(page.rows.len().try_into().unwrap()),
            Binding::Totals(TotalsField::Complete) => Json::Boolean(!page.has_next),
            Binding::Totals(TotalsField::EndCursor) if page.has_next => page.cursor(page.rows.last()),
            Binding::Totals(TotalsField::EndCursor) => Json::Null,
            other => panic!("{other:?} in totals"),
        })
    }

    /// The names of the fields that are selected from groups.
    fn selected_fields(&self, sets: &[Set<'q>]) -> Vec<String> {
        let groups = self.collect(sets).into_iter().filter(|(_, fields)| fields[0].name == "groups");
        let sets: Vec<Vec<_>> =
            groups.map(|(_, fields)| fields.iter().map(|field| &field.selection_set).collect()).collect();
        sets.iter().flat_map(|sets| self.collect(sets)).map(|(_, fields)| fields[0].name.clone()).collect()
    }

    /// All groups, in order.
    fn groups(
        &self,
        totals: &'a Totals,
        given: &Arguments<'_>,
        rows: &[Row<'a>],
        selected: &[String],
    ) -> Vec<Group<'a>> {
        let names = match given.get(ArgumentRole::GroupBy) {
            Some(Input::Array(names)) => names.clone(),
            None | Some(Input::Null) => {
                let key = |name: &String| totals.keys.iter().find(|key| key.name == *name);
                selected.iter().filter_map(key).map(|key| Input::from(key.value.as_str())).collect()
            }
            Some(one) => vec![one.clone()],
        };
        let order = given.text(ArgumentRole::OrderBy).unwrap_or_else(|| "COUNT".to_owned());
        let is_used = |sum: &&Sum| selected.contains(&sum.name) || sum.value == order;
        let has_money = totals.sums.iter().filter(is_used).any(|sum| sum.is_money);
        let is_key = |(index, key): (usize, &'a GroupKey)| {
            let is_currency = has_money && totals.currency == Some(index);
            (is_currency || names.contains(&Input::from(key.value.as_str()))).then_some(key)
        };
        let keys: Vec<_> = totals.keys.iter().enumerate().map(is_key).collect();
        let mut groups: Vec<Group<'a>> = Vec::new();
        for row in rows {
            let keys: Vec<_> = keys.iter().map(|key| key.map(|key| self.key(totals, key, *row))).collect();
            match groups.iter_mut().find(|group| compare(&group.keys, &keys).is_eq()) {
                Some(group) => group.rows.push(*row),
                None => groups.push(Group { keys, rows: vec![*row] }),
            }
        }
        // In the order of the keys that are asked for; the currency that amounts add comes last.
        let place = |key: &GroupKey| names.iter().position(|name| *name == key.value).unwrap_or(names.len());
        let mut places: Vec<_> = (0..keys.len()).collect();
        places.sort_by_key(|index| place(&totals.keys[*index]));
        let in_places = |keys: &[Option<Cell>]| places.iter().map(|index| keys[*index].clone()).collect::<Vec<_>>();
        groups.sort_by(|a, b| compare(&in_places(&a.keys), &in_places(&b.keys)));
        match order.as_str() {
            "KEY" => {}
            "COUNT" => groups.sort_by_key(|group| std::cmp::Reverse(group.rows.len())),
            name => {
                let sum = totals.sums.iter().find(|sum| sum.value == name).unwrap();
                groups.sort_by(|a, b| {
                    let [a, b] = [a, b].map(|group| self.sum(totals, sum, &group.rows));
                    // The largest first, those without a value last.
                    b.is_some().cmp(&a.is_some()).then(b.cmp(&a))
                });
            }
        }
        groups
    }

    fn group(&self, ty: TypeId, totals: &'a Totals, group: &Group<'a>, sets: &[Set<'q>]) -> Json {
        self.members(ty, sets, |binding, _, _| match binding {
            Binding::Group(GroupField::Key(index)) => {
                let (_, column) = self.catalog.follow(totals.connection.node, &totals.keys[index].path);
                group.keys[index].as_ref().map_or(Json::Null, |key| key.json(column.scalar))
            }
            Binding::Group(GroupField::Count) => Json::Number(group.rows.len().try_into().unwrap()),
            Binding::Group(GroupField::Sum(index)) => {
                let sum = self.sum(totals, &totals.sums[index], &group.rows);
                sum.map_or(Json::Null, |sum| Json::Text(sum.to_string()))
            }
            other => panic!("{other:?} in a group"),
        })
    }

    fn key(&self, totals: &'a Totals, key: &'a GroupKey, row: Row<'a>) -> Cell {
        let cell = self.cell(totals.connection.node, &key.path, row);
        match (key.unit, cell) {
            (Some(unit), Cell::Moment(_, moment)) => {
                let start = match unit {
                    TimeUnit::Day => format!("{}T00:00:00Z", &moment[..10]),
                    TimeUnit::Week => format!("{}T00:00:00Z", monday(&moment[..10])),
                    TimeUnit::Month => format!("{}-01T00:00:00Z", &moment[..7]),
                };
                let Cell::Moment(micros, _) = Cell::of(&ScalarType::DateTime.parse(&start).unwrap()) else { panic!() };
                Cell::Moment(micros, start)
            }
            (_, cell) => cell.clone(),
        }
    }

    /// The sum of the values, with as many decimal places as the one that has the most.
    fn sum(&self, totals: &'a Totals, sum: &'a Sum, rows: &[Row<'a>]) -> Option<Decimal> {
        let number = |path: &'a FieldPath, row: Row<'a>| match self.cell(totals.connection.node, path, row) {
            Cell::Number(number, _) => Some(*number),
            Cell::Null => None,
            other => panic!("{other:?} is no number"),
        };
        let value = |row: &Row<'a>| {
            let value = number(&sum.path, *row)?;
            let Some(times) = &sum.times else { return Some(value) };
            let factor = number(times, *row)?;
            Some(rescaled(value * factor, value.scale() + factor.scale()))
        };
        let add = |sum: Decimal, value: Decimal| rescaled(sum + value, sum.scale().max(value.scale()));
        rows.iter().filter_map(value).reduce(add)
    }

    /// The value at the end of a path; null if an object on the way is absent.
    fn cell(&self, from: EntityId, path: &FieldPath, row: Row<'a>) -> &'a Cell {
        let (objects, column) = self.catalog.follow(from, path);
        let row = objects.into_iter().try_fold(row, |row, one| self.joined(one, row));
        row.map_or(&Cell::Null, |row| row.get(&column.name))
    }

    /// The joined row with the lowest key.
    fn joined(&self, one: &'a One, row: Row<'a>) -> Option<Row<'a>> {
        let entity = self.catalog.entity(one.target);
        let rows = self.tables.get(&entity.relation).all().filter(|other| is_joined(&one.join, row, *other));
        rows.min_by(|a, b| {
            let mut orders = entity.key.iter().map(|column| a.get(&column.name).order(b.get(&column.name)));
            orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        })
    }
}

/// The order of groups by their keys.
fn compare(a: &[Option<Cell>], b: &[Option<Cell>]) -> Ordering {
    let mut orders = a.iter().zip(b).map(|(a, b)| match (a, b) {
        (Some(a), Some(b)) => a.order(b),
        _ => Ordering::Equal,
    });
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// The Monday of a day's week.
fn monday(day: &str) -> String {
    let day = time::Date::parse(day, &time::format_description::well_known::Iso8601::DATE).unwrap();
    (day - time::Duration::days(day.weekday().number_days_from_monday().into())).to_string()
}

fn rescaled(mut number: Decimal, scale: u32) -> Decimal {
    number.rescale(scale);
    number
}
