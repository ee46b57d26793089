//! Keys of bytes: paged through, looked up, joined and searched for in base64.

use serde_json::json;

use crate::own_schemas::{OwnSchema, rows};

const TABLES: &str = "
    CREATE TABLE host (id bytea PRIMARY KEY, name text);
    CREATE TABLE service (id bytea PRIMARY KEY, host_id bytea REFERENCES host, name text);
    CREATE INDEX ON service (host_id, id);
    INSERT INTO host SELECT sha256(n::text::bytea), 'host ' || n FROM generate_series(1, 40) AS n;
    INSERT INTO host VALUES ('', 'none'), ('\\x00', 'zero'), ('\\x0000', 'zeros'), ('\\xff', 'last');
    INSERT INTO service SELECT sha256(('s' || n)::bytea), sha256((n % 7 + 1)::text::bytea), 'service ' || n FROM generate_series(1, 30) AS n";

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_found_by_keys_of_bytes() {
    let own = OwnSchema::create("byte-keys", TABLES, "").await;
    let draft = own.run(&["schema", "draft"]).stdout;
    for part in [
        "  host(id: Bytes!): Host @point\n",
        "    @search(key: \"hostId\", inOrderOf: [\"ID\"])\n",
        "  host: Host @one(by: [\"host_id\"], to: [\"id\"])\n",
        "  services: [Service] @many(by: [\"id\"], to: [\"host_id\"])\n",
    ] {
        assert!(draft.contains(part), "{part}\n{draft}");
    }
    own.write(&draft);
    assert_eq!(own.check(), "", "{draft}");
    let served = own.serve(&["--bucket-size", "1000000000"]);
    let expected = rows(&own.client, "SELECT name FROM host ORDER BY id").await;
    for (size, backward) in [(1, false), (7, true), (100, false)] {
        assert_eq!(served.pages("hosts", "", "name", size, backward).values, expected);
    }
    for (key, name) in [("", "none"), ("AA==", "zero"), ("AAA=", "zeros"), ("/w==", "last")] {
        let found = served.query(&format!("{{ host(id: \"{key}\") {{ name id }} }}"));
        assert_eq!(found["data"]["host"], json!({ "name": name, "id": key }), "{found}");
        let searched = served
            .query(&format!("{{ hosts(first: 2, query: \"id:\\\"{key}\\\"\") {{ edges {{ node {{ name }} }} }} }}"));
        assert_eq!(searched["data"]["hosts"]["edges"], json!([{ "node": { "name": name } }]), "{searched}");
    }
    let nested = "{ hosts(first: 100) { edges { node { name services(first: 9) { edges { node { name host { name } } } } } } } }";
    let response = served.query(nested);
    let mut joined = Vec::new();
    for host in response["data"]["hosts"]["edges"].as_array().unwrap_or_else(|| panic!("{response}")) {
        for service in host["node"]["services"]["edges"].as_array().unwrap() {
            assert_eq!(service["node"]["host"]["name"], host["node"]["name"]);
            joined.push(json!([host["node"]["name"], service["node"]["name"]]));
        }
    }
    let sql = "SELECT json_build_array(host.name, service.name) FROM host JOIN service ON host_id = host.id ORDER BY host.id, service.id";
    assert_eq!(joined, rows(&own.client, sql).await);
    for query in [
        "{ host(id: \"AA=\") { name } }",
        "{ host(id: 7) { name } }",
        "{ hosts(first: 2, query: \"id:A\") { edges { cursor } } }",
    ] {
        let (_, message) = served.error(query);
        assert!(message.contains("base64"), "{query}: {message}");
    }
}
