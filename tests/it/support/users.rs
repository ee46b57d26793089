//! Users of the service.

use orderql::access::accounts::{User, ensure_user};
use orderql::access::password::Passwords;
use orderql::access::profile::Profile;
use tokio_postgres::Client;

/// A profile whose limits no test reaches.
pub const UNLIMITED_PROFILE: Profile = Profile {
    max_cost: Some(1_000_000),
    max_depth: Some(12),
    bucket_size: Some(1_000_000_000),
    deadline_ms: Some(3_600_000),
    updates_per_second: Some(1_000_000),
    ..Profile::DEFAULT
};

/// Creates users whose passwords are their ids. `guest` gets no grant, everyone else gets all of them.
pub async fn create_users(client: &mut Client, users: &[(&str, Profile)]) {
    let passwords = Passwords::new(1).unwrap();
    for (user_id, profile) in users {
        let groups = if *user_id == "guest" { &[][..] } else { &["API"] };
        let user = User { user_id, password: user_id, groups, profile: *profile };
        ensure_user(client, &passwords, &user).await.unwrap();
    }
}
