//! `orderql grant`: which groups may use the GraphQL API and the order update, see plans of queries, and see what the schema does not
//! show to everybody.

use std::path::{Path, PathBuf};

use serde_json::json;
use thiserror::Error;

use crate::access::grants::{Artifact, may};
use crate::access::manage::groups::Group;
use crate::access::manage::scopes::UserScope;
use crate::access::manage::{grants, groups, scopes};
use crate::catalog::Catalog;
use crate::cli::admin::AdminArgs;
use crate::cli::outcome::Outcome;
use crate::cli::schema;
use crate::cli::scope_hint::warn_of;
use crate::cli::table::{Table, report};
use crate::nearest::nearest;
use crate::schema_file::SchemaFile;

/// Grant groups access, and list who has it
///
/// Running servers apply changes at once.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    admin: AdminArgs,

    /// The schema file that names grants [default: the built-in schema]
    #[arg(long, env = "ORDERQL_SCHEMA", value_name = "FILE", global = true)]
    schema: Option<PathBuf>,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Grant a group access to a path, or to what the schema file shows by a name
    Add(Grant),
    /// List the paths and names, the groups that have them, and the members of these groups
    List,
    /// List what a user is granted, by which groups, and what it shows of the schema
    Of {
        /// The name of the user
        user: String,
    },
    /// List the users who see a type or a field of the schema
    On {
        /// A type or a field, such as `OrderNote`, `Order.notes` or `Query.orders`
        place: String,
    },
    /// Withdraw a group's access to a path, or to what the schema file shows by a name
    Remove(Grant),
}

#[derive(Debug, clap::Args)]
struct Grant {
    /// The name of the group
    group: String,
    /// The path: /graphql, /graphql/documents, /graphql/plan or /api/updateOrder; or a name of @grant in the schema file, such as NOTES
    path: String,
}

/// The schema has no such type or field.
#[derive(Debug, Error)]
#[error("the schema has no `{place}`{}", .nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default())]
struct NoSuchPlace {
    place: String,
    nearest: Option<String>,
}

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> Outcome {
    let Args { admin, schema, command } = args;
    let json = admin.json;
    let file = || schema::file(schema.as_deref().filter(|path| *path != Path::new("")));
    admin.run(async |operator| {
        match command {
            Command::Add(Grant { group, path }) => {
                let names = if path.starts_with('/') { Vec::new() } else { file()?.grants().to_vec() };
                let changed = grants::add(operator, &group, &path, &names).await?;
                let sentence = format!("{group} may {} {path}", verb(&path));
                report(json, &sentence, changed, &[("group", &group), ("path", &path)])?;
                let is_querying = |of: &Group| of.name == group && may(&of.grants, Artifact::Graphql);
                if groups::list(&operator.client).await?.iter().any(is_querying) {
                    warn_of(&operator.client, &file()?, &group).await?;
                }
            }
            Command::List => {
                let rows = grants::list(&operator.client).await?.into_iter();
                let rows = rows.map(|granted| [json!(granted.path), json!(granted.groups), json!(granted.users)]);
                Table { columns: ["path", "groups", "users"], rows: rows.collect() }.print(json)?;
            }
            Command::Of { user } => {
                let granted = grants::of(&operator.client, &user).await?;
                let scopes = scopes::of(&operator.client, &user).await?;
                of_user(&granted, &scopes, &file()?).print(json)?;
            }
            Command::On { place } => {
                let users = grants::by_user(&operator.client).await?;
                on_place(&users, &file()?, &place)?.print(json)?;
            }
            Command::Remove(Grant { group, path }) => {
                let changed = grants::remove(operator, &group, &path).await?;
                let sentence = format!("{group} may not {} {path}", verb(&path));
                report(json, &sentence, changed, &[("group", &group), ("path", &path)])?;
            }
        }
        Ok(())
    })
}

fn verb(path: &str) -> &'static str {
    if path.starts_with('/') { "use" } else { "see" }
}

/// The grants of a user, and the names of the schema file that are not granted to the user, without groups. Then the scopes of the file,
/// which show rows with some values, with all (`*`), or with none.
fn of_user(granted: &[(String, Vec<String>)], scopes: &[UserScope], file: &SchemaFile) -> Table<3> {
    let none = |scope: &String| UserScope { scope: scope.clone(), groups: Vec::new(), values: Vec::new() };
    let in_file = file.scopes().iter().map(|scope| {
        let given = scopes.iter().find(|given| given.scope == *scope);
        let UserScope { scope, groups, values } = given.cloned().unwrap_or_else(|| none(scope));
        [json!(format!("scope {scope}")), json!(groups), json!(values)]
    });
    let missing = file.grants().iter().filter(|name| granted.iter().all(|(path, _)| path != *name));
    let rows = granted.iter().cloned().chain(missing.map(|name| (name.clone(), Vec::new())));
    let rows = rows.map(|(path, groups)| {
        let shows = file.places(&path);
        [json!(path), json!(groups), json!(shows)]
    });
    let rows = rows.chain(in_file);
    Table { columns: ["path", "groups", "shows"], rows: rows.collect() }
}

/// The users who see a type or a field. Fails if nobody could.
fn on_place(users: &[grants::Granted], file: &SchemaFile, place: &str) -> Outcome<Table<2>> {
    let whole = file.catalog()?;
    if !has(&whole, place) {
        let places = places(&whole);
        let is_field = |name: &str| name.contains('.');
        let alike = places.iter().map(String::as_str).filter(|other| is_field(other) == is_field(place));
        let nearest = nearest(place, alike).map(str::to_owned);
        return Err(NoSuchPlace { place: place.to_owned(), nearest }.into());
    }
    let (mut rows, mut seen) = (Vec::new(), Vec::new());
    for user in users.iter().filter(|user| may(&user.paths, Artifact::Graphql)) {
        let held = file.held(|name| user.holds(name));
        let known = seen.iter().find(|(other, _)| *other == held).map(|(_, sees)| *sees);
        let sees = match known {
            Some(sees) => sees,
            None => has(&file.view(held)?, place),
        };
        seen.push((held, sees));
        rows.extend(sees.then(|| [json!(user.name), json!(user.groups)]));
    }
    Ok(Table { columns: ["user", "groups"], rows })
}

/// Whether a catalog has a type, or a field of a type.
fn has(catalog: &Catalog, place: &str) -> bool {
    let (ty, field) = place.split_once('.').map_or((place, None), |(ty, field)| (ty, Some(field)));
    catalog.named(ty).is_some_and(|id| {
        field.is_none_or(|field| catalog.object(id).is_some_and(|object| object.field_index(field).is_some()))
    })
}

/// All types and fields of a catalog.
fn places(catalog: &Catalog) -> Vec<String> {
    let types = catalog.types().iter().map(|ty| ty.name().to_owned());
    types.chain(catalog.fields().map(|(object, field, _)| format!("{}.{}", object.name, field.name))).collect()
}
