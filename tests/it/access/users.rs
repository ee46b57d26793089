//! Users in the database.

use orderql::access::accounts::{User, ensure_user};
use orderql::access::password::Passwords;
use orderql::access::profile::Profile;

use crate::support::database::migrated_database;

#[tokio::test(flavor = "multi_thread")]
async fn ensuring_a_user_twice_changes_nothing_and_corrects_differences() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let passwords = Passwords::new(1).unwrap();
    let profile = Profile { bucket_size: Some(7), ..Profile::default() };
    let user = User { user_id: "bulk", password: "bulk", groups: &["API"], profile };
    let stored = "SELECT a::text, p::text, m::text FROM orderql.user_account a
                  JOIN orderql.user_profile p USING (user_id) JOIN orderql.group_member m USING (user_id)";
    let mut rows = Vec::new();
    for change in ["", "", "UPDATE orderql.user_profile SET bucket_size = 8, max_depth = 3"] {
        client.batch_execute(change).await.unwrap();
        ensure_user(&mut client, &passwords, &user).await.unwrap();
        let row = client.query_one(stored, &[]).await.unwrap();
        rows.push([0, 1, 2].map(|column| row.get::<_, String>(column)));
    }
    assert!(rows.iter().all(|row| row == &rows[0]), "{rows:?}");
    client.batch_execute("UPDATE orderql.user_account SET disabled = true").await.unwrap();
    ensure_user(&mut client, &passwords, &User { password: "other", ..user }).await.unwrap();
    let account = client.query_one("SELECT password_hash, disabled FROM orderql.user_account", &[]).await.unwrap();
    let hash: &str = account.get(0);
    assert!(passwords.verify("other".into(), Some(hash.into())).await.unwrap());
    assert!(!account.get::<_, bool>(1));
}
