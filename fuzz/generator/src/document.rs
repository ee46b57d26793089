//! A document as a tree. It can be any document of the grammar, also one that no schema allows.

use orderql::catalog::ids::FieldId;
use orderql::catalog::stored_type::StoredType;
use orderql::value::ScalarType;

use crate::cursor::Cursor;
use crate::search::Search;

/// A document.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// Its operations and fragments, in the order of the text.
    pub definitions: Vec<Definition>,
}

/// An operation or a fragment.
#[derive(Debug, Clone)]
pub enum Definition {
    /// An operation.
    Operation(Operation),
    /// A fragment.
    Fragment(Fragment),
}

/// The kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    /// A query.
    Query,
    /// A mutation.
    Mutation,
    /// A subscription.
    Subscription,
}

/// An operation.
#[derive(Debug, Clone)]
pub struct Operation {
    /// Its kind.
    pub kind: OperationKind,
    /// Its name.
    pub name: Option<String>,
    /// The variables that it declares.
    pub variables: Vec<VariableDefinition>,
    /// Its directives.
    pub directives: Vec<Directive>,
    /// What it selects from the root.
    pub selections: Vec<Selection>,
}

/// A variable that an operation declares.
#[derive(Debug, Clone)]
pub struct VariableDefinition {
    /// Its name, without the dollar sign.
    pub name: String,
    /// Its type in SDL notation.
    pub ty: String,
    /// Its default.
    pub default: Option<Value>,
    /// Its directives.
    pub directives: Vec<Directive>,
}

/// A fragment.
#[derive(Debug, Clone)]
pub struct Fragment {
    /// Its name.
    pub name: String,
    /// The name of its type.
    pub on: String,
    /// Its directives.
    pub directives: Vec<Directive>,
    /// What it selects.
    pub selections: Vec<Selection>,
}

/// A member of a selection set.
#[derive(Debug, Clone)]
pub enum Selection {
    /// A field.
    Field(Field),
    /// An inline fragment.
    Inline(Inline),
    /// A fragment spread.
    Spread(Spread),
}

/// A selected field.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its alias.
    pub alias: Option<String>,
    /// Its name.
    pub name: String,
    /// The field of the catalog; `None` for `__typename`, and for a field that the type does not have.
    pub id: Option<FieldId>,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// Its directives.
    pub directives: Vec<Directive>,
    /// What is selected from it; empty for a scalar.
    pub selections: Vec<Selection>,
}

/// An inline fragment.
#[derive(Debug, Clone)]
pub struct Inline {
    /// The name of its type, if it has one.
    pub on: Option<String>,
    /// Its directives.
    pub directives: Vec<Directive>,
    /// What it selects.
    pub selections: Vec<Selection>,
}

/// A fragment spread.
#[derive(Debug, Clone)]
pub struct Spread {
    /// The name of the fragment.
    pub name: String,
    /// Its directives.
    pub directives: Vec<Directive>,
}

/// A directive.
#[derive(Debug, Clone)]
pub struct Directive {
    /// Its name, without the at sign.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<Argument>,
}

/// An argument.
#[derive(Debug, Clone)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Value,
}

/// A value. The last ones are literals that know what they mean, so that another one of the same meaning can take their place.
#[derive(Debug, Clone)]
pub enum Value {
    /// A variable, by its name.
    Variable(String),
    /// A number as it is written.
    Number(String),
    /// A string.
    String(String),
    /// True or false.
    Boolean(bool),
    /// Null.
    Null,
    /// The name of an enum value.
    Enum(String),
    /// A list.
    List(Vec<Value>),
    /// An input object.
    Object(Vec<(String, Value)>),
    /// A page size.
    Size(u32),
    /// A key of a lookup.
    Key(Key),
    /// A cursor.
    Cursor(Cursor),
    /// A search string.
    Search(Search),
}

/// A key of a lookup.
#[derive(Debug, Clone)]
pub struct Key {
    /// The type of its argument.
    pub scalar: ScalarType,
    /// How the database stores its column.
    pub stored: StoredType,
    /// The value, in the notation of search strings.
    pub text: String,
}

impl Key {
    /// Whether documents and JSON have the text without quotes.
    pub(crate) fn is_bare(&self) -> bool {
        matches!(self.scalar, ScalarType::Int | ScalarType::Boolean | ScalarType::Float)
    }
}

impl Document {
    /// The operations.
    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.definitions.iter().filter_map(|definition| match definition {
            Definition::Operation(operation) => Some(operation),
            Definition::Fragment(_) => None,
        })
    }

    /// The operations, to change them.
    pub fn operations_mut(&mut self) -> impl Iterator<Item = &mut Operation> {
        self.definitions.iter_mut().filter_map(|definition| match definition {
            Definition::Operation(operation) => Some(operation),
            Definition::Fragment(_) => None,
        })
    }

    /// The fragments.
    pub fn fragments(&self) -> impl Iterator<Item = &Fragment> {
        self.definitions.iter().filter_map(|definition| match definition {
            Definition::Fragment(fragment) => Some(fragment),
            Definition::Operation(_) => None,
        })
    }

    /// The fragments, to change them.
    pub fn fragments_mut(&mut self) -> impl Iterator<Item = &mut Fragment> {
        self.definitions.iter_mut().filter_map(|definition| match definition {
            Definition::Fragment(fragment) => Some(fragment),
            Definition::Operation(_) => None,
        })
    }

    /// The fragment with that name; of several, the first.
    pub fn fragment(&self, name: &str) -> Option<&Fragment> {
        self.fragments().find(|fragment| fragment.name == name)
    }

    /// Every selection set, each before those inside it.
    pub fn visit_sets(&mut self, visit: &mut impl FnMut(&mut Vec<Selection>)) {
        for definition in &mut self.definitions {
            let set = match definition {
                Definition::Operation(operation) => &mut operation.selections,
                Definition::Fragment(fragment) => &mut fragment.selections,
            };
            visit_sets(set, visit);
        }
    }

    /// Every field, in no particular order.
    pub fn visit_fields(&mut self, visit: &mut impl FnMut(&mut Field)) {
        self.visit_sets(&mut |set| {
            for selection in set {
                if let Selection::Field(field) = selection {
                    visit(field);
                }
            }
        });
    }

    /// Every value of an argument of a field.
    pub fn visit_values(&mut self, visit: &mut impl FnMut(&mut Value)) {
        self.visit_fields(&mut |field| field.arguments.iter_mut().for_each(|argument| visit(&mut argument.value)));
    }
}

/// A selection set and those inside it.
pub(crate) fn visit_sets(set: &mut Vec<Selection>, visit: &mut impl FnMut(&mut Vec<Selection>)) {
    visit(set);
    for selection in set {
        match selection {
            Selection::Field(field) => {
                if !field.selections.is_empty() {
                    visit_sets(&mut field.selections, visit);
                }
            }
            Selection::Inline(inline) => visit_sets(&mut inline.selections, visit),
            Selection::Spread(_) => {}
        }
    }
}

impl Selection {
    /// Its directives.
    pub fn directives(&self) -> &[Directive] {
        match self {
            Self::Field(field) => &field.directives,
            Self::Inline(inline) => &inline.directives,
            Self::Spread(spread) => &spread.directives,
        }
    }

    /// Its directives, to change them.
    pub fn directives_mut(&mut self) -> &mut Vec<Directive> {
        match self {
            Self::Field(field) => &mut field.directives,
            Self::Inline(inline) => &mut inline.directives,
            Self::Spread(spread) => &mut spread.directives,
        }
    }
}

impl Field {
    /// `__typename`
    pub fn type_name() -> Self {
        Self {
            alias: None,
            name: "__typename".to_owned(),
            id: None,
            arguments: Vec::new(),
            directives: Vec::new(),
            selections: Vec::new(),
        }
    }

    /// Its key in the response.
    pub fn key(&self) -> &str {
        self.alias.as_ref().unwrap_or(&self.name)
    }
}

impl Value {
    /// The value as JSON; `None` if it has a variable.
    pub fn json(&self) -> Option<serde_json::Value> {
        use serde_json::Value as Json;
        Some(match self {
            Self::Variable(_) => return None,
            Self::Number(text) => serde_json::from_str(text).unwrap_or(Json::Null),
            Self::String(text) | Self::Enum(text) => text.as_str().into(),
            Self::Boolean(truth) => (*truth).into(),
            Self::Null => Json::Null,
            Self::List(elements) => Json::Array(elements.iter().map(Self::json).collect::<Option<_>>()?),
            Self::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| Some((name.clone(), value.json()?)));
                Json::Object(fields.collect::<Option<_>>()?)
            }
            Self::Size(size) => (*size).into(),
            Self::Key(key) if key.is_bare() => serde_json::from_str(&key.text).unwrap_or(Json::Null),
            Self::Key(key) => key.text.as_str().into(),
            Self::Cursor(cursor) => cursor.text().into(),
            Self::Search(search) => search.text().into(),
        })
    }
}
