//! The folder of the signing keys: who may write to it and read it, and where commands look for it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use jwt_simple::algorithms::{HS256Key, MACLike};
use jwt_simple::claims::Claims;
use jwt_simple::prelude as jwt;
use orderql::access::profile::Profile;

use crate::support::command::{CommandResult, orderql_on, run};
use crate::support::database::{Database, migrated_database};
use crate::support::server::Server;
use crate::support::test_folder::TestFolder;
use crate::support::users::create_users;

async fn database() -> Database {
    let database = migrated_database().await;
    create_users(&mut database.connect().await, &[("demo", Profile::DEFAULT)]).await;
    database
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Runs a command in the folder, with its keys in `keys`.
fn orderql(database: &Database, folder: &Path, arguments: &str) -> CommandResult {
    run(orderql_on(database).args(arguments.split(' ')).current_dir(folder).env("ORDERQL_KEY_FOLDER", "keys"), "")
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_keys_that_others_can_write_or_read() {
    let database = database().await;
    let folder = TestFolder::create("exposed-keys");
    let keys = folder.path().join("keys");
    assert!(orderql(&database, folder.path(), "keys rotate").succeeded);
    assert!(orderql(&database, folder.path(), "token demo").succeeded);
    let key = fs::read_dir(&keys).unwrap().next().unwrap().unwrap().path();

    let is_root = fs::metadata(&keys).unwrap().uid() == 0;
    let give_to = |path: &Path, owner: u32| chown(path, Some(owner), None).unwrap();
    let path = |path: &Path| path.canonicalize().unwrap().display().to_string();
    let refused = |cause: &str| {
        for command in ["token demo", "keys list", "keys rotate", "serve --listen 127.0.0.1:0"] {
            let result = orderql(&database, folder.path(), command);
            assert!(!result.succeeded, "{command}: {}", result.stdout);
            assert!(result.stderr.contains(cause), "{command}: {}", result.stderr);
        }
    };
    for mode in [0o770, 0o702, 0o777, 0o1777] {
        set_mode(&keys, mode);
        refused(&format!("others may write to the key folder {}, and could add a key; chmod it to 700", path(&keys)));
    }
    set_mode(&keys, 0o755);
    assert!(orderql(&database, folder.path(), "token demo").succeeded, "the names of keys are no secrets");
    for mode in [0o640, 0o604, 0o620] {
        set_mode(&key, mode);
        refused(&format!("others may read or write the key {}; chmod it to 600", path(&key)));
    }
    set_mode(&key, 0o400);
    assert!(orderql(&database, folder.path(), "token demo").succeeded);
    if is_root {
        // Only root can give files away.
        give_to(&key, 54_321);
        refused(&format!("the key {} belongs to the user 54321", path(&key)));
        give_to(&key, 0);
        give_to(&keys, 54_321);
        refused(&format!("the key folder {} belongs to the user 54321", path(&keys)));
        give_to(&keys, 0);
    }
    assert_eq!(fs::read_dir(&keys).unwrap().count(), 1, "nothing was added");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_in_another_folder_makes_no_key() {
    let database = database().await;
    let folder = TestFolder::create("no-keys");
    let path = folder.path().canonicalize().unwrap().join("keys");
    let issue = || orderql(&database, folder.path(), "token demo");
    let expected = format!("there is no EdDSA key in {}", path.display());
    let result = issue();
    assert!(!result.succeeded && result.stdout.is_empty(), "{}", result.stdout);
    assert!(result.stderr.contains(&expected), "{}", result.stderr);
    assert!(result.stderr.contains("--key-folder"), "{}", result.stderr);
    assert!(!path.exists());

    // A key of another algorithm signs nothing.
    assert!(orderql(&database, folder.path(), "keys rotate --token-algorithm HS256").succeeded);
    let result = issue();
    assert!(!result.succeeded && result.stderr.contains(&expected), "{}", result.stderr);
    assert_eq!(fs::read_dir(&path).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_configured_algorithm_verifies() {
    let database = database().await;
    let server = Server::start(&database, &[]);
    let secret = server.folder.join("keys/secret.hs256");
    let bytes = b"0123456789abcdef0123456789abcdef";
    fs::write(&secret, "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY").unwrap();
    set_mode(&secret, 0o600);
    let mut claims = Claims::create(jwt::Duration::from_hours(1)).with_issuer("orderql").with_subject("demo");
    // A token from the second in which its account was created is not accepted.
    claims.issued_at = claims.issued_at.map(|now| now + jwt::Duration::from_secs(1));
    let forged = HS256Key::from_bytes(bytes).with_key_id("secret").authenticate(claims).unwrap();
    let query = |server: &Server, token: &str| server.query(token, "{ __typename }").status;
    let token = server.token("demo");
    // The unknown key makes the server read the folder again.
    assert_eq!(query(&server, &forged), 401);
    assert_eq!(query(&server, &token), 200);
    let keys = server.folder.join("keys");
    let other = Server::start(&database, &["--key-folder", keys.to_str().unwrap(), "--token-algorithm", "HS256"]);
    assert_eq!(query(&other, &forged), 200, "the same key and token are good where HS256 is configured");
    assert_eq!(query(&other, &token), 401);
    assert_eq!(other.get("/.well-known/jwks.json").json()["keys"].as_array().unwrap().len(), 0);
}
