//! Batches of generated rows, in the text format of COPY.

use std::collections::BTreeMap;

use crate::sample::copy_value::CopyValue;
use crate::sample::preconditions::TableColumn;

/// The tables that get rows, in the order of writing: a foreign key that stays needs the rows that it refers to.
pub(in crate::sample) const TABLES: &str = "\
    party, person, party_group, party_role, contact_mech, postal_address, telecom_number, party_contact_mech, \
    party_contact_mech_purpose, note_data, geo_point, facility, facility_contact_mech, \
    facility_contact_mech_purpose, product_store, product_store_facility, product_category, product, \
    good_identification, product_feature, product_feature_appl, product_price, product_attribute, \
    product_keyword_new, product_facility, inventory_item, inventory_item_detail, order_header, order_item, \
    order_item_ship_group, order_item_ship_group_assoc, order_item_ship_grp_inv_res, order_role, order_status, \
    order_adjustment, order_payment_preference, payment, order_contact_mech, order_header_note, \
    order_identification, order_facility_change, order_shipment, shipment, picklist, picklist_bin, picklist_item, \
    shipment_item, shipment_package, shipment_package_content, shipment_route_segment, shipment_package_route_seg, \
    shipment_status, item_issuance, shipment_receipt, return_header, return_item, return_status, \
    return_identification, return_adjustment";

/// A row of a table: `row!(party { party_id, status_id: "PARTY_ENABLED" })`. Other columns stay null.
macro_rules! row {
    (@value $column:ident) => { $column };
    (@value $column:ident $value:expr) => { $value };
    ($table:ident { $($column:ident $(: $value:expr)?),+ $(,)? }) => {
        $crate::sample::batch::Row {
            table: stringify!($table),
            columns: &[$(stringify!($column)),+],
            values: &[$(&$crate::sample::batch::row!(@value $column $($value)?)),+],
        }
    };
}

pub(in crate::sample) use row;

/// What [`row`] makes.
pub(in crate::sample) struct Row<'a> {
    pub(in crate::sample) table: &'static str,
    pub(in crate::sample) columns: &'static [&'static str],
    pub(in crate::sample) values: &'a [&'a dyn CopyValue],
}

/// Rows of any tables.
#[derive(Debug)]
pub(in crate::sample) struct Batch {
    /// The columns that the database lacks.
    absent: Vec<TableColumn>,
    /// The rows, by table and columns.
    rows: BTreeMap<(&'static str, &'static [&'static str]), String>,
    /// The number of entities (orders, customers …) that the rows describe, for the progress.
    pub(in crate::sample) entities: u64,
}

/// What a COPY statement writes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::sample) struct CopyTarget {
    pub(in crate::sample) table: &'static str,
    /// The names, separated by commas.
    pub(in crate::sample) columns: String,
}

impl Batch {
    /// An empty batch for a database that lacks some columns.
    pub(in crate::sample) fn without(absent: &[TableColumn]) -> Self {
        Self { absent: absent.to_vec(), rows: BTreeMap::new(), entities: 0 }
    }

    pub(in crate::sample) fn push(&mut self, Row { table, columns, values }: Row<'_>) {
        let rows = self.rows.entry((table, columns)).or_default();
        for (column, value) in columns.iter().zip(values) {
            if !self.absent.contains(&(table, column)) {
                value.append_to(rows);
                rows.push('\t');
            }
        }
        // The tab after the last value becomes the end of the row.
        rows.pop();
        rows.push('\n');
    }

    /// The rows with their tables, in the order of writing.
    pub(in crate::sample) fn into_rows(self) -> impl Iterator<Item = (CopyTarget, String)> {
        let Self { absent, rows, .. } = self;
        let mut rows: Vec<_> = rows.into_iter().collect();
        rows.sort_by_key(|((table, _), _)| TABLES.split(", ").position(|listed| listed == *table));
        rows.into_iter().map(move |((table, columns), rows)| {
            let present = columns.iter().copied().filter(|column| !absent.contains(&(table, column)));
            (CopyTarget { table, columns: present.collect::<Vec<_>>().join(", ") }, rows)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_rows_without_the_columns_that_the_database_lacks() {
        let mut batch = Batch::without(&[("person", "age")]);
        let (party_id, none) = ("A\tB\\C\r\n", None::<&str>);
        batch.push(row!(person { party_id, age: 7, name: none }));
        batch.push(row!(party { party_id: "P", is_group: true }));
        batch.push(row!(person { party_id: String::from("ü"), age: 8, name: Some("") }));
        let rows: Vec<_> = batch.into_rows().collect();
        let target = |table, columns: &str| CopyTarget { table, columns: columns.to_owned() };
        let expected = [
            (target("party", "party_id, is_group"), "P\tY\n".to_owned()),
            (target("person", "party_id, name"), "A\\tB\\\\C\\r\\n\t\\N\nü\t\n".to_owned()),
        ];
        assert_eq!(rows, expected);
    }
}
