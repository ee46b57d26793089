//! Why a schema file cannot be used.

use graphql_parser::Pos;
use thiserror::Error;

use crate::catalog::totals::MAX_KEYS;

/// An error in a schema file, and its position.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{position}: {kind}")]
pub struct SchemaError {
    /// `line:column`.
    pub position: Pos,
    /// The kind of error.
    pub(crate) kind: SchemaErrorKind,
}

impl SchemaError {
    /// The first position of the file, for errors that have no other.
    pub(super) const START: Pos = Pos { line: 1, column: 1 };

    pub(super) fn new(position: Pos, kind: SchemaErrorKind) -> Self {
        Self { position, kind }
    }
}

/// The kinds of errors in schema files.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum SchemaErrorKind {
    /// The text is not SDL: the parser's message.
    #[error("not a schema document: {0}")]
    Syntax(String),
    /// A kind of definition that schema files do not support.
    #[error("{0} is not taken; a schema has object types, enums and directive definitions")]
    Unsupported(&'static str),
    /// A field or argument of an introspection type that has no implementation. Only the built-in introspection schema
    /// can contain one.
    #[error("introspection does not know `{0}`")]
    UnknownIntrospection(String),
    /// Two definitions with the same name.
    #[error("`{0}` is defined twice")]
    Duplicate(String),
    /// The schema has no query root.
    #[error("there is no type Query")]
    NoQuery,
    /// A reference to a type that is not defined.
    #[error("there is no type `{0}`")]
    UnknownType(String),
    /// A type has a directive other than `@relation`, `@part`, `@grant` and `@scope`.
    #[error("a type has @relation, @part, @grant and @scope")]
    NotATypeDirective,
    /// `@scope` in none of its three forms.
    #[error(
        "@scope takes `name` and `by`, or `through` and `by` (and with `optional: true` also `to` and `none`), or `name` and `open: true`"
    )]
    BadScope,
    /// `@scope` on the type Query, or on one of changes, whose rows statements find in another way.
    #[error("`{0}` cannot have @scope; put it on the type whose rows are to be limited")]
    ScopeOutsideRows(String),
    /// `@scope(through:)` names another number of columns `by` than it names columns `to`, or than the key of the type has.
    #[error("@scope(through: \"{ty}\") needs as many columns `by` as `to` names, or the key of `{ty}` has")]
    UnpairedScope { ty: String },
    /// `@scope(through:)` leads to a type that has no scope and, if it is optional, needs no grant, or back to the type itself.
    #[error("@scope(through: \"{ty}\") leads to no type whose rows are limited")]
    ScopeThroughNothing { ty: String },
    /// A type has rows that belong to rows of a type in a scope, and declares nothing about the scope.
    #[error(
        "rows of `{ty}` belong to rows of `{of}`, which are limited by the scope `{scope}`; declare which of them a caller sees: \
         @scope(through: \"{of}\", by: …), @scope(name: \"{scope}\", by: …), or @scope(name: \"{scope}\", open: true) for all"
    )]
    UndecidedScope { ty: String, of: String, scope: String },
    /// `vocabulary` names a relation whose rows are limited.
    #[error(
        "the known values of `{key}` are those of `{relation}`, whose rows are limited by a scope; leave `vocabulary` out"
    )]
    ScopedVocabulary { key: String, relation: String },
    /// `@one` of a type whose rows are limited is non-null.
    #[error(
        "`{field}` is null for callers who do not see its `{ty}`, whose rows are limited by a scope; leave the exclamation mark out"
    )]
    ScopedNonNull { field: String, ty: String },
    /// `@search(of:)` of a key that is in no other relation, or names a type whose key has several columns.
    #[error("the search key `{0}` has `of`, which takes `within`, and a type whose key has one column")]
    BadSearchedType(String),
    /// More scopes than a set of them can hold.
    #[error("there are more than {} names of scopes", crate::catalog::scope::MAX_SCOPES)]
    TooManyScopes,
    /// `@part` has an argument that is about the relation `through`, and no `through`.
    #[error("@part has `to` and `key` for the relation `through`, which is not given")]
    PartWithoutThrough,
    /// `@part(of:)` names a type that has no relation, or whose key has several columns.
    #[error("`{0}` has parts, so it needs a key of one column")]
    FeedWithoutKey(String),
    /// The names of a type's change feed would be longer than PostgreSQL's names can be.
    #[error("`{ty}` has parts, so its name in snake case has at most {longest} bytes")]
    LongFeedName { ty: String, longest: usize },
    /// `@changes` is on a list of something else than the changes of a type with parts.
    #[error(
        "@changes(of: \"{of}\") needs a type that @part names, and a list of a type with the relation `{relation}`, which `{ty}` does not have"
    )]
    NoChanges { of: String, ty: String, relation: String },
    /// An argument has a directive other than `@column`.
    #[error("only @column binds an argument")]
    NotAnArgumentDirective,
    /// A field has an unknown directive.
    #[error("no such binding directive for a field{}", .nearest.map(|name| format!("; did you mean @{name}?")).unwrap_or_default())]
    NotAFieldDirective {
        /// The most similar one.
        nearest: Option<&'static str>,
    },
    /// A field has two binding directives.
    #[error("a field has one binding")]
    SeveralBindings,
    /// The type of a field is a list of lists.
    #[error("a list holds named types, and no list")]
    NestedList,
    /// The type of an argument of a lookup field is a list.
    #[error("a lookup field's argument is a scalar")]
    ListArgument,
    /// The arguments of a lookup field are neither all nullable nor all non-null.
    #[error("the arguments of a lookup field are all nullable (exactly one is given) or all non-null")]
    MixedArguments,
    /// A type without fields, which SDL cannot have.
    #[error("a type needs a field")]
    NoField,
    /// An enum without values.
    #[error("an enum needs a value")]
    NoValue,
    /// An enum with a directive, or a value with one other than `@value` and `@deprecated`.
    #[error("a value of an enum has @value and @deprecated, and the enum none")]
    NotAnEnumDirective,
    /// A type other than the query root has no relation.
    #[error("a type needs @relation")]
    NoRelation,
    /// `@search` or `@index` on a field that is no collection root, or `@sort` on one that is no list.
    #[error("@search and @index are for collection roots, @sort for lists, @group and @sum beside @totals")]
    SearchOutsideCollection,
    /// A collection root without `@sort`.
    #[error("a collection root needs a sort key")]
    NoSortKey,
    /// The binding of a field does not fit its type.
    #[error(
        "lists are bound by @many (collection roots by nothing), objects by @one, roots that are no lists by @point, and \
         @aggregate makes an Int"
    )]
    WrongBinding,
    /// `@many(atMost:)` of a field that is non-null.
    #[error("a list with `atMost` is null if it has more rows; leave the exclamation mark out")]
    NonNullBoundedList,
    /// `@sort(ties:)` of a field that is non-null.
    #[error("a list with `ties` is null if more rows have one value; leave the exclamation mark out")]
    NonNullTies,
    /// `@sort(ties:)` of a list with `@many(atMost:)`.
    #[error("all rows of a list with `atMost` are sorted; leave `ties` out")]
    NeedlessTies,
    /// `@totals` of a root with `@sort(ties:)`.
    #[error("@totals are of a root without `ties`: their rows are added up in an order that an index has")]
    TotalsWithTies,
    /// A directive lacks a required argument.
    #[error("@{directive} needs the argument `{argument}`")]
    MissingArgument { directive: &'static str, argument: &'static str },
    /// A directive has an argument that it does not take, probably a misspelt one.
    #[error("@{directive} has no argument `{argument}`; it takes {}", .allowed.join(", "))]
    UnknownArgument { directive: &'static str, argument: String, allowed: &'static [&'static str] },
    /// An argument of a directive has a value of the wrong type.
    #[error("@{directive}({argument}:) takes {expected}")]
    BadArgument { directive: &'static str, argument: String, expected: &'static str },
    /// `by` and `to`, which pair columns, differ in length.
    #[error("`by` and `to` name different numbers of columns")]
    UnpairedColumns,
    /// No field of the type shows a column, so its scalar type is unknown.
    #[error("no field of `{ty}` has the column `{column}`")]
    UnknownColumn { ty: String, column: String },
    /// A key, a join, an argument, a search or an order by a column whose values are not compared.
    #[error(
        "`{name}` is of the type {ty}, whose values are not compared, so it is no key and no search, order or argument"
    )]
    NotCompared { name: String, ty: String },
    /// `@aggregate` counts over a connection that the type does not have.
    #[error("`{ty}` has no connection `{field}`")]
    UnknownConnection { ty: String, field: String },
    /// `vocabulary` on a search key whose values are not text.
    #[error("`vocabulary` is for keys of the type ID or String; `{0}` has another")]
    VocabularyOfOtherType(String),
    /// `@search(inOrderOf:)` names a sort key that the root does not have.
    #[error("`{root}` has no sort key `{sort_key}`")]
    UnknownSortKey { root: String, sort_key: String },
    /// `@index(keys:)` does not name two search keys of the root that an index can begin with.
    #[error(
        "`{0}`: @index names two search keys whose columns are the rows' own, no Booleans, and on no sort key of `inOrderOf`; or two that are \
         `within` one relation, without `inOrderOf`"
    )]
    BadIndexKeys(String),
    /// `@totals(of:)` does not name a root connection of the field's type.
    #[error("@totals sums up the rows of `{of}`, and there is no such list of `{ty}` among the fields of Query")]
    UnknownRoot { of: String, ty: String },
    /// `@totals` without `@group`, or with too many.
    #[error("@totals needs 1 to {MAX_KEYS} group keys, that of the currency included")]
    GroupKeys,
    /// A path of `@totals`, `@group` or `@sum` that does not lead from the type through objects to a column that fits.
    #[error("`{path}` leads from `{ty}` to no column that {use_}")]
    BadPath { ty: String, path: String, use_: &'static str },
    /// `@sum(money: true)` without `@totals(currency:)`.
    #[error("`{0}` is a sum of money; @totals needs a `currency`, by which it is grouped")]
    MoneyWithoutCurrency(String),
    /// `@search(within:)` has `include`, or `inOrderOf` although its rows are not joined by one column of a table.
    #[error(
        "the search key `{0}` is within another relation, so no index includes other columns, and `inOrderOf` needs one column `by` and no \
         `computed: true`; leave `include` or `inOrderOf` out"
    )]
    InOrderOfSemiJoin(String),
    /// `@search(indexed: true, lookup: false)`.
    #[error("the search key `{0}` has no index for look-ups; declare it `indexed: false`")]
    IndexedWithoutLookup(String),
    /// `@search(compare: [MATCHES])` with arguments for comparisons of values, or `language` without `MATCHES`.
    #[error(
        "the search key `{0}`: `compare: [MATCHES]` searches a tsvector of the rows' own for words, and takes `column`, `language`, \
         `computed`, `example` and `grant`; `language` is for it alone"
    )]
    BadTextSearch(String),
    /// A name that is not a GraphQL name, or that GraphQL reserves.
    #[error("`{0}` is no name that can be published: letters, digits and _, no digit first, no __ at the beginning")]
    BadName(String),
    /// `@grant` on a field of a key column.
    #[error(
        "`{ty}.{field}` has the key's column `{column}`, which every cursor of `{ty}` tells, so it cannot be hidden; put @grant on \
         the type"
    )]
    HiddenKey { ty: String, field: String, column: String },
    /// More grants than a set of them can hold.
    #[error("there are more than {} names of grants", crate::catalog::grant_set::MAX_GRANTS)]
    TooManyGrants,
    /// More types or fields than the catalog's ids can count.
    #[error("there are more than 65,535 types or fields")]
    TooMany,
}
