//! Several servers on one database, which share a store.

mod budget;
mod logins;
mod outage;
mod setup;

use orderql::access::profile::Profile;

use crate::support::database::{Database, migrated_database};
use crate::support::server::{Server, connection_string};
use crate::support::users::create_users;

/// A query that costs four credits.
const QUERY: &str = "{ orders(first: 2) { edges { node { orderId } } } }";
const COST: u64 = 4;

/// A service of several servers on one database.
struct Nodes {
    servers: Vec<Server>,
    token: String,
    _database: Database,
}

impl Nodes {
    /// Starts as many servers as there are lists of flags, beside those for all. The user `demo` has this profile.
    async fn start(profile: Profile, url: &str, flags: &[&[&str]]) -> Self {
        let database = migrated_database().await;
        create_users(&mut database.connect().await, &[("demo", profile), ("bulk", profile)]).await;
        let address = connection_string(&database.config());
        let servers = flags.iter().map(|flags| {
            let all = ["--bucket-url", url, "--admin-listen", "127.0.0.1:0", "--trusted-proxies", "127.0.0.1"];
            Server::start_with_common_key(&address, &[&all[..], flags].concat())
        });
        let servers: Vec<_> = servers.collect();
        let token = servers[0].token("demo");
        Self { servers, token, _database: database }
    }

    /// Sends queries to all servers at the same time until each client has sent so many. Returns how many were admitted.
    fn race(&self, clients: usize, queries: usize, is_admitted: impl Fn(&Server) -> bool + Sync) -> u64 {
        let is_admitted = &is_admitted;
        std::thread::scope(|scope| {
            let clients: Vec<_> = (0..clients)
                .map(|client| {
                    let server = &self.servers[client % self.servers.len()];
                    scope.spawn(move || (0..queries).filter(|_| is_admitted(server)).count() as u64)
                })
                .collect();
            clients.into_iter().map(|client| client.join().unwrap()).sum()
        })
    }

    /// Sends a query. Fails at any response but data and THROTTLED.
    fn is_admitted(&self, server: &Server) -> bool {
        let response = server.query(&self.token, QUERY);
        match response.code().as_str() {
            "" => true,
            "THROTTLED" => false,
            _ => panic!("{response:?}"),
        }
    }

    /// The same with servers that admit nothing while the store is away, which it is when a busy machine keeps it waiting: asks
    /// again until the store has answered.
    fn is_admitted_by_store(&self, server: &Server) -> bool {
        loop {
            let response = server.query(&self.token, QUERY);
            match response.code().as_str() {
                "" => return true,
                "THROTTLED" => return false,
                "SERVICE_UNAVAILABLE" => {}
                _ => panic!("{response:?}"),
            }
        }
    }
}
