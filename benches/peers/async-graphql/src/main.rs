//! The part of orderql's schema that the benchmarks need, with async-graphql at its best: data loaders, one statement a level,
//! joins for to-one objects and the count where look-ahead shows that they are selected, prepared statements, generic plans.
//!
//! - `schema`: the types and their resolvers
//! - `values`: timestamps, flags and cursors
//! - `loaders`: children of many parents in one statement
//! - `nodes`: the types that rows are read into
//! - `statements`: the SQL
//! - `database`: the pool, and the queries

mod database;
mod loaders;
mod nodes;
mod pages;
mod schema;
mod statements;
mod values;

use std::{env, io};

use bytes::Bytes;
use peer_serve::{Respond, serve};

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

impl Respond for Service {
    async fn respond(&self, body: Bytes) -> Bytes {
        let response = match serde_json::from_slice::<async_graphql::Request>(&body) {
            Ok(request) => self.schema.execute(request).await,
            Err(error) => async_graphql::Response::from_errors(vec![async_graphql::ServerError::new(
                format!("not a GraphQL request: {error}"),
                None,
            )]),
        };
        // Serializing cannot fail, as all keys of the response's maps are strings.
        serde_json::to_vec(&response).unwrap_or_default().into()
    }
}

#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("DATABASE_URL is missing")]
    NoDatabase,
    #[error(transparent)]
    Database(#[from] NewError),
    #[error("cannot listen")]
    Listen(#[from] io::Error),
}
