//! The benchmarks' part of orderql's schema, served as one who knows async-graphql well would do it: data loaders, one
//! statement a level, to-one objects and the count joined where look-ahead sees them, prepared statements, generic plans.
//!
//! - `schema`: the types and their resolvers
//! - `scalar`: moments and flags
//! - `cursor`: where a page begins
//! - `loaders`: a page of children for every parent at once
//! - `nodes`: the types that rows are read into
//! - `statements`: the SQL
//! - `database`: the pool, and what is asked over it

mod cursor;
mod database;
mod loaders;
mod nodes;
mod scalar;
mod schema;
mod statements;

use std::{env, io};

use bytes::Bytes;
use peer_serve::{Answer, serve};

use crate::database::{Database, NewError};
use crate::schema::Schema;

fn main() -> Result<(), StartError> {
    serve(async {
        let url = env::var("DATABASE_URL").map_err(|_| StartError::NoDatabase)?;
        Ok(Service { schema: schema::new(Database::new(&url)?) })
    })
}

#[derive(Clone)]
struct Service {
    schema: Schema,
}

impl Answer for Service {
    async fn answer(&self, body: Bytes) -> Bytes {
        let response = match serde_json::from_slice::<async_graphql::Request>(&body) {
            Ok(request) => self.schema.execute(request).await,
            Err(error) => async_graphql::Response::from_errors(vec![async_graphql::ServerError::new(
                format!("not a GraphQL request: {error}"),
                None,
            )]),
        };
        // A response is made of maps with text as keys, which always are JSON.
        serde_json::to_vec(&response).unwrap_or_default().into()
    }
}

#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("DATABASE_URL is to name the database")]
    NoDatabase,
    #[error(transparent)]
    Database(#[from] NewError),
    #[error("cannot listen")]
    Listen(#[from] io::Error),
}
