//! A document with what a client sends beside it.

use std::collections::BTreeSet;

use orderql::limits::Limits;
use orderql::query::{Request, Variables};

use crate::document::{Argument, Definition, Directive, Document, Operation, Selection, Value, VariableDefinition};
use crate::print::{Layout, print};

/// A generated request.
#[derive(Debug, Clone)]
pub struct Generated {
    /// The document.
    pub document: Document,
    /// The variables that the document uses, with their values. Operations declare those that they use.
    pub variables: Vec<Variable>,
    /// Values that the request has and no operation declares.
    pub undeclared: Vec<(String, Value)>,
    /// The name of the operation to run.
    pub operation_name: Option<String>,
    /// The limits of the caller.
    pub limits: Limits,
    /// How the text is laid out.
    pub layout: Layout,
}

/// A variable, and what a request gives it.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name, without the dollar sign.
    pub name: String,
    /// Its type in SDL notation.
    pub ty: String,
    /// Its default.
    pub default: Option<Value>,
    /// What the request gives.
    pub given: Option<Value>,
}

impl Variable {
    /// The value that it has; `None` if there is none.
    pub fn value(&self) -> Option<&Value> {
        self.given.as_ref().or(self.default.as_ref())
    }
}

impl Generated {
    /// The request with its text and variables.
    pub fn request(&self) -> Request {
        self.request_as(self.layout)
    }

    /// The same with another layout.
    pub fn request_as(&self, layout: Layout) -> Request {
        let given = self.variables.iter().filter_map(|variable| Some((&variable.name, variable.given.as_ref()?)));
        let undeclared = self.undeclared.iter().map(|(name, value)| (name, value));
        let json = given.chain(undeclared).filter_map(|(name, value)| Some((name.clone(), value.json()?)));
        let variables: Variables = json.collect();
        Request { query: print(&self.document, layout), operation_name: self.operation_name.clone(), variables }
    }

    /// Limits that admit every valid request.
    pub fn unlimited(&self) -> Limits {
        Limits { max_page_size: 1_000_000, max_depth: 1000, ..Limits::UNLIMITED }
    }

    /// The operation that the request runs.
    pub fn operation(&self) -> Option<&Operation> {
        match &self.operation_name {
            Some(name) => self.document.operations().find(|operation| operation.name.as_ref() == Some(name)),
            None => self.document.operations().next(),
        }
    }

    /// The variable with that name.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// A value, with that of its variable in place of a variable; `None` if there is none.
    pub fn resolve<'v>(&'v self, value: &'v Value) -> Option<&'v Value> {
        match value {
            Value::Variable(name) => self.variable(name)?.value(),
            literal => Some(literal),
        }
    }

    /// Every value that means something: the arguments of fields, and the values and defaults of variables.
    pub fn visit_values(&mut self, visit: &mut impl FnMut(&mut Value)) {
        self.document.visit_values(visit);
        for variable in &mut self.variables {
            variable.default.iter_mut().chain(&mut variable.given).for_each(&mut *visit);
        }
        self.declare();
    }

    /// Makes operations declare the variables that they use and no others, and drops fragments and variables that nothing
    /// uses.
    pub fn declare(&mut self) {
        let mut used_fragments = BTreeSet::new();
        let mut used_variables = BTreeSet::new();
        let mut declarations = Vec::new();
        for operation in self.document.operations() {
            let mut uses = Uses::default();
            uses.directives(&operation.directives);
            uses.selections(&operation.selections);
            while let Some(name) = uses.pending.pop() {
                if let Some(fragment) = self.document.fragment(&name) {
                    uses.directives(&fragment.directives);
                    uses.selections(&fragment.selections);
                }
            }
            let variables = uses.variables.iter().filter_map(|name| self.variable(name));
            declarations.push(variables.map(Variable::definition).collect::<Vec<_>>());
            used_fragments.append(&mut uses.fragments);
            used_variables.append(&mut uses.variables);
        }
        for (operation, variables) in self.document.operations_mut().zip(declarations) {
            operation.variables = variables;
        }
        self.document.definitions.retain(|definition| match definition {
            Definition::Operation(_) => true,
            Definition::Fragment(fragment) => used_fragments.contains(&fragment.name),
        });
        self.variables.retain(|variable| used_variables.contains(&variable.name));
    }
}

impl Variable {
    fn definition(&self) -> VariableDefinition {
        let Self { name, ty, default, given: _ } = self;
        VariableDefinition { name: name.clone(), ty: ty.clone(), default: default.clone(), directives: Vec::new() }
    }
}

/// What an operation uses.
#[derive(Default)]
struct Uses {
    variables: BTreeSet<String>,
    fragments: BTreeSet<String>,
    pending: Vec<String>,
}

impl Uses {
    fn selections(&mut self, selections: &[Selection]) {
        for selection in selections {
            self.directives(selection.directives());
            match selection {
                Selection::Field(field) => {
                    self.arguments(&field.arguments);
                    self.selections(&field.selections);
                }
                Selection::Inline(inline) => self.selections(&inline.selections),
                Selection::Spread(spread) => {
                    if self.fragments.insert(spread.name.clone()) {
                        self.pending.push(spread.name.clone());
                    }
                }
            }
        }
    }

    fn directives(&mut self, directives: &[Directive]) {
        for directive in directives {
            self.arguments(&directive.arguments);
        }
    }

    fn arguments(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            self.value(&argument.value);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Variable(name) => {
                self.variables.insert(name.clone());
            }
            Value::List(elements) => elements.iter().for_each(|element| self.value(element)),
            Value::Object(fields) => fields.iter().for_each(|(_, value)| self.value(value)),
            _ => {}
        }
    }
}
