//! `orderql serve`: serves a database until it is told to stop.

use std::{env, str::FromStr, sync::Arc};

use tokio::signal::unix::{SignalKind, signal};

use crate::{
    access::{follow::Follower, password::Passwords, token::Tokens},
    catalog::Catalog,
    cli::Outcome,
    config::{
        Config,
        source::{Flags, Values},
    },
    http::{
        endpoint::sdl,
        listener::Listener,
        service::{RequestIds, Service},
    },
    telemetry::log,
    throttle::buckets::Buckets,
};

/// Takes every setting.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    flags: Flags,
}

/// Serves until SIGINT or SIGTERM.
pub fn run(args: &Args) -> Outcome {
    let values = Values::gather(&args.flags, |name| env::var_os(name))?;
    let config = Config::read(&values)?;
    log::open(&config.log())?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(serve(&config))
}

/// Starts the service, or says what is missing; then serves until the process is told to stop.
pub async fn serve(config: &Config) -> Outcome {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let stop = async {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    let catalog = Catalog::built_in()?;
    let database = tokio_postgres::Config::from_str(config.database_url()?)?;
    let service = Service {
        grants: Follower::start(database, config.access_defaults()).await?,
        passwords: Passwords::new(config.password_checks)?,
        tokens: Tokens::open(config.tokens())?,
        buckets: Buckets::new(),
        sdl: sdl::Document::new(catalog.sdl().to_owned()),
        options: config.http(),
        ids: RequestIds::default(),
    };
    let listener = Listener::bind(config.listen).await?;
    listener.serve(Arc::new(service), &config.http(), stop).await;
    Ok(())
}
