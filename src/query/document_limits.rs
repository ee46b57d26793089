//! How large a document can be, regardless of the caller. These limits bound the work before the cost check. The
//! GraphQL specification has none.

/// Tokens of a document. Documents that people write have some hundreds.
pub(crate) const MAX_TOKENS: usize = 10_000;

/// Brackets that are open at once. `graphql_parser` has the same limit, which bounds its recursion.
pub(crate) const MAX_OPEN_BRACKETS: usize = 50;

/// Directives at one location. Documents have use for two.
pub(crate) const MAX_DIRECTIVES: usize = 20;

/// Fields that a document selects from the root, each under an alias of its own. Each costs one credit at least.
pub(crate) const MAX_ROOT_FIELDS: u64 = 500;

/// Fields that a document selects. The fields of a fragment count wherever it is spread. Without this limit, fragments that spread one
/// another twice each would expand to more fields than memory can hold.
pub(crate) const MAX_FIELDS: u64 = 20_000;

/// Definitions, fields, spreads and uses of variables that are visited when each operation of a document is checked together
/// with the fragments that it spreads. A document of one operation has no more of them than tokens and expanded fields.
pub(crate) const MAX_WORK: usize = 100_000;

/// Variables that a field depends on through `@skip` and `@include`, also of the fragments around it.
pub(crate) const MAX_CONDITIONS: usize = 64;

/// Nested lists of fields, interfaces, possible types and input fields in introspection. graphql-js has the same limit:
/// types have fields, which have types, so each nested list multiplies the response.
pub(crate) const MAX_INTROSPECTION_LISTS: usize = 2;

/// Levels of fields. The levels of a fragment count wherever it is spread. Every caller's own depth limit is far lower; this one bounds the
/// recursion.
pub(crate) const MAX_LEVELS: usize = 64;

/// Selections of an operation after its fragments are spread and its fields are merged.
pub(crate) const MAX_SELECTIONS: usize = 10_000;
