//! Introspection is answered however large the schema is that it describes.

use std::fmt::Write as _;

use orderql::access::profile::Profile;

use crate::own_schemas::OwnSchema;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

const TABLES: usize = 60;

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_larger_than_a_response_may_be_describes_itself() {
    let (mut sql, mut columns) = (String::new(), String::new());
    (0..30).for_each(|column| write!(columns, ", column_{column} text").unwrap());
    (0..TABLES).for_each(|table| write!(sql, "CREATE TABLE thing_{table} (id integer PRIMARY KEY{columns});").unwrap());
    sql.push_str("INSERT INTO thing_0 (id, column_0) SELECT n, repeat('x', 1000) FROM generate_series(1, 100) AS n");
    let own = OwnSchema::create("introspection", &sql, "").await;
    own.write(&own.run(&["schema", "draft"]).stdout);
    let profile = Profile { response_size: Some(64 * 1024), ..UNLIMITED_PROFILE };
    create_users(&mut own.database.connect().await, &[("ann", profile)]).await;
    let served = own.serve(&[]);
    let token = served.server.token("ann");
    let all = "{ __schema { types { name description fields { name description type { name ofType { name ofType { name } } } args { name } } } } }";
    let response = served.server.query(&token, all).json();
    let types = response["data"]["__schema"]["types"].as_array().unwrap_or_else(|| panic!("{response}"));
    assert!(types.len() > TABLES * 3 && response.to_string().len() > 4 * 64 * 1024, "{}", types.len());
    let cursors: Vec<_> = (0..50).map(|alias| format!("c{alias}: cursor")).collect();
    let rows = format!("{{ thing0s(first: 100) {{ edges {{ {} }} }} }}", cursors.join(" "));
    let rejected = served.server.query(&token, &rows);
    assert_eq!(rejected.code(), "RESPONSE_TOO_LARGE", "{:.500}", rejected.body);
}
