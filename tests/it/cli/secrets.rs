//! Passwords in the address of a database and in other secrets: no command prints them, whatever is wrong.

use std::fs;

use crate::support::command::{orderql, run};
use crate::support::test_folder::TestFolder;

/// What must not be printed.
const PASSWORD: &str = "hunter2";

#[test]
fn no_error_repeats_a_password() {
    let folder = TestFolder::create("secrets");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let unterminated =
        file("unterminated.toml", "listen = \"127.0.0.1:0\"\ndatabase-url = \"postgresql://me:hunter2@db/orders\n");
    let malformed = file("malformed.toml", "database-url = \"postgresql://me:hunter2@db:port/orders\"\n");
    let bad = ["postgresql://me:hunter2@db:port/orders", "host=db password=hunter2 port=x", "host=db hunter2"];
    let mut commands: Vec<Vec<&str>> = Vec::new();
    for bad in bad {
        for command in
            [&["serve"][..], &["config"], &["migrate"], &["schema", "check"], &["load", "x.xml"], &["user", "list"]]
        {
            commands.push([command, &["--database-url", bad]].concat());
        }
    }
    for argument in
        ["postgresql://me:hunter2@db/orders", "--database_url=postgresql://me:hunter2@db/orders", "password=hunter2"]
    {
        commands.push(vec!["serve", argument]);
    }
    for file in [&unterminated, &malformed] {
        commands.extend([vec!["serve", "--config", file], vec!["config", "--config", file]]);
    }
    // An address that is well-formed, and has no server.
    let away = "host=/nowhere user=me password=hunter2 dbname=orders";
    commands.extend([
        vec!["serve", "--start-wait", "off", "--database-url", away],
        vec!["migrate", "--database-url", away],
    ]);
    for arguments in commands {
        let result = run(orderql().args(&arguments), "");
        assert!(!result.succeeded, "{arguments:?}");
        let output = result.stdout + &result.stderr;
        assert!(!output.is_empty() && !output.contains(PASSWORD), "{arguments:?}: {output}");
    }
    for bad in bad {
        let result = run(orderql().args(["config"]).env("ORDERQL_DATABASE_URL", bad), "");
        assert!(!result.succeeded && !result.stderr.contains(PASSWORD), "{}", result.stderr);
    }
    let result = run(orderql().args(["config", "--database-url", away, "--signing-key", PASSWORD]), "");
    assert!(result.succeeded && !result.stdout.contains(PASSWORD), "{}", result.stdout);
    let result = run(orderql().args(["serve", "--config", &unterminated]), "");
    assert!(result.stderr.contains("unterminated.toml:2 is not TOML: "), "{}", result.stderr);
}
