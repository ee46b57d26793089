//! The paths of searches of the built-in schema.

use crate::catalog::Catalog;
use crate::catalog::connection::Connection;
use crate::catalog::scope::ScopeSet;
use crate::catalog::search_window::SearchWindow;
use crate::plan::access_path::expected_pages::ExpectedPages;
use crate::plan::access_path::{AccessPath, Search, Strategy, Window};
use crate::query::bind::shape::TermShape;
use crate::schema_file::SchemaFile;
use crate::search::Comparator;

/// The path of a search on a root, by the names of its keys: `=` for equality, `[]` for a list, `>` for a range.
fn path(root: &str, sort_key: &str, terms: &[&str], probes: u32) -> AccessPath {
    let catalog = Catalog::built_in().unwrap();
    let (_, _, binding) = catalog.fields().find(|(_, field, _)| field.name == root).unwrap();
    let connection = binding.connection().unwrap();
    let sort_key = connection.sort_keys.iter().position(|key| key.name == sort_key).unwrap();
    let terms: Vec<_> = terms.iter().map(|term| bound(connection, term)).collect();
    AccessPath::choose(Search::new(connection, sort_key, &terms), probes, false, SearchWindow::DEFAULT)
}

fn bound(connection: &Connection, term: &str) -> TermShape {
    let (name, comparator) = match term.strip_suffix("[]") {
        Some(name) => (name, Comparator::In),
        None => match term.strip_suffix('>') {
            Some(name) => (name, Comparator::Greater),
            None => (term, Comparator::Equals),
        },
    };
    let key = connection.search_key(name).unwrap();
    TermShape::new(key, comparator, if comparator == Comparator::In { 3 } else { 1 })
}

/// A path in a line: the index, what bounds its range, the look-ups, the window.
fn line(root: &str, sort_key: &str, terms: &[&str]) -> String {
    let path = path(root, sort_key, terms, 0);
    let mut parts = vec![path.index().join(",")];
    for term in path.prefix().into_iter().flat_map(|prefix| prefix.terms().collect::<Vec<_>>()) {
        let is_list = path.prefix().is_some_and(|prefix| prefix.list == Some(term));
        parts.push(format!("{} {}", if is_list { "each" } else { "=" }, terms[term]));
    }
    parts.extend(path.scan().into_iter().flat_map(|scan| &scan.range).map(|term| format!("range {}", terms[*term])));
    if let Strategy::Key(key) = &path.strategy {
        parts.push(format!("lookup {}", key.column));
    }
    parts.extend(path.lookups().iter().map(|lookup| {
        let how = if lookup.is_merged() { "merged" } else { "lookup" };
        format!("{how} {} {}", lookup.columns.join("+"), lookup.rows)
    }));
    parts.extend(path.window().map(|window| format!("window {}", window.rows)));
    parts.join(" ")
}

#[test]
fn reads_an_index_range_where_one_has_the_order() {
    for (root, sort_key, terms, expected) in [
        ("orders", "ORDER_DATE", &[][..], "order_date,order_id"),
        ("orders", "ORDER_DATE", &["orderDate>"], "order_date,order_id range orderDate>"),
        ("orders", "ORDER_DATE", &["statusId"], "status_id,order_date,order_id = statusId"),
        ("orders", "GRAND_TOTAL", &["productStoreId"], "product_store_id,grand_total,order_id = productStoreId"),
        ("orders", "ORDER_NAME", &["orderName"], "order_name,order_id = orderName"),
        ("orders", "ORDER_DATE", &["statusId[]"], "status_id,order_date,order_id each statusId[]"),
        (
            "orders",
            "ORDER_DATE",
            &["orderDate>", "statusId", "orderDate>"],
            "status_id,order_date,order_id = statusId range orderDate> range orderDate>",
        ),
        ("inventoryLevels", "PRODUCT_ID", &["productId[]"], "product_id,facility_id each productId[]"),
        ("inventoryLevels", "FACILITY_ID", &["productId[]"], "product_id,facility_id each productId[]"),
    ] {
        assert_eq!(line(root, sort_key, terms), expected, "{root} {sort_key} {terms:?}");
    }
}

#[test]
fn looks_up_the_filters_that_remain_and_else_reads_a_window() {
    for (root, sort_key, terms, expected) in [
        ("orders", "ORDER_NAME", &["statusId"][..], "order_name,order_id lookup status_id 3750 window 1875"),
        ("orders", "GRAND_TOTAL", &["orderTypeId"], "grand_total,order_id window 3750"),
        // Near the end of a date range, both of its terms bound it.
        (
            "orders",
            "GRAND_TOTAL",
            &["orderDate>", "orderDate>"],
            "grand_total,order_id lookup order_date 3750 window 1875",
        ),
        (
            "orders",
            "GRAND_TOTAL",
            &["orderDate>", "productStoreId"],
            "product_store_id,grand_total,order_id = productStoreId lookup product_store_id+order_date 3750 window 1875",
        ),
        // The two of three terms that probably match fewest rows.
        (
            "orders",
            "ORDER_NAME",
            &["orderDate>", "statusId", "externalId"],
            "order_name,order_id lookup status_id+order_date 750 lookup external_id 750 window 3000",
        ),
        // The ranges of a few values are merged, and share the window.
        (
            "orders",
            "ORDER_DATE",
            &["statusId[]", "orderTypeId"],
            "status_id,order_date,order_id each statusId[] window 1250",
        ),
        (
            "orders",
            "ORDER_NAME",
            &["statusId", "externalId"],
            "order_name,order_id lookup external_id 750 lookup status_id 750 window 3000",
        ),
        // The columns are known of the index in the order of the date alone.
        (
            "returns",
            "RETURNED_DATE",
            &["productStoreId", "entryDate>"],
            "return_date,return_id lookup product_store_id+entry_date 3750 window 1875",
        ),
        // A row of a semi-join is examined with the row that it joins.
        ("parties", "PARTY_ID", &["roleTypeId"], "party_id lookup role_type_id 166 window 600"),
        ("parties", "PARTY_ID", &["emailAddress"], "party_id lookup email_address 51 window 200"),
        // A primary key finds all rows.
        ("orders", "GRAND_TOTAL", &["statusId", "orderId[]"], " lookup order_id"),
        ("orders", "ORDER_ID", &["statusId", "orderId"], "order_id = orderId window 3750"),
    ] {
        assert_eq!(line(root, sort_key, terms), expected, "{root} {sort_key} {terms:?}");
    }
}

#[test]
fn merges_the_ranges_of_the_rows_of_another_relation() {
    for (root, sort_key, terms, expected) in [
        // The ranges of the rows of another relation are merged, with the range of a date. In another order that range is looked up.
        (
            "inventoryItemDetails",
            "EFFECTIVE_DATE",
            &["productId", "effectiveDate>"][..],
            "effective_date,inventory_item_id,inventory_item_detail_seq_id range effectiveDate> merged product_id 625 window 687",
        ),
        (
            "inventoryReservations",
            "INVENTORY_ITEM_ID",
            &["productId", "facilityId"],
            "inventory_item_id,order_id,ship_group_seq_id,order_item_seq_id merged product_id+facility_id 625 window 381",
        ),
        (
            "inventoryItemDetails",
            "INVENTORY_ITEM_ID",
            &["productId", "effectiveDate>"],
            "inventory_item_id,inventory_item_detail_seq_id lookup product_id 208 lookup effective_date 83 window 487",
        ),
        // Not beside another filter.
        (
            "inventoryItemDetails",
            "EFFECTIVE_DATE",
            &["productId", "reasonEnumId"],
            "effective_date,inventory_item_id,inventory_item_detail_seq_id lookup product_id 166 window 600",
        ),
    ] {
        assert_eq!(line(root, sort_key, terms), expected, "{root} {sort_key} {terms:?}");
    }
}

#[test]
fn reads_the_range_of_an_index_on_two_keys() {
    for (root, sort_key, terms, expected) in [
        (
            "orders",
            "ORDER_DATE",
            &["statusId", "orderDate>", "productStoreId"][..],
            "product_store_id,status_id,order_date,order_id = productStoreId = statusId range orderDate>",
        ),
        (
            "orders",
            "ORDER_ID",
            &["productStoreId", "statusId[]"],
            "product_store_id,status_id,order_id = productStoreId each statusId[]",
        ),
        (
            "orderItems",
            "PRODUCT_ID",
            &["facilityId", "statusId"],
            "facility_id,status_id,product_id,order_id,order_item_seq_id,place = facilityId = statusId",
        ),
        // The index on both keys has the rows of the first in the order of the second.
        (
            "orderItems",
            "PRODUCT_ID",
            &["facilityId"],
            "facility_id,product_id,order_id,order_item_seq_id,place = facilityId",
        ),
        (
            "orderItems",
            "PRODUCT_ID",
            &["facilityId[]"],
            "facility_id,product_id,order_id,order_item_seq_id,place each facilityId[]",
        ),
        // Without an index in the page's order, its rows are few, or dense among the store's rows.
        (
            "orders",
            "GRAND_TOTAL",
            &["productStoreId", "statusId"],
            "product_store_id,grand_total,order_id = productStoreId lookup product_store_id+status_id 3750 window 1875",
        ),
        // A range continues the index.
        (
            "orders",
            "LAST_UPDATED_STAMP",
            &["productStoreId", "statusId", "orderDate>", "orderDate>"],
            "product_store_id,last_updated_stamp,order_id = productStoreId \
             lookup product_store_id+status_id+order_date 1500 window 3000",
        ),
        (
            "orders",
            "ORDER_ID",
            &["productStoreId", "statusId", "orderDate>"],
            "product_store_id,status_id,order_id = productStoreId = statusId \
             lookup product_store_id+status_id+order_date 3750 window 1875",
        ),
        // The sort key's column is a range beside a prefix.
        (
            "shipments",
            "STATUS",
            &["statusId", "originFacilityId"],
            "origin_facility_id,status_id,shipment_id = originFacilityId range statusId",
        ),
    ] {
        assert_eq!(line(root, sort_key, terms), expected, "{root} {sort_key} {terms:?}");
    }
}

#[test]
fn examines_no_more_rows_than_the_window_and_the_page() {
    for (terms, probes) in [(&["orderTypeId"][..], 0), (&["statusId"], 1), (&["statusId", "externalId"], 2)] {
        let path = path("orders", "ORDER_NAME", terms, probes);
        let examined = path.bound(50, 1);
        assert!((7_400..=7_560).contains(&examined), "{examined} {path:?}");
    }
    assert_eq!(path("orders", "GRAND_TOTAL", &["productStoreId"], 1).bound(50, 1), 52);
    // The rows of a few ranges, and one more of each; of many ranges, some rows of each and then the rows of a few.
    assert_eq!(path("orders", "GRAND_TOTAL", &["productStoreId[]"], 0).bound(50, 3), 156);
    assert_eq!(path("orders", "GRAND_TOTAL", &["productStoreId[]"], 0).bound(50, 100), 1_056);
}

#[test]
fn expects_more_pages_where_rows_are_checked() {
    let expected = |terms: &[&str], size| {
        let path = path("orders", "GRAND_TOTAL", terms, 0);
        let ExpectedPages { fewest, one_row_of, checked } = path.expected_pages(size);
        (fewest, one_row_of, checked.join(" "))
    };
    assert_eq!(expected(&["productStoreId"], 50), (1, None, String::new()));
    // A value of the primary key finds all rows.
    assert_eq!(expected(&["statusId", "orderId"], 50), (1, None, String::new()));
    assert_eq!(expected(&["orderTypeId"], 50), (1, Some(75), "orderTypeId".to_owned()));
    assert_eq!(expected(&["orderDate>", "orderTypeId", "orderDate>"], 100).2, "orderDate orderTypeId");
    let path = path("orders", "GRAND_TOTAL", &["orderTypeId"], 0);
    let window = Window { rows: 30, ..path.window().unwrap().clone() };
    let path = AccessPath { strategy: Strategy::Window(window), ..path };
    let ExpectedPages { fewest, one_row_of, .. } = path.expected_pages(100);
    assert_eq!((fewest, one_row_of), (2, Some(1)));
}

#[test]
fn examines_more_rows_for_a_page_of_more_than_fifty() {
    let path = path("orders", "GRAND_TOTAL", &["orderTypeId"], 0);
    let rows = |size: u32| (path.window_of(size), path.expected_pages(size).one_row_of, path.bound(size, 1));
    assert_eq!(rows(1), (3_750, Some(3_750), 7_502));
    assert_eq!(rows(50), (3_750, Some(75), 7_551));
    assert_eq!(rows(100), (7_500, Some(75), 15_101));
    assert_eq!(rows(1_000).0, 75_000);
    assert_eq!(AccessPath::default().window_of(100), 0);
}

#[test]
fn searches_text_by_its_index_unless_that_would_tell_of_rows_that_are_not_seen() {
    let file = SchemaFile::parse(
        r#"type Query { notes: [Note] @search(key: "text", compare: [MATCHES]) @sort(key: "ID") }
           type Note @relation(name: "note", key: ["id"]) @scope(name: "store", by: "store") { id: ID! }"#,
    )
    .unwrap();
    for (limiting, lookups) in [(ScopeSet::default(), 1), (ScopeSet::of(0), 0)] {
        let catalog = file.limit(file.catalog().unwrap(), limiting);
        let (_, _, binding) = catalog.fields().find(|(_, field, _)| field.name == "notes").unwrap();
        let term = TermShape::new(0, Comparator::Matches, 1);
        let path =
            AccessPath::choose(Search::new(binding.connection().unwrap(), 0, &[term]), 0, false, SearchWindow::DEFAULT);
        assert_eq!((path.lookups().len(), path.window().is_some()), (lookups, true));
    }
}

#[test]
fn sorts_rows_of_an_index_without_the_key_unless_another_index_has_the_order() {
    let schema = r#"
type Query {
  events: [Event]
    @search(key: "at", compare: [EQUALS, IN, RANGE])
    @search(key: "kind", inOrderOf: ["AT"])
    @search(key: "shop", indexed: false)
    @sort(key: "EVENT_ID")
    @sort(key: "AT", ties: 20)
}
type Event @relation(name: "event", key: ["event_id"]) { eventId: ID! at: DateTime kind: String shop: String }"#;
    let catalog = Catalog::parse(schema).unwrap();
    let (_, _, binding) = catalog.fields().find(|(_, field, _)| field.name == "events").unwrap();
    let connection = binding.connection().unwrap();
    for (terms, index, range, filters, ties, rows) in [
        // The page, one row more, and twice the ties.
        (&[][..], "at", 0, 0, Some(20), Some(51)),
        (&["at>"], "at", 1, 0, Some(20), Some(51)),
        (&["at"], "at", 1, 0, Some(20), Some(51)),
        (&["at[]"], "at", 0, 1, Some(20), None),
        (&["shop"], "at", 0, 1, Some(20), None),
        (&["kind"], "kind,at,event_id", 0, 0, None, Some(11)),
        (&["kind", "at>"], "kind,at,event_id", 1, 0, None, Some(11)),
    ] {
        let bound: Vec<_> = terms.iter().map(|term| bound(connection, term)).collect();
        let path = AccessPath::choose(Search::new(connection, 1, &bound), 0, false, SearchWindow::DEFAULT);
        assert_eq!(path.index().join(","), index, "{terms:?}");
        assert_eq!((path.scan().unwrap().range.len(), path.filters().len()), (range, filters), "{terms:?}");
        assert_eq!((path.ties(), path.window().is_some()), (ties, filters > 0), "{terms:?}");
        assert!(rows.is_none_or(|rows| path.bound(10, 1) == rows), "{terms:?} {}", path.bound(10, 1));
    }
}
