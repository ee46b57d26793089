//! The role of a party: of several the one that was searched for, and one row for each party all the same.

use serde_json::{Value, json};

use crate::support::database::migrated_database;
use crate::support::query_runner::QueryRunner;

const ROWS: &str = "
    SET session_replication_role = replica;
    INSERT INTO party_role (party_id, role_type_id) VALUES
        ('ADA', 'CUSTOMER'), ('ADA', 'BILL_TO_CUSTOMER'), ('ADA', 'SUPPLIER'), ('BO', 'SUPPLIER'), ('BO', 'CARRIER');
    RESET session_replication_role;
    INSERT INTO party (party_id) VALUES ('ADA'), ('BO'), ('CREW');
    SET session_replication_role = replica;
    INSERT INTO order_header (order_id) VALUES ('O');
    INSERT INTO order_role (order_id, party_id, role_type_id) VALUES ('O', 'ADA', 'BILL_TO_CUSTOMER');";

#[tokio::test]
async fn a_party_has_the_role_that_was_searched_for() {
    let database = migrated_database().await;
    database.connect().await.batch_execute(ROWS).await.unwrap();
    let runner = QueryRunner::new(&database);
    let parties = async |arguments: &str| -> Vec<(String, Value)> {
        let query = format!("{{ parties(first: 10, {arguments}) {{ edges {{ node {{ partyId roleTypeId }} }} }} }}");
        let data = runner.data(&query).await;
        let edges = data["parties"]["edges"].as_array().unwrap();
        let party = |node: &Value| (node["partyId"].as_str().unwrap().to_owned(), node["roleTypeId"].clone());
        edges.iter().map(|edge| party(&edge["node"])).collect()
    };
    let expected = |rows: &[(&str, Option<&str>)]| -> Vec<_> {
        rows.iter().map(|(party, role)| ((*party).to_owned(), json!(role))).collect()
    };
    let all = [("ADA", Some("BILL_TO_CUSTOMER")), ("BO", Some("CARRIER")), ("CREW", None)];
    assert_eq!(parties("query: \"partyId:ADA,BO,CREW\"").await, expected(&all));
    for (search, rows) in [
        ("roleTypeId:SUPPLIER", &[("ADA", Some("SUPPLIER")), ("BO", Some("SUPPLIER"))][..]),
        ("roleTypeId:CUSTOMER", &[("ADA", Some("CUSTOMER"))]),
        ("roleTypeId:SUPPLIER,CUSTOMER", &[("ADA", Some("CUSTOMER")), ("BO", Some("SUPPLIER"))]),
        ("roleTypeId:SUPPLIER roleTypeId:CARRIER", &[("BO", Some("SUPPLIER"))]),
        ("roleTypeId:SUPPLIER partyId:BO", &[("BO", Some("SUPPLIER"))]),
        ("roleTypeId:NONE", &[]),
    ] {
        for order in ["sortKey: PARTY_ID", "sortKey: LAST_NAME"] {
            let found = parties(&format!("{order}, query: \"{search}\"")).await;
            assert_eq!(found, expected(rows), "{search} {order}");
        }
    }
    // A party that is joined was not searched for.
    let joined = "{ parties(first: 1, query: \"roleTypeId:SUPPLIER\") { edges { node { roleTypeId orders(first: 1) {
        edges { node { billToCustomer { party { roleTypeId } } } } } } } } party(partyId: \"BO\") { roleTypeId } }";
    let joined = runner.data(joined).await;
    let node = &joined["parties"]["edges"][0]["node"];
    let billed = &node["orders"]["edges"][0]["node"]["billToCustomer"]["party"]["roleTypeId"];
    assert_eq!((&node["roleTypeId"], billed), (&json!("SUPPLIER"), &json!("BILL_TO_CUSTOMER")));
    assert_eq!(joined["party"]["roleTypeId"], "CARRIER");
}
