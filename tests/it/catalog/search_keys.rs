//! Every search key with every comparator: the rows that PostgreSQL finds, or an error.

use orderql::compile::compile;
use orderql::error::code::ErrorCode;
use orderql::query::{Request, Variables};
use orderql::search::Comparator;
use tokio_postgres::Client;

use crate::catalog::collection_roots::{Key, Root, roots};
use crate::catalog::sample;
use crate::support::query_runner::{QueryRunner, UNLIMITED};

/// A value that no row has.
const NOWHERE: &str = "NOWHERE0";

#[tokio::test]
async fn every_search_key_finds_its_rows_with_each_of_its_comparators() {
    let database = sample().await;
    let client = database.connect().await;
    let runner = QueryRunner::new(&database);
    for root in &roots() {
        for key in &root.search_keys {
            let values = values(&client, key).await;
            let mut found = 0;
            for comparator in &key.comparators {
                for (term, comparison) in terms(key, *comparator, &values) {
                    let query = format!("{}(first: 10000, query: {term:?})", root.name);
                    let rows = rows(&runner, root, &query).await;
                    let condition = key.condition.replace('?', &comparison);
                    let sql = format!("SELECT {} FROM {} WHERE {condition}", root.id_sql(), root.from);
                    let mut expected: Vec<String> =
                        client.query(&sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
                    expected.sort();
                    assert_eq!(rows, expected, "{query}\n{sql}");
                    found += rows.len();
                }
            }
            assert!(found > 0, "{}: no row has a {}", root.name, key.name);
        }
    }
}

#[tokio::test]
async fn a_row_matches_the_terms_of_all_keys() {
    let database = sample().await;
    let client = database.connect().await;
    let runner = QueryRunner::new(&database);
    for root in &roots() {
        let (mut terms, mut conditions) = (Vec::new(), Vec::new());
        // The terms of one row.
        let sql = format!("SELECT {} AS id FROM {} ORDER BY 1 LIMIT 1", root.id_sql(), root.from);
        let id: String = client.query_one(&sql, &[]).await.unwrap().get(0);
        for key in &root.search_keys {
            let comparator = key.comparators[0];
            for (term, comparison) in self::terms(key, comparator, &values(&client, key).await) {
                let condition = key.condition.replace('?', &comparison);
                let sql = format!("SELECT FROM {} WHERE {} = $1 AND {condition}", root.from, root.id_sql());
                if client.query_opt(&sql, &[&id]).await.unwrap().is_some() {
                    terms.push(term);
                    conditions.push(condition);
                    break;
                }
            }
        }
        let query = format!("{}(first: 10000, query: {:?})", root.name, terms.join(" "));
        let sql = format!(
            "SELECT {} FROM {} WHERE TRUE AND {}",
            root.id_sql(),
            root.from,
            [conditions, vec!["TRUE".to_owned()]].concat().join(" AND ")
        );
        let mut expected: Vec<String> = client.query(&sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
        expected.sort();
        assert!(expected.contains(&id), "{query}");
        assert_eq!(rows(&runner, root, &query).await, expected, "{query}");
    }
}

#[tokio::test]
async fn rejects_other_comparators_and_adds_fifty_to_the_cost_of_unindexed_keys() {
    let catalog = orderql::catalog::Catalog::built_in().unwrap();
    let compiled = |root: &Root, term: &str| {
        let fields = root.id;
        let query = format!("{{ {}(first: 3, query: {term:?}) {{ edges {{ node {{ {fields} }} }} }} }}", root.name);
        let request = Request { query, operation_name: None, variables: Variables::new() };
        match compile(&catalog, &request, &UNLIMITED) {
            Ok(compiled) => Ok(compiled.estimate.cost()),
            Err(errors) => Err(errors.iter().map(|error| error.code).collect::<Vec<_>>()),
        }
    };
    for root in &roots() {
        let plain = compiled(root, "").unwrap();
        for key in &root.search_keys {
            let value = key.value;
            for comparator in Comparator::ALL {
                let value = if comparator == Comparator::In { format!("{value},{value}") } else { value.to_owned() };
                let term = format!("{}:{}{value}", key.name, sign(comparator));
                let expected = match (key.comparators.contains(&comparator), key.is_indexed) {
                    (false, _) => Err(vec![ErrorCode::OperatorNotAllowed]),
                    (true, true) => Ok(plain),
                    (true, false) => Ok(plain + 50),
                };
                assert_eq!(compiled(root, &term), expected, "{} {term}", root.name);
            }
            let empty = format!("{}:{}", key.name, sign(key.comparators[0]));
            assert_eq!(compiled(root, &empty), Err(vec![ErrorCode::MalformedQuery]), "{} {empty}", root.name);
            if key.comparators.contains(&Comparator::Less) {
                let term = format!("{}:>yesterday", key.name);
                assert_eq!(compiled(root, &term), Err(vec![ErrorCode::MalformedQuery]), "{} {term}", root.name);
            }
        }
        for term in ["noSuchKey:1", "comments:1"] {
            assert_eq!(compiled(root, term), Err(vec![ErrorCode::FieldNotFilterable]), "{} {term}", root.name);
        }
    }
}

/// Terms with that comparator, and for each the comparison in SQL.
fn terms(key: &Key, comparator: Comparator, values: &[String]) -> Vec<(String, String)> {
    if comparator == Comparator::In {
        let list = [values, &[NOWHERE.to_owned()]].concat();
        let quoted: Vec<_> = list.iter().map(|value| format!("'{value}'")).collect();
        return vec![(format!("{}:{}", key.name, list.join(",")), format!("IN ({})", quoted.join(", ")))];
    }
    let nowhere = [NOWHERE.to_owned()];
    let is_text = key.value == "1";
    let absent = if comparator == Comparator::Equals && is_text { &nowhere[..] } else { &[] };
    let operator = if comparator == Comparator::Equals { "=" } else { sign(comparator) };
    let values = values.iter().chain(absent);
    values.map(|value| (format!("{}:{}{value}", key.name, sign(comparator)), format!("{operator} '{value}'"))).collect()
}

fn sign(comparator: Comparator) -> &'static str {
    match comparator {
        Comparator::Equals | Comparator::In | Comparator::Matches => "",
        Comparator::Greater => ">",
        Comparator::GreaterOrEqual => ">=",
        Comparator::Less => "<",
        Comparator::LessOrEqual => "<=",
    }
}

/// The lowest, the highest and another value of a key, of those that are allowed in a term.
async fn values(client: &Client, key: &Key) -> Vec<String> {
    let sql = format!(
        "SELECT DISTINCT value FROM ({}) AS key (value) WHERE value ~ '^[[:alnum:]][^ ,]*$' ORDER BY value",
        key.values
    );
    let all: Vec<String> = client.query(&sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert!(!all.is_empty(), "{sql}");
    let mut some = vec![all[0].clone(), all[all.len() / 2].clone(), all[all.len() - 1].clone()];
    some.dedup();
    some
}

/// The ids of the rows of a query, sorted.
async fn rows(runner: &QueryRunner, root: &Root, query: &str) -> Vec<String> {
    let data = runner.data(&format!("{{ root: {query} {{ edges {{ node {{ {} }} }} }} }}", root.id)).await;
    let mut rows: Vec<_> = data["root"]["edges"].as_array().unwrap().iter().map(|edge| root.id_of(edge)).collect();
    rows.sort();
    rows
}

#[tokio::test]
async fn contacts_are_found_however_they_are_written() {
    let database = sample().await;
    let client = database.connect().await;
    let contacts = "
        INSERT INTO contact_mech (contact_mech_id, contact_mech_type_id, info_string)
        VALUES ('CALLER_EMAIL', 'EMAIL_ADDRESS', 'Caller.One@Example.ORG'), ('CALLER_PHONE', 'TELECOM_NUMBER', NULL);
        INSERT INTO telecom_number (contact_mech_id, country_code, area_code, contact_number)
        VALUES ('CALLER_PHONE', '49', '(0)30', '901 820-77');
        INSERT INTO order_contact_mech (order_id, contact_mech_purpose_type_id, contact_mech_id)
        SELECT 'ORDER_SPLIT', 'ORDER_EMAIL', contact_mech_id FROM contact_mech WHERE contact_mech_id LIKE 'CALLER%';
        INSERT INTO party_contact_mech (party_id, contact_mech_id, from_date)
        SELECT 'CUST_ADA', contact_mech_id, '2026-01-01' FROM contact_mech WHERE contact_mech_id LIKE 'CALLER%';";
    client.batch_execute(contacts).await.unwrap();
    let runner = QueryRunner::new(&database);
    let search = async |term: &str| {
        let found =
            |root: &str, id: &str| format!("{root}(first: 2, query: {term:?}) {{ edges {{ node {{ {id} }} }} }}");
        runner.data(&format!("{{ {} {} }}", found("orders", "orderId"), found("parties", "partyId"))).await
    };
    let written = [
        "emailAddress:caller.one@example.org",
        "emailAddress:CALLER.ONE@EXAMPLE.ORG",
        "phone:+493090182077",
        "phone:030/90182077",
    ];
    for term in written {
        let found = search(term).await;
        assert_eq!(found["orders"]["edges"][0]["node"]["orderId"], "ORDER_SPLIT", "{term}");
        assert_eq!(found["parties"]["edges"][0]["node"]["partyId"], "CUST_ADA", "{term}");
    }
    client
        .batch_execute("UPDATE party_contact_mech SET thru_date = '2026-01-02' WHERE contact_mech_id LIKE 'CALLER%'")
        .await
        .unwrap();
    for term in written {
        let found = search(term).await;
        assert!(found["orders"]["edges"][0].is_object(), "{term}");
        assert_eq!(found["parties"]["edges"].as_array().unwrap().len(), 0, "{term}: the contact is over");
    }
}
