//! The demo's data, which is part of the program: OFBiz's demo files (Apache-2.0, see the notice beside them), then a small
//! set of further orders. In the order in which they are loaded.

use std::borrow::Cow;

use crate::load::input::InputFile;

macro_rules! file {
    ($path:literal) => {
        ($path, include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/", $path)) as &[u8])
    };
}

const FILES: &[(&str, &[u8])] = &[
    file!("ofbiz/CommonTypeData.xml"),
    file!("ofbiz/CurrencyData.xml"),
    file!("ofbiz/GeoData.xml"),
    file!("ofbiz/GeoData_US.xml"),
    file!("ofbiz/UnitData.xml"),
    file!("ofbiz/PartySeedInitialData.xml"),
    file!("ofbiz/PartySeedData.xml"),
    file!("ofbiz/ProductSeedData.xml"),
    file!("ofbiz/AccountingSeedData.xml"),
    file!("ofbiz/OrderSeedData.xml"),
    file!("ofbiz/PurchaseOrderShippingSeedData.xml"),
    file!("ofbiz/PartyGeoPointData.xml"),
    file!("ofbiz/PartyDemoData.xml"),
    file!("ofbiz/SecurityExtDemoData.xml"),
    file!("ofbiz/ProductDemoData.xml"),
    file!("ofbiz/AccountingDemoData.xml"),
    file!("ofbiz/OrderDemoData.xml"),
    file!("ofbiz/OrderTestData.xml"),
    file!("ofbiz/IssuanceTestData.xml"),
    file!("orders/Parties.xml"),
    file!("orders/Facilities.xml"),
    file!("orders/Stores.xml"),
    file!("orders/Products.xml"),
    file!("orders/Orders.xml"),
    file!("orders/OrderWalk.xml"),
    file!("orders/Shipments.xml"),
    file!("orders/Returns.xml"),
    file!("orders/Payments.xml"),
];

pub(super) fn files() -> impl Iterator<Item = InputFile> {
    FILES.iter().map(|(name, bytes)| InputFile::Bytes { name: (*name).to_owned(), bytes: Cow::Borrowed(bytes) })
}
