//! Servers that are killed while callers send updates: none is lost, and none is applied twice.

use std::net::SocketAddr;

use crate::database::faults::updates::ORDERS;
use crate::database::replicas::servers::Servers;
use crate::database::several_servers::updates::{Updates, check_applied};
use crate::database::several_servers::{USER, number, start};
use crate::support::balancer::Balancer;
use crate::support::database::migrated_database;
use crate::support::server::{Server, connection_string, wait_until};
use crate::support::users::{UNLIMITED_PROFILE, create_users};

fn addresses(servers: &[Server]) -> Vec<SocketAddr> {
    servers.iter().map(|server| server.address).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_loses_and_doubles_no_update_and_callers_repeat_it_once() {
    let kills = number("SERVER_KILLS", 6);
    let database = migrated_database().await;
    let mut client = database.connect().await;
    client.batch_execute(ORDERS).await.unwrap();
    create_users(&mut client, &[(USER, UNLIMITED_PROFILE)]).await;
    let address = connection_string(&database.config());
    let mut servers = [(); 3].map(|()| start(&address, &[]));
    let token = servers[0].token(USER);
    let mut names = Vec::new();
    // Callers that send repeats to another server themselves, and those for whom HAProxy does.
    for is_balanced in [false, true] {
        let balancer = if is_balanced { Balancer::start("kills", &addresses(&servers)) } else { None };
        let (name, targets) = match &balancer {
            Some(balancer) => ("balanced", vec![balancer.address]),
            None if is_balanced => continue,
            None => ("direct", addresses(&servers)),
        };
        let updates = Updates::start(name, &token, &targets);
        for kill in 0..kills {
            updates.go_on();
            let place = kill % servers.len();
            servers[place].signal("-KILL");
            updates.go_on();
            servers[place] = start(&address, &[]);
            match &balancer {
                Some(balancer) => balancer.replace(place, servers[place].address),
                None => updates.replace(place, servers[place].address),
            }
        }
        updates.go_on();
        let seen = updates.stop();
        let inside = balancer.as_ref().map_or(0, Balancer::repeats);
        let (count, repeats) = (seen.names.len(), seen.repeats);
        println!("{name}: {kills} kills, {count} updates, {repeats} repeats of callers, {inside} of HAProxy");
        assert!(seen.most_repeats <= 1, "an update was repeated {} times", seen.most_repeats);
        assert!(repeats + usize::try_from(inside).unwrap() > 0, "no kill hit anything");
        names.extend(seen.names);
    }
    check_applied(&client, names).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_resume_on_all_servers_when_a_standby_is_promoted_and_none_is_lost() {
    for promotion in 0..number("PROMOTIONS", 1) {
        let databases = Servers::start(&format!("promotion-{promotion}"), [&[], &[]]).await;
        let [standby, _] = &databases.standbys;
        let mut client = databases.primary.connect().await;
        create_users(&mut client, &[(USER, UNLIMITED_PROFILE)]).await;
        // Nothing is committed before both have it, so that the one that is promoted has it.
        let synchronous = ["ALTER SYSTEM SET synchronous_standby_names = '2 (*)'", "SELECT pg_reload_conf()"];
        for statement in synchronous {
            client.batch_execute(statement).await.unwrap();
        }
        drop(client);
        let address = Servers::primary_address(&[&databases.primary, standby]);
        let replicas = databases.replica_addresses();
        let servers = [(); 3].map(|()| start(&address, &["--replica-urls", &replicas, "--admin-listen", "0"]));
        let token = servers[0].token(USER);
        let updates = Updates::start("update", &token, &addresses(&servers));
        updates.go_on();
        databases.primary.kill().await;
        standby.connect().await.batch_execute("SELECT pg_promote()").await.unwrap();
        // Nobody does anything about the servers.
        updates.go_on();
        let applied = r#"orderql_updates_total{outcome="applied"}"#;
        for server in &servers {
            let before = server.metrics().get(applied);
            wait_until(|| server.metrics().get(applied) > before);
        }
        let seen = updates.stop();
        println!("{} updates, {} repeats", seen.names.len(), seen.repeats);
        assert!(seen.repeats > 0, "the primary was not missed");
        check_applied(&standby.connect().await, seen.names).await;
        for server in servers {
            let log = server.stop();
            assert!(!log.contains("internal error") && !log.contains("panicked"), "{log}");
        }
    }
}
