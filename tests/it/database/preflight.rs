//! The preflight check of a schema against a database.

use std::path::Path;

use orderql::catalog::Catalog;
use orderql::load::finish::finish;
use orderql::load::input::InputFile;
use orderql::load::loader::load_file;
use orderql::migration::migrate::migrate;
use orderql::preflight::check;
use orderql::preflight::mismatch::Mismatch;
use tokio_postgres::Client;

use crate::support::database::{Database, empty_database, migrated_database};

#[tokio::test]
async fn the_built_in_schema_fits_a_migrated_database() {
    let database = migrated_database().await;
    assert_eq!(mismatches(&database, &built_in()).await, []);
}

#[tokio::test]
async fn the_built_in_schema_fits_with_any_statistics() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    // With few rows, all plans cost the same. With many equal values, reading all rows in another order could look cheap.
    for folder in ["tests/data/ofbiz", "tests/data/orders"] {
        for source in InputFile::from_path(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
            load_file(&mut client, source, &mut |_| {}).await.unwrap();
        }
    }
    finish(&mut client).await.unwrap();
    client.batch_execute("ANALYZE").await.unwrap();
    assert_eq!(check(&client, &built_in()).await.unwrap(), []);
    let fill = "INSERT INTO order_header (order_id, order_date, order_name)
                SELECT 'MANY' || n, now(), 'same' FROM generate_series(1, 20000) AS n;
                INSERT INTO order_item (order_id, order_item_seq_id, external_id)
                SELECT order_id, '00001', 'same' FROM order_header WHERE order_id LIKE 'MANY%';
                ANALYZE";
    client.batch_execute(fill).await.unwrap();
    assert_eq!(check(&client, &built_in()).await.unwrap(), []);
}

#[tokio::test]
async fn reports_only_the_missing_relations_of_an_empty_database() {
    let mismatches = mismatches(&empty_database().await, &built_in()).await;
    let missing = |mismatch: &Mismatch| matches!(mismatch, Mismatch::MissingRelation { .. });
    assert!(mismatches.iter().all(missing), "{mismatches:?}");
    let texts: Vec<_> = mismatches.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts[0],
        "there is no table or view order_header, which Order reads: run `orderql migrate`, or correct the schema file"
    );
    assert!(texts.iter().any(|text| text.contains("orderql.ship_group")), "{texts:#?}");
    let mut distinct = texts.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), texts.len(), "each relation is reported once");
}

#[tokio::test]
async fn names_missing_relations_and_columns() {
    let advice = "run `orderql migrate`, or correct the schema file";
    let mut changes = Changes::begin().await;
    for (change, expected) in [
        (
            "DROP TABLE telecom_number CASCADE",
            vec![
                format!("there is no table or view telecom_number, which TelecomNumber reads: {advice}"),
                format!(
                    "there is no table or view orderql.order_phone, which orders(query: \"phone:…\") reads: {advice}"
                ),
                format!(
                    "there is no table or view orderql.party_phone, which parties(query: \"phone:…\") reads: {advice}"
                ),
            ],
        ),
        (
            "DROP TABLE return_reason CASCADE",
            vec![format!("there is no table or view return_reason, which ReturnReason reads: {advice}")],
        ),
        (
            "DROP VIEW orderql.order_note",
            vec![format!("there is no table or view orderql.order_note, which OrderNote reads: {advice}")],
        ),
        (
            "ALTER TABLE order_adjustment DROP COLUMN comments CASCADE",
            vec![format!("order_adjustment has no column comments, which OrderAdjustment.comments reads: {advice}")],
        ),
        (
            "ALTER TABLE shipment DROP COLUMN primary_order_id CASCADE",
            vec![
                format!(
                    "there is no table or view orderql.order_tracking, which orders(query: \"trackingNumber:…\") reads: {advice}"
                ),
                format!("shipment has no column primary_order_id, which Order.shipments reads: {advice}"),
            ],
        ),
        // A column of the key without a field.
        (
            "ALTER TABLE shipment_package_content RENAME COLUMN shipment_id TO shipment",
            vec![format!(
                "shipment_package_content has no column shipment_id, which ShipmentPackageContent reads: {advice}"
            )],
        ),
    ] {
        assert_eq!(changes.added_by(change).await, expected, "{change}");
    }
}

#[tokio::test]
async fn names_a_missing_index_with_the_statement_that_creates_it() {
    let mut changes = Changes::begin().await;
    // The index of a view's table comes last, because no statement for it is printed.
    for (index, expected) in [
        // A sort key with a nullable column.
        (
            "oql_order_header_in_order_name_order",
            "orders(sortKey: ORDER_NAME): CREATE INDEX CONCURRENTLY ON \"order_header\" (\"order_name\", \"order_id\");",
        ),
        // An indexed search key, and an argument of a lookup field.
        (
            "oql_order_header_with_external_id, orderext_id_idx",
            "orders(query: \"externalId:…\"): CREATE INDEX CONCURRENTLY ON \"order_header\" (\"external_id\");",
        ),
        (
            "oql_facility_with_external_id, ext_fac_id_indx",
            "facility(externalId:): CREATE INDEX CONCURRENTLY ON \"facility\" (\"external_id\", \"facility_id\");",
        ),
        // A search key in the order of a sort key.
        (
            "oql_shipment_of_facility_by_date",
            "shipments(query: \"originFacilityId:…\"): CREATE INDEX CONCURRENTLY ON \"shipment\" (\"origin_facility_id\", \
             \"estimated_ship_date\", \"shipment_id\");",
        ),
        // Connections by one column, and by two columns, of which another index has the first.
        (
            "oql_shipment_of_order",
            "Order.shipments: CREATE INDEX CONCURRENTLY ON \"shipment\" (\"primary_order_id\", \"shipment_id\");",
        ),
        (
            "oql_order_adjustment_of_item",
            "OrderItem.adjustments: CREATE INDEX CONCURRENTLY ON \"order_adjustment\" (\"order_id\", \
             \"order_item_seq_id\", \"order_adjustment_id\");",
        ),
        // An index of a view's table.
        (
            "oql_product_facility_of_facility",
            "Facility.inventoryLevels: the view orderql.inventory_level needs one on the table of its columns \
             (facility_id, product_id), in this order, and one for each table that it joins",
        ),
    ] {
        let report = changes.after(&format!("DROP INDEX {index}")).await;
        let expected = format!("no index serves {expected}")
            .replace(": CREATE INDEX", ": run `orderql migrate`, or CREATE INDEX")
            .replace(": the view", ": run `orderql migrate`, or the view");
        assert!(report.contains(&expected), "{index}: {report:#?}");
        let statements = report.iter().filter_map(|text| text.split_once("CREATE INDEX CONCURRENTLY "));
        let statements: Vec<_> = statements.map(|(_, index)| format!("CREATE INDEX {index}")).collect();
        let left = changes.after(&statements.concat()).await;
        assert!(left.iter().all(|text| text.contains("the view")), "{index}: {left:#?}");
    }
}

#[tokio::test]
async fn an_index_with_another_order_is_not_enough() {
    let mut changes = Changes::begin().await;
    let unserved = |columns| {
        format!(
            "DROP INDEX oql_order_header_in_order_name_order;
             CREATE INDEX oql_order_header_in_order_name_order ON order_header ({columns})"
        )
    };
    for columns in
        ["order_name", "order_id, order_name", "order_name NULLS FIRST, order_id", "order_name COLLATE \"C\", order_id"]
    {
        let report = changes.after(&unserved(columns)).await;
        assert!(report.iter().any(|text| text.contains("orders(sortKey: ORDER_NAME)")), "{columns}: {report:?}");
    }
    for columns in ["order_name DESC, order_id DESC", "order_name, order_id, order_date"] {
        assert_eq!(changes.after(&unserved(columns)).await, [""; 0], "{columns}");
    }
}

#[tokio::test]
async fn a_joined_object_needs_an_index() {
    let report =
        report_after("ALTER TABLE shipment_method_type DROP CONSTRAINT pk_shipment_method_type CASCADE", &built_in())
            .await;
    let not_unique = "the key of ShipmentMethodType does not identify the rows of shipment_method_type: it has no unique index or constraint on \
                      (shipment_method_type_id) or on some of them; correct the key in the schema file, or CREATE UNIQUE \
                      INDEX CONCURRENTLY ON \"shipment_method_type\" (\"shipment_method_type_id\");";
    let types = [
        "ShipGroup",
        "OpenShipGroup",
        "Picklist",
        "Shipment",
        "ShippedShipment",
        "ShipmentRouteSegment",
        "ProductStoreShipmentMethod",
    ];
    let unserved = types.map(|ty| {
        format!(
            "no index serves {ty}.shippingMethod: run `orderql migrate`, or CREATE INDEX CONCURRENTLY ON \"shipment_method_type\" \
             (\"shipment_method_type_id\");"
        )
    });
    assert_eq!(report, [&[not_unique.to_owned()], &unserved[..]].concat());
}

#[tokio::test]
async fn a_key_must_be_unique_and_a_non_null_field_never_null() {
    let schema = Catalog::parse(
        r#"
        type Query { things: [Thing] @sort(key: "NAME") }
        type Thing @relation(name: "thing", key: ["box_id", "thing_id"]) { thingId: ID! name: String! }
        "#,
    );
    let schema = schema.unwrap();
    let not_unique = "the key of Thing does not identify the rows of thing: it has no unique index or constraint on (box_id, thing_id) or on \
                      some of them; correct the key in the schema file, or CREATE UNIQUE INDEX CONCURRENTLY ON \"thing\" \
                      (\"box_id\", \"thing_id\");";
    let nullable = |field: &str, column: &str| {
        format!(
            "Thing.{field} is non-null, but thing.{column} may be null: make the field nullable in the schema file, or ALTER \
             TABLE \"thing\" ALTER COLUMN \"{column}\" SET NOT NULL;"
        )
    };
    let with = |columns: &str, indexes: &str| {
        format!(
            "CREATE TABLE thing ({columns}); CREATE INDEX ON thing (box_id, thing_id);
             CREATE INDEX ON thing (name, box_id, thing_id); {indexes}"
        )
    };
    let columns = "box_id text NOT NULL, thing_id text NOT NULL, name text NOT NULL";
    let database = empty_database().await;
    let client = database.connect().await;
    for (made, expected) in [
        (with(columns, "ALTER TABLE thing ADD PRIMARY KEY (thing_id, box_id)"), vec![]),
        // Some columns of the key are enough.
        (with(columns, "CREATE UNIQUE INDEX ON thing (thing_id) INCLUDE (name)"), vec![]),
        (with(columns, "CREATE UNIQUE INDEX ON thing (thing_id, name)"), vec![not_unique.to_owned()]),
        (with(columns, "CREATE UNIQUE INDEX ON thing (thing_id) WHERE name <> ''"), vec![not_unique.to_owned()]),
        (with(columns, "CREATE UNIQUE INDEX ON thing (upper(thing_id))"), vec![not_unique.to_owned()]),
        (with(columns, "ALTER TABLE thing ADD UNIQUE (thing_id) DEFERRABLE"), vec![not_unique.to_owned()]),
        (
            with("box_id text, thing_id text, name text", "CREATE UNIQUE INDEX ON thing (thing_id)"),
            vec![
                "the key of Thing does not identify the rows of thing: (box_id, thing_id) may be null, and a unique index allows any \
                 number of nulls; correct the key in the schema file, or ALTER TABLE \"thing\" ALTER COLUMN \"box_id\" SET NOT NULL, \
                 ALTER COLUMN \"thing_id\" SET NOT NULL;"
                    .to_owned(),
                nullable("name", "name"),
            ],
        ),
        (
            with(
                "box_id text NOT NULL, thing_id text PRIMARY KEY, name text NOT NULL, note text",
                "ALTER TABLE thing ALTER name DROP NOT NULL",
            ),
            vec![nullable("name", "name")],
        ),
        // A domain may rule out nulls as well. A view guarantees nothing, and is trusted.
        (
            format!(
                "CREATE DOMAIN named AS text NOT NULL; {}",
                with("box_id text NOT NULL, thing_id text PRIMARY KEY, name named", "")
            ),
            vec![],
        ),
        (
            "CREATE TABLE kept (box_id text, thing_id text, name text); CREATE INDEX ON kept (box_id, thing_id);
             CREATE INDEX ON kept (name, box_id, thing_id); CREATE VIEW thing AS SELECT * FROM kept"
                .to_owned(),
            vec![],
        ),
    ] {
        client.batch_execute(&format!("DROP SCHEMA public CASCADE; CREATE SCHEMA public; {made}")).await.unwrap();
        let report: Vec<_> = check(&client, &schema).await.unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(report, expected, "{made}");
    }
}

#[tokio::test]
async fn fits_the_primary_keys_of_hotwax() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    // As an operator's tables stand before the first migration, but for the views, which use the columns.
    let hotwax = "
        ALTER TABLE order_role DROP CONSTRAINT pk_order_role, ADD PRIMARY KEY (order_id, party_id, role_type_id, from_date);
        ALTER TABLE good_identification DROP CONSTRAINT pk_good_identification,
            ADD PRIMARY KEY (good_identification_type_id, product_id, from_date);
        ALTER TABLE shipment_status ALTER shipment_status_id DROP DEFAULT, DROP CONSTRAINT pk_shipment_status,
            ADD PRIMARY KEY (shipment_status_id);
        DELETE FROM orderql.schema_state; DELETE FROM orderql.schema_object";
    client.batch_execute(hotwax).await.unwrap();
    migrate(&mut client).await.unwrap();
    assert_eq!(check(&client, &built_in()).await.unwrap(), []);
}

#[tokio::test]
async fn names_columns_whose_type_does_not_fit() {
    let mut changes = Changes::begin().await;
    let advice = ": correct the field's type or column in the schema file";
    for (change, expected) in [
        (
            "ALTER TABLE order_payment_preference ALTER max_amount TYPE boolean USING false",
            vec![
                "order_payment_preference.max_amount is of type boolean, which OrderPaymentPreference.maxAmount cannot answer as Decimal",
                "order_payment_preference.max_amount is of type boolean, which paymentPreferences(query: \"maxAmount:…\") cannot \
                 compare with Decimal values: correct the field's type or column in the schema file",
            ],
        ),
        (
            "DROP VIEW orderql.order_change;
             ALTER TABLE order_adjustment ALTER comments TYPE json USING NULL",
            vec!["order_adjustment.comments is of type json, which OrderAdjustment.comments cannot answer as String"],
        ),
        (
            "DROP VIEW orderql.refunded_order;
             ALTER TABLE order_payment_preference DROP CONSTRAINT order_pmprf_ohdr;
             ALTER TABLE order_payment_preference ALTER order_id TYPE bigint USING 0",
            vec![
                "there is no table or view orderql.refunded_order, which orders(query: \"refunded:…\") reads: run `orderql migrate`, or \
                 correct the schema file",
                "Order.paymentPreferences joins order_header.order_id of type character varying(20) with \
                 order_payment_preference.order_id of type bigint, which do not compare: correct the columns in the schema file",
                "OrderStatus joins order_status.order_id of type character varying(20) with \
                 order_payment_preference.order_id of type bigint, which do not compare: correct the columns in the schema file",
                "OrderPaymentPreference joins order_payment_preference.order_id of type bigint with \
                 order_header.order_id of type character varying(20), which do not compare: correct the columns in the schema file",
                "OrderPaymentPreference.order joins order_payment_preference.order_id of type bigint with \
                 order_header.order_id of type character varying(20), which do not compare: correct the columns in the schema file",
                "orders(query: \"paymentStatusId:…\") joins order_header.order_id of type character varying(20) with \
                 order_payment_preference.order_id of type bigint, which do not compare: correct the columns in the schema file",
                "orders(query: \"paymentStatusId:…\") joins order_payment_preference.order_id of type bigint with \
                 order_header.order_id of type character varying(20), which do not compare: correct the columns in the schema file",
            ],
        ),
    ] {
        let mut report = changes.added_by(change).await;
        // The same for the other relations that orders are read from.
        report.retain(|text| !text.contains(" joins orderql."));
        let advised = |text: &str| if text.contains(": ") { text.to_owned() } else { format!("{text}{advice}") };
        let expected: Vec<_> = expected.into_iter().map(advised).collect();
        assert_eq!(report, expected, "{change}");
    }

    // Floating-point columns can be selected, but pagination over them would not be exact.
    let schema = Catalog::parse(
        r#"
        type Query { things: [Thing] @sort(key: "WEIGHT") }
        type Thing @relation(name: "thing", key: ["thing_id"]) { thingId: ID! weight: Decimal }
        "#,
    );
    let made = "CREATE TABLE thing (thing_id text PRIMARY KEY, weight float8);
                CREATE INDEX ON thing (weight, thing_id)";
    let expected = "thing.weight is of type double precision, which things(sortKey: WEIGHT) cannot compare with Decimal \
                    values";
    assert_eq!(report_after(made, &schema.unwrap()).await, [format!("{expected}{advice}")]);
}

#[tokio::test]
async fn an_index_has_the_columns_that_a_search_key_includes() {
    let schema = Catalog::parse(
        r#"
        type Query {
          things: [Thing] @sort(key: "THING_ID") @sort(key: "WEIGHT") @sort(key: "COLOUR")
            @search(key: "colour", include: ["weight"])
            @search(key: "name", inOrderOf: ["WEIGHT"], include: ["colour"])
        }
        type Thing @relation(name: "thing", key: ["thing_id"]) { thingId: ID! colour: String name: String weight: Int }
        "#,
    );
    let schema = schema.unwrap();
    let with = |indexes: &str| {
        format!(
            "CREATE TABLE thing (thing_id text PRIMARY KEY, colour text, name text, weight int);
             CREATE INDEX ON thing (weight, thing_id);
             CREATE INDEX ON thing (colour, thing_id);
             CREATE INDEX ON thing (name, weight, thing_id);
             {indexes}"
        )
    };
    let missing = |key: &str, first: &str, include: &str| {
        format!(
            "no index has all columns that things(query: \"{key}:…\") includes: leave `include` out of the schema file, or CREATE \
             INDEX CONCURRENTLY ON \"thing\" ({first}) INCLUDE ({include});"
        )
    };
    let colour = missing("colour", "\"colour\"", "\"weight\", \"thing_id\"");
    let name = missing("name", "\"name\", \"weight\"", "\"colour\", \"thing_id\"");
    let neither = [colour.clone(), name.clone()];
    assert_eq!(report_after(&with(""), &schema).await, neither);
    // Only some rows, another order, no primary key.
    let useless = "CREATE INDEX ON thing (colour, weight, thing_id) WHERE weight > 0;
                   CREATE INDEX ON thing (thing_id, colour) INCLUDE (weight);
                   CREATE INDEX ON thing (name, weight) INCLUDE (colour);";
    assert_eq!(report_after(&with(useless), &schema).await, neither);
    let of_colour = "CREATE INDEX ON thing (colour) INCLUDE (thing_id, weight);";
    assert_eq!(report_after(&with(of_colour), &schema).await, [name]);
    let of_name = "CREATE INDEX ON thing (name, weight, colour, thing_id);";
    assert_eq!(report_after(&with(&format!("{of_colour}{of_name}")), &schema).await, Vec::<String>::new());
}

#[tokio::test]
async fn checks_the_relations_of_lookups_and_search_keys() {
    let schema = Catalog::parse(
        r#"
        type Query {
          thing(name: String!): Thing @point(through: "orderql.thing_by_name")
          things: [Thing] @sort(key: "THING_ID") @search(key: "tagId", within: "tag", by: ["thing_id"])
        }
        type Thing @relation(name: "thing", key: ["thing_id"]) { thingId: ID! colour: String }
        "#,
    );
    let made = "CREATE TABLE thing (thing_id text PRIMARY KEY, colour text);
                CREATE TABLE tag (thing_id text, tag_id text, PRIMARY KEY (thing_id, tag_id));
                CREATE VIEW orderql.thing_by_name AS SELECT thing_id, colour AS name FROM thing";
    let expected = [
        "orderql.thing_by_name has no column colour, which Thing.colour reads: correct the schema file",
        "no index serves things(query: \"tagId:…\"): CREATE INDEX CONCURRENTLY ON \"tag\" (\"tag_id\");",
        "no index serves thing: the view orderql.thing_by_name needs one on the table of its columns (name), in this order, and one for each table that it joins",
    ];
    let mut report = report_after(made, &schema.unwrap()).await;
    report.sort_by_key(|text| !text.contains("column colour"));
    assert_eq!(report.len(), expected.len(), "{report:#?}");
    assert!(expected.iter().all(|text| report.iter().any(|report| report == text)), "{report:#?}");
}

#[tokio::test]
async fn checks_the_indexes_of_a_views_tables() {
    let schema = |column, directive: &str| {
        let parties = format!("type Query {{ parties: [Party] @sort(key: \"PARTY_ID\") {directive} }}");
        let party = "type Party @relation(name: \"orderql.named\", key: [\"party_id\"])";
        Catalog::parse(&format!("{parties} {party} {{ partyId: ID! {column}: String }}")).unwrap()
    };
    let named = "CREATE VIEW orderql.named AS
        SELECT party.party_id, person.last_name FROM party LEFT JOIN person ON person.party_id = party.party_id;
        CREATE INDEX ON person (last_name, party_id)";
    // A left join returns rows in the order of its left table only. A search in the right table still uses its index.
    assert_eq!(report_after(named, &schema("lastName", "@search(key: \"lastName\")")).await, [""; 0]);
    let sorted = report_after(named, &schema("lastName", "@sort(key: \"LAST_NAME\")")).await;
    assert_eq!(
        sorted,
        ["no index serves parties(sortKey: LAST_NAME): the view orderql.named needs one on the table of its columns \
          (last_name, party_id), in this order, and one for each table that it joins"]
    );
    // Without the index of a joined table, PostgreSQL would read that table for every row.
    let unjoined = report_after("ALTER TABLE note_data DROP CONSTRAINT pk_note_data CASCADE", &built_in()).await;
    assert_eq!(
        unjoined,
        [
            "no index serves Order.notes: run `orderql migrate`, or the view orderql.order_note needs one on the table of its columns (order_id, \
          note_id), in this order, and one for each table that it joins"
        ]
    );
}

#[tokio::test]
async fn names_columns_that_cannot_be_compared() {
    let schema = schema(
        "type Other @relation(name: \"other\", key: [\"id\"]) { id: Int }",
        "other: Other @one(by: [\"thing_id\"], to: [\"id\"])",
    );
    let report = report_after(
        "CREATE TABLE thing (thing_id text PRIMARY KEY); CREATE TABLE other (id int PRIMARY KEY)",
        &schema,
    )
    .await;
    let expected = "Thing.other joins thing.thing_id of type text with other.id of type integer, which do not compare: \
                    correct the columns in the schema file";
    assert_eq!(report, [expected]);
}

#[tokio::test]
async fn names_missing_privileges_with_the_statements_that_grant_them() {
    let database = migrated_database().await;
    let admin = database.connect().await;
    let role = format!("reader_{}", database.name());
    admin.batch_execute(&format!(
        "CREATE ROLE {role}; GRANT SELECT ON ALL TABLES IN SCHEMA public, orderql TO {role}; REVOKE SELECT ON product FROM {role}; SET ROLE {role}"
    )).await.unwrap();
    let report: Vec<_> = check(&admin, &built_in()).await.unwrap().iter().map(ToString::to_string).collect();
    admin.batch_execute(&format!("RESET ROLE; DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
    assert_eq!(
        report,
        [
            format!("the role {role} may not use the schema \"orderql\": GRANT USAGE ON SCHEMA \"orderql\" TO {role};"),
            format!("the role {role} may not read product: GRANT SELECT ON \"product\" TO {role};"),
        ]
    );
}

#[tokio::test]
async fn leaves_the_connection_unchanged() {
    let database = migrated_database().await;
    let client = database.connect().await;
    check(&client, &built_in()).await.unwrap();
    let row = client.query_one("SELECT current_setting('enable_sort')", &[]).await.unwrap();
    assert_eq!(row.get::<_, &str>(0), "on");
    // Fails inside a transaction.
    client.batch_execute("VACUUM order_header").await.unwrap();
}

fn built_in() -> Catalog {
    Catalog::built_in().unwrap()
}

/// A schema of one type over the table `thing`.
fn schema(types: &str, field: &str) -> Catalog {
    let thing = "type Query { thing(thingId: ID!): Thing @point }";
    let text = format!(
        "{thing}\ntype Thing @relation(name: \"thing\", key: [\"thing_id\"]) {{ thingId: ID! {field} }}\n{types}"
    );
    Catalog::parse(&text).unwrap()
}

async fn mismatches(database: &Database, schema: &Catalog) -> Vec<Mismatch> {
    check(&database.connect().await, schema).await.unwrap()
}

/// A migrated database that is changed step by step.
struct Changes {
    client: Client,
    schema: Catalog,
    last: Vec<String>,
    _database: Database,
}

impl Changes {
    async fn begin() -> Self {
        let database = migrated_database().await;
        Self { client: database.connect().await, schema: built_in(), last: Vec::new(), _database: database }
    }

    /// The mismatches after a change.
    async fn after(&mut self, change: &str) -> Vec<String> {
        self.client.batch_execute(change).await.unwrap();
        self.last = check(&self.client, &self.schema).await.unwrap().iter().map(ToString::to_string).collect();
        self.last.clone()
    }

    /// The mismatches that a change adds.
    async fn added_by(&mut self, change: &str) -> Vec<String> {
        let before = self.last.clone();
        self.after(change).await.into_iter().filter(|mismatch| !before.contains(mismatch)).collect()
    }
}

/// The mismatches of a migrated database after a change.
async fn report_after(change: &str, schema: &Catalog) -> Vec<String> {
    let database = migrated_database().await;
    database.connect().await.batch_execute(change).await.unwrap();
    mismatches(&database, schema).await.iter().map(ToString::to_string).collect()
}
