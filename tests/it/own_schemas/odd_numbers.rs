//! Numbers that the database cannot compute with.

use orderql::cursor::OrderingTag;
use orderql::sync_token::{Position, SyncToken, Walk};
use orderql::value::Timestamp;

use crate::own_schemas::OwnSchema;

const TABLES: &str = "
    CREATE TABLE sale (sale_id integer PRIMARY KEY, price numeric, quantity numeric);
    CREATE TABLE sale_note (sale_id integer, note_id integer, PRIMARY KEY (sale_id, note_id));
    CREATE INDEX ON sale_note (sale_id);
    INSERT INTO sale VALUES (1, 2, 3), (2, '1e131071', 10)";

const SCHEMA: &str = r#"
"Sales."
type Query {
  "The sales."
  sales: [Sale] @search(key: "saleId", compare: [EQUALS, RANGE]) @sort(key: "SALE_ID")
  "Totals of sales."
  saleTotals: [Sale] @totals(of: "sales") @group(key: "saleId") @sum(key: "revenue", field: "price", times: "quantity")
  "The sales that changed."
  saleChanges: [SaleChange] @changes(of: "Sale")
}
"A sale."
type Sale @relation(name: "sale", key: ["sale_id"]) {
  saleId: ID!
  price: Decimal
  quantity: Decimal
}
"A note on a sale."
type SaleNote @relation(name: "sale_note", key: ["sale_id", "note_id"]) @part(of: "Sale", by: "sale_id") {
  noteId: ID!
}
"A sale that changed."
type SaleChange @relation(name: "orderql.sale_change_direct", key: ["xid", "sale_id"]) {
  saleId: ID!
  sale: Sale @one(by: ["sale_id"])
}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn what_the_database_cannot_compute_has_a_code_of_its_own() {
    let own = OwnSchema::create("odd-numbers", TABLES, SCHEMA).await;
    assert!(own.run(&["migrate", "--only", "service", "--schema", &own.file()]).succeeded);
    let served = own.serve(&[]);
    let totals = |query: &str| format!("{{ saleTotals(first: 1, query: \"{query}\") {{ groups {{ revenue }} }} }}");
    let good = served.query(&totals("saleId:1"));
    assert_eq!(good["data"]["saleTotals"]["groups"][0]["revenue"], "6", "{good}");
    let (code, message) = served.error(&totals("saleId:2"));
    assert_eq!(code, "VALUE_OUT_OF_RANGE", "{message}");

    // A token whose last mark is of no sale.
    let tag = OrderingTag::new("saleChanges", "CHANGE");
    let now = served.query("{ saleChanges(first: 1) { pageInfo { endCursor } } }");
    let token = SyncToken::decode(now["data"]["saleChanges"]["pageInfo"]["endCursor"].as_str().unwrap(), tag).unwrap();
    for (id, is_possible) in [("7", true), ("abc", false), ("", false), ("1.5", false), ("99999999999999999999", false)]
    {
        let position = Position { xid: 7, via: String::new(), id: id.to_owned(), key: None };
        let walk = Some(Walk { to: token.from.clone(), at: Timestamp(0), position });
        let text = SyncToken { walk, ..token.clone() }.text(tag);
        let query = format!("{{ saleChanges(first: 1, after: \"{text}\") {{ edges {{ node {{ saleId }} }} }} }}");
        if is_possible {
            assert!(served.query(&query).get("errors").is_none(), "{id}");
        } else {
            assert_eq!(served.error(&query).0, "BAD_USER_INPUT", "{id}");
        }
    }
}
