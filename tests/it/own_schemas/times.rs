//! Columns of times that not every version of PostgreSQL has, or that no scalar has.

use serde_json::{Value, json};

use crate::own_schemas::OwnSchema;

const TABLES: &str = "
    CREATE TABLE lease (lease_id integer PRIMARY KEY, span interval, opens time with time zone);
    CREATE INDEX ON lease (span, lease_id);
    INSERT INTO lease VALUES (1, '2 months', '09:30+02'), (2, NULL, NULL), (3, '-1 day', '09:30Z')";

const INFINITE: &str = "INSERT INTO lease VALUES (4, 'infinity', NULL), (5, '-infinity', NULL)";

#[tokio::test(flavor = "multi_thread")]
async fn an_infinite_interval_is_null_with_an_error_and_keeps_its_place() {
    let own = OwnSchema::create("intervals", TABLES, "").await;
    let draft = own.run(&["schema", "draft"]).stdout;
    assert!(draft.contains("  opens: String\n"), "{draft}");
    own.write(&draft);
    assert_eq!(own.check(), "");
    // PostgreSQL has them from version 17 on.
    let version = "SELECT current_setting('server_version_num')::int";
    let has_infinite = own.client.query_one(version, &[]).await.unwrap().get::<_, i32>(0) >= 170_000;
    let mut ids = vec!["3", "1", "2"];
    if has_infinite {
        own.client.batch_execute(INFINITE).await.unwrap();
        ids = vec!["5", "3", "1", "4", "2"];
    }
    let served = own.serve(&[]);
    for size in [1, 2, 5] {
        assert_eq!(served.pages("leases", "sortKey: SPAN", "leaseId", size, false).values, ids);
        assert_eq!(served.pages("leases", "sortKey: SPAN", "leaseId", size, true).values, ids);
    }
    let found = served.pages("leases", "sortKey: SPAN, query: \"span:>P1M\"", "leaseId", 1, false);
    assert_eq!(found.values, if has_infinite { vec!["1", "4"] } else { vec!["1"] });
    let none = served.query("{ lease(leaseId: 4) { leaseId span } }");
    if has_infinite {
        assert_eq!(none["data"]["lease"], json!({ "leaseId": "4", "span": null }), "{none}");
        let error = &none["errors"][0];
        assert_eq!(
            (&error["path"], &error["extensions"]["code"]),
            (&json!(["lease", "span"]), &json!("UNREPRESENTABLE_VALUE"))
        );
        assert!(error["message"].as_str().unwrap().contains("infinity"), "{none}");
    } else {
        assert_eq!(none["data"]["lease"], Value::Null, "{none}");
    }
}
