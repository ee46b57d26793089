//! The types that rows are read into. Joined columns follow their own.

use async_graphql::{ID, SimpleObject};
use rust_decimal::Decimal;
use time::OffsetDateTime;
use tokio_postgres::{Error, Row};

use crate::values::{DateTime, flag};

#[derive(Debug, SimpleObject)]
#[graphql(complex)]
pub struct Order {
    pub order_id: ID,
    pub order_name: Option<String>,
    pub external_id: Option<String>,
    pub status_id: ID,
    pub order_date: Option<DateTime>,
    pub grand_total: Option<Decimal>,
    pub currency_uom_id: Option<ID>,
    pub order_item_count: i64,
    pub bill_to_customer: Option<BillToCustomer>,
}

#[derive(Debug, SimpleObject)]
pub struct BillToCustomer {
    pub party_id: ID,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
}

#[derive(Debug, SimpleObject)]
pub struct OrderItem {
    pub order_item_seq_id: ID,
    pub product_id: Option<ID>,
    pub quantity: Option<Decimal>,
    pub unit_price: Option<Decimal>,
    pub status_id: Option<ID>,
}

#[derive(Debug, SimpleObject)]
#[graphql(complex)]
pub struct ShipGroup {
    pub order_id: ID,
    pub ship_group_seq_id: ID,
    pub facility_id: Option<ID>,
    pub tracking_number: Option<String>,
    pub may_split: Option<bool>,
    pub is_gift: Option<bool>,
    pub ship_from_address: Option<FacilityOriginAddress>,
    pub shipping_method: Option<ShipmentMethodType>,
}

#[derive(Debug, SimpleObject)]
pub struct FacilityOriginAddress {
    pub facility_id: ID,
    pub address1: Option<String>,
    pub city: Option<String>,
    pub postal_code: Option<String>,
    pub state_province_geo_id: Option<ID>,
}

#[derive(Debug, SimpleObject)]
pub struct ShipmentMethodType {
    pub shipment_method_type_id: ID,
    pub description: Option<String>,
}

/// What is joined to an order, if it is selected.
#[derive(Debug, Clone, Copy)]
pub struct OrderExtras {
    pub count: bool,
    pub customer: bool,
}

/// What is joined to a ship group, if it is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GroupExtras {
    pub address: bool,
    pub method: bool,
}

impl Order {
    /// Reads a row of `statements::orders`.
    pub fn read(row: &Row, extras: OrderExtras) -> Result<Self, Error> {
        let customer = 7 + usize::from(extras.count);
        Ok(Self {
            order_id: id(row, 0)?,
            order_name: row.try_get(1)?,
            external_id: row.try_get(2)?,
            status_id: id(row, 3)?,
            order_date: row.try_get::<_, Option<OffsetDateTime>>(4)?.map(DateTime),
            grand_total: row.try_get(5)?,
            currency_uom_id: maybe_id(row, 6)?,
            order_item_count: if extras.count { row.try_get(7)? } else { 0 },
            bill_to_customer: joined(row, customer, extras.customer, |party_id| {
                Ok(BillToCustomer {
                    party_id,
                    first_name: row.try_get(customer + 1)?,
                    last_name: row.try_get(customer + 2)?,
                })
            })?,
        })
    }
}

impl OrderItem {
    /// Reads a row of `statements::ITEMS_OF_ORDERS` or `statements::ITEMS_OF_GROUPS`.
    pub fn read(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            order_item_seq_id: id(row, 1)?,
            product_id: maybe_id(row, 2)?,
            quantity: row.try_get(3)?,
            unit_price: row.try_get(4)?,
            status_id: maybe_id(row, 5)?,
        })
    }
}

impl ShipGroup {
    /// Reads a row of `statements::groups_of_orders`.
    pub fn read(row: &Row, extras: GroupExtras) -> Result<Self, Error> {
        let method = if extras.address { 12 } else { 7 };
        Ok(Self {
            order_id: id(row, 1)?,
            ship_group_seq_id: id(row, 2)?,
            facility_id: maybe_id(row, 3)?,
            tracking_number: row.try_get(4)?,
            may_split: flag(row.try_get(5)?),
            is_gift: flag(row.try_get(6)?),
            ship_from_address: joined(row, 7, extras.address, |facility_id| {
                Ok(FacilityOriginAddress {
                    facility_id,
                    address1: row.try_get(8)?,
                    city: row.try_get(9)?,
                    postal_code: row.try_get(10)?,
                    state_province_geo_id: maybe_id(row, 11)?,
                })
            })?,
            shipping_method: joined(row, method, extras.method, |shipment_method_type_id| {
                Ok(ShipmentMethodType { shipment_method_type_id, description: row.try_get(method + 1)? })
            })?,
        })
    }
}

/// A joined object, if it is selected and exists: its first column is its key, which is null if it does not exist.
fn joined<T>(
    row: &Row,
    key: usize,
    selected: bool,
    object: impl FnOnce(ID) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    if !selected {
        return Ok(None);
    }
    maybe_id(row, key)?.map(object).transpose()
}

fn id(row: &Row, column: usize) -> Result<ID, Error> {
    row.try_get(column).map(ID)
}

fn maybe_id(row: &Row, column: usize) -> Result<Option<ID>, Error> {
    Ok(row.try_get::<_, Option<String>>(column)?.map(ID))
}
