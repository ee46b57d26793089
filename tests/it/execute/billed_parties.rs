//! The parties that an order is billed to: the roles that are valid now, of persons and organisations, each once.

use serde_json::json;

use crate::support::database::migrated_database;
use crate::support::query_runner::QueryRunner;

/// A key of roles as `HotWax` has it, by which a party may have a role several times.
const ROWS: &str = "
    SET session_replication_role = replica;
    ALTER TABLE order_role DROP CONSTRAINT pk_order_role,
        ADD PRIMARY KEY (order_id, party_id, role_type_id, from_date);
    INSERT INTO party (party_id) VALUES ('ADA'), ('BO'), ('CREW');
    INSERT INTO person (party_id, first_name, last_name) VALUES ('ADA', 'Ada', 'Byron'), ('BO', 'Bo', NULL);
    INSERT INTO party_group (party_id, group_name) VALUES ('CREW', 'Crew Ltd');
    INSERT INTO order_header (order_id) VALUES ('EXPIRED'), ('FUTURE'), ('GROUP'), ('NOBODY'), ('SEVERAL'), ('TWICE');
    INSERT INTO order_role (order_id, party_id, role_type_id, from_date, thru_date) VALUES
        ('EXPIRED', 'ADA', 'BILL_TO_CUSTOMER', '2020-01-01', '2021-01-01'),
        ('EXPIRED', 'BO', 'BILL_TO_CUSTOMER', '2021-01-01', NULL),
        ('FUTURE', 'ADA', 'BILL_TO_CUSTOMER', '2999-01-01', NULL),
        ('GROUP', 'CREW', 'BILL_TO_CUSTOMER', '2020-01-01', '2999-01-01'),
        ('NOBODY', 'ADA', 'SHIP_TO_CUSTOMER', '2020-01-01', NULL),
        ('SEVERAL', 'BO', 'BILL_TO_CUSTOMER', '2020-01-01', NULL),
        ('SEVERAL', 'ADA', 'BILL_TO_CUSTOMER', '2021-01-01', NULL),
        ('TWICE', 'ADA', 'BILL_TO_CUSTOMER', '2020-01-01', '2021-01-01'),
        ('TWICE', 'ADA', 'BILL_TO_CUSTOMER', '2021-01-01', NULL),
        ('TWICE', 'ADA', 'BILL_TO_CUSTOMER', '2022-01-01', NULL);";

#[tokio::test]
async fn an_order_is_billed_to_whom_it_is_billed_now() {
    let database = migrated_database().await;
    database.connect().await.batch_execute(ROWS).await.unwrap();
    let runner = QueryRunner::new(&database);
    let orders = "{ orders(first: 10, sortKey: ORDER_ID) { edges { node { orderId billToCustomer { partyId firstName groupName } } } } }";
    let node = |order: &str, billed: Option<(&str, Option<&str>, Option<&str>)>| {
        let billed =
            billed.map(|(party, first, group)| json!({"partyId": party, "firstName": first, "groupName": group}));
        json!({"node": {"orderId": order, "billToCustomer": billed}})
    };
    assert_eq!(
        runner.data(orders).await["orders"]["edges"],
        json!([
            node("EXPIRED", Some(("BO", Some("Bo"), None))),
            node("FUTURE", None),
            node("GROUP", Some(("CREW", None, Some("Crew Ltd")))),
            node("NOBODY", None),
            node("SEVERAL", Some(("ADA", Some("Ada"), None))),
            node("TWICE", Some(("ADA", Some("Ada"), None))),
        ])
    );
    // Pages of one order: each once, whatever the number of roles.
    for (party, expected) in [("ADA", &["SEVERAL", "TWICE"][..]), ("BO", &["EXPIRED", "SEVERAL"]), ("CREW", &["GROUP"])]
    {
        let (mut after, mut found) = (String::new(), Vec::new());
        loop {
            let query = format!(
                "{{ party(partyId: \"{party}\") {{ orders(first: 1 {after}) {{
                    edges {{ cursor node {{ orderId }} }} pageInfo {{ hasNextPage }} }} }} }}"
            );
            let page = runner.data(&query).await["party"]["orders"].take();
            found.push(page["edges"][0]["node"]["orderId"].as_str().unwrap().to_owned());
            after = format!("after: {}", page["edges"][0]["cursor"]);
            if page["pageInfo"]["hasNextPage"] == false {
                break;
            }
        }
        assert_eq!(found, expected, "{party}");
    }
}
