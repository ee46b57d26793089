//! Requests that break a rule: the tree of a valid one with some of its names, types, values and references changed. Many of the
//! results are valid all the same.

use orderql::catalog::Catalog;

use crate::choices::Choices;
use crate::document::{
    Argument, Definition, Directive, Field, Fragment, Inline, Operation, OperationKind, Selection, Spread, Value,
    VariableDefinition,
};
use crate::request::Generated;

/// Makes up to three mistakes. The result is not to be declared again.
pub fn make_mistakes(catalog: &Catalog, generated: &mut Generated, choices: &mut Choices<'_>) {
    let mut writer = Writer { catalog, generated, choices };
    for _ in 0..=writer.choices.below(3) {
        writer.mistake();
    }
}

struct Writer<'a, 'b> {
    catalog: &'a Catalog,
    generated: &'a mut Generated,
    choices: &'a mut Choices<'b>,
}

impl Writer<'_, '_> {
    /// Makes one mistake.
    fn mistake(&mut self) {
        match self.choices.below(30) {
            0 => self.misspell_field(),
            1 => self.select_field_of_another_type(),
            2 => self.select_from_leaf(),
            3 => self.select_nothing(),
            4 => self.add_unknown_argument(),
            5 => self.repeat_argument(),
            6 => self.remove_argument(),
            7 | 8 => self.change_value(),
            9 => self.add_directive(),
            10 => self.repeat_directive(),
            11 => self.change_directive(),
            12 => self.add_directive_to_definition(),
            13 => self.spread_unknown_fragment(),
            14 => self.spread_in_a_cycle(),
            15 => self.repeat_fragment(),
            16 => self.add_unused_fragment(),
            17 => self.change_type_condition(),
            18 => self.change_operation(),
            19 => self.remove_variable(),
            20 => self.add_unused_variable(),
            21 => self.repeat_variable(),
            22 => self.change_type_of_variable(),
            23 => self.change_default(),
            24 => self.change_given_values(),
            25 => self.use_key_of_another_field(),
            26 => self.repeat_field_with_other_arguments(),
            27 => self.add_end(),
            28 => self.nest_deeply(),
            _ => self.choose_another_operation(),
        }
    }

    /// Changes one of the fields that are accepted.
    fn field(&mut self, accepts: impl Fn(&Field) -> bool, change: impl FnOnce(&mut Field)) {
        let mut fields = 0;
        self.generated.document.visit_fields(&mut |field| fields += usize::from(accepts(field)));
        let chosen = self.choices.below(fields);
        let (mut index, mut change) = (0, Some(change));
        self.generated.document.visit_fields(&mut |field| {
            if accepts(field) {
                if index == chosen
                    && let Some(change) = change.take()
                {
                    change(field);
                }
                index += 1;
            }
        });
    }

    /// Changes one of the selection sets.
    fn set(&mut self, change: impl FnOnce(&mut Vec<Selection>, &mut Choices<'_>)) {
        let mut sets = 0;
        self.generated.document.visit_sets(&mut |_| sets += 1);
        let (chosen, choices) = (self.choices.below(sets), &mut *self.choices);
        let (mut index, mut change) = (0, Some(change));
        self.generated.document.visit_sets(&mut |set| {
            if index == chosen
                && let Some(change) = change.take()
            {
                change(set, choices);
            }
            index += 1;
        });
    }

    /// Changes one of the operations.
    fn operation(&mut self, change: impl FnOnce(&mut Operation)) {
        let operations = self.generated.document.operations().count();
        let chosen = self.choices.below(operations);
        if let Some(operation) = self.generated.document.operations_mut().nth(chosen) {
            change(operation);
        }
    }

    /// The name of some type of the catalog, or of none.
    fn type_name(&mut self) -> String {
        let types: Vec<_> = self.catalog.type_ids().collect();
        match self.choices.pick(&types).filter(|_| self.choices.chance(85)) {
            Some(id) => self.catalog.get(*id).name().to_owned(),
            None => "Nothing".to_owned(),
        }
    }

    /// Any literal, or a variable that may be declared.
    fn any_value(&mut self) -> Value {
        let numbers = ["0", "-0", "-1", "1", "101", "2147483647", "2147483648", "-2147483649", "9223372036854775808"];
        let floats = ["1.0", "1.5", "1e3", "-0.0", "1e400"];
        match self.choices.below(12) {
            0 | 1 => Value::Number((*self.choices.pick(&numbers).unwrap_or(&"1")).to_owned()),
            2 => Value::Number((*self.choices.pick(&floats).unwrap_or(&"1.5")).to_owned()),
            3 => Value::String(String::new()),
            4 => Value::String("statusId:A \u{0} (colour:red) orderDate:>=never ,: x:!=1".to_owned()),
            5 => Value::Boolean(self.choices.chance(50)),
            6 => Value::Null,
            7 => Value::Enum("ORDER_DATE".to_owned()),
            8 => Value::List(vec![Value::Number("1".to_owned())]),
            9 => Value::List(vec![Value::List(Vec::new()), Value::Null]),
            10 => {
                let field = || ("if".to_owned(), Value::Boolean(true));
                Value::Object(if self.choices.chance(50) { vec![field()] } else { vec![field(), field()] })
            }
            _ => Value::Variable(format!("v{}", self.choices.below(4))),
        }
    }

    fn misspell_field(&mut self) {
        let is_longer = self.choices.chance(50);
        self.field(
            |_| true,
            |field| {
                if is_longer {
                    field.name.push('x');
                } else {
                    field.name.pop();
                }
            },
        );
    }

    fn select_field_of_another_type(&mut self) {
        let fields: Vec<_> = self.catalog.fields().map(|(_, field, _)| &field.name).collect();
        let Some(name) = self.choices.pick(&fields).copied() else { return };
        let name = name.clone();
        self.field(|_| true, |field| field.name = name);
    }

    fn select_from_leaf(&mut self) {
        self.field(
            |field| field.selections.is_empty(),
            |field| field.selections.push(Selection::Field(Field::type_name())),
        );
    }

    fn select_nothing(&mut self) {
        self.field(|field| !field.selections.is_empty(), |field| field.selections.clear());
    }

    fn add_unknown_argument(&mut self) {
        let value = self.any_value();
        let name = if self.choices.chance(50) { "frist" } else { "first" };
        self.field(|_| true, |field| field.arguments.push(Argument { name: name.to_owned(), value }));
    }

    fn repeat_argument(&mut self) {
        self.field(
            |field| !field.arguments.is_empty(),
            |field| {
                let again = field.arguments[0].clone();
                field.arguments.push(again);
            },
        );
    }

    fn remove_argument(&mut self) {
        let index = self.choices.below(7);
        self.field(
            |field| !field.arguments.is_empty(),
            |field| drop(field.arguments.remove(index % field.arguments.len())),
        );
    }

    fn change_value(&mut self) {
        let (index, value) = (self.choices.below(7), self.any_value());
        self.field(
            |field| !field.arguments.is_empty(),
            |field| {
                let length = field.arguments.len();
                field.arguments[index % length].value = value;
            },
        );
    }

    fn directive(&mut self) -> Directive {
        let name = self.choices.pick(&["skip", "include", "deprecated", "specifiedBy", "live"]).unwrap_or(&"skip");
        let mut arguments = Vec::new();
        if self.choices.chance(80) {
            let value = if self.choices.chance(60) { Value::Boolean(true) } else { self.any_value() };
            arguments.push(Argument { name: "if".to_owned(), value });
        }
        if self.choices.chance(10) {
            arguments.push(Argument { name: "unless".to_owned(), value: Value::Boolean(true) });
        }
        Directive { name: (*name).to_owned(), arguments }
    }

    fn add_directive(&mut self) {
        let directive = self.directive();
        let times = if self.choices.chance(10) { 21 } else { 1 };
        self.set(|set, choices| {
            let index = choices.below(set.len());
            if let Some(selection) = set.get_mut(index) {
                selection.directives_mut().extend(std::iter::repeat_n(directive, times));
            }
        });
    }

    fn repeat_directive(&mut self) {
        self.set(|set, _| {
            for selection in set {
                let directives = selection.directives_mut();
                let again = directives.first().cloned();
                directives.extend(again);
            }
        });
    }

    fn change_directive(&mut self) {
        let other = self.directive();
        self.set(|set, _| {
            let directives = set.iter_mut().filter_map(|selection| selection.directives_mut().first_mut());
            directives.take(1).for_each(|directive| *directive = other.clone());
        });
    }

    fn add_directive_to_definition(&mut self) {
        let directive = self.directive();
        match self.choices.below(3) {
            0 => self.operation(|operation| operation.directives.push(directive)),
            1 => self.operation(|operation| {
                operation.variables.iter_mut().take(1).for_each(|variable| variable.directives.push(directive.clone()));
            }),
            _ => {
                let fragments = self.generated.document.fragments_mut();
                fragments.take(1).for_each(|fragment| fragment.directives.push(directive.clone()));
            }
        }
    }

    fn spread_unknown_fragment(&mut self) {
        let spread = Selection::Spread(Spread { name: "Nowhere".to_owned(), directives: Vec::new() });
        self.set(|set, _| set.push(spread));
    }

    /// Spreads a fragment in itself or in one that it spreads, perhaps.
    fn spread_in_a_cycle(&mut self) {
        let names: Vec<_> = self.generated.document.fragments().map(|fragment| fragment.name.clone()).collect();
        let Some(name) = self.choices.pick(&names).cloned() else { return };
        let chosen = self.choices.below(names.len());
        if let Some(fragment) = self.generated.document.fragments_mut().nth(chosen) {
            fragment.selections.push(Selection::Spread(Spread { name, directives: Vec::new() }));
        }
    }

    fn repeat_fragment(&mut self) {
        let again = self.generated.document.fragments().next().cloned();
        self.generated.document.definitions.extend(again.map(Definition::Fragment));
    }

    fn add_unused_fragment(&mut self) {
        let selections = vec![Selection::Field(Field::type_name())];
        let fragment = Fragment { name: "Unused".to_owned(), on: self.type_name(), directives: Vec::new(), selections };
        self.generated.document.definitions.push(Definition::Fragment(fragment));
    }

    fn change_type_condition(&mut self) {
        let (on, index) = (self.type_name(), self.choices.below(4));
        if self.choices.chance(50) {
            let mut fragments: Vec<_> = self.generated.document.fragments_mut().collect();
            let length = fragments.len();
            if length > 0 {
                fragments[index % length].on = on;
            }
            return;
        }
        self.set(|set, choices| {
            let index = choices.below(set.len());
            let selections = vec![set.remove(index)];
            set.push(Selection::Inline(Inline { on: Some(on), directives: Vec::new(), selections }));
        });
    }

    fn change_operation(&mut self) {
        match self.choices.below(4) {
            0 => self.operation(|operation| operation.kind = OperationKind::Mutation),
            1 => self.operation(|operation| operation.kind = OperationKind::Subscription),
            2 => self.operation(|operation| operation.name = None),
            _ => {
                let again = self.generated.document.operations().next().cloned();
                self.generated.document.definitions.extend(again.map(Definition::Operation));
            }
        }
    }

    fn remove_variable(&mut self) {
        let index = self.choices.below(6);
        self.operation(|operation| {
            if !operation.variables.is_empty() {
                operation.variables.remove(index % operation.variables.len());
            }
        });
    }

    fn add_unused_variable(&mut self) {
        let ty = self.type_name();
        let default = if self.choices.chance(30) { Some(self.any_value()) } else { None };
        let default = default.filter(|value| !matches!(value, Value::Variable(_)));
        let definition = VariableDefinition { name: "unused".to_owned(), ty, default, directives: Vec::new() };
        self.operation(|operation| operation.variables.push(definition));
    }

    fn repeat_variable(&mut self) {
        self.operation(|operation| {
            let again = operation.variables.first().cloned();
            operation.variables.extend(again);
        });
    }

    fn change_type_of_variable(&mut self) {
        let (name, index, form) = (self.type_name(), self.choices.below(6), self.choices.below(6));
        self.operation(|operation| {
            let length = operation.variables.len();
            if length == 0 {
                return;
            }
            let ty = &mut operation.variables[index % length].ty;
            *ty = match form {
                0 => name,
                1 => format!("{name}!"),
                2 => format!("[{ty}]"),
                3 => format!("[{ty}]!"),
                4 if ty.ends_with('!') => ty.trim_end_matches('!').to_owned(),
                _ => format!("{}!", ty.trim_end_matches('!')),
            };
        });
    }

    fn change_default(&mut self) {
        let (index, value) = (self.choices.below(6), self.any_value());
        // A default cannot have a variable by the grammar.
        let default = Some(value).filter(|value| !matches!(value, Value::Variable(_)));
        self.operation(|operation| {
            let length = operation.variables.len();
            if length > 0 {
                operation.variables[index % length].default = default;
            }
        });
    }

    fn change_given_values(&mut self) {
        let (index, value) = (self.choices.below(6), self.any_value());
        let length = self.generated.variables.len();
        if length > 0 {
            self.generated.variables[index % length].given =
                Some(value).filter(|value| !matches!(value, Value::Variable(_)));
        }
    }

    /// Gives a field the response key of another one in its selection set.
    fn use_key_of_another_field(&mut self) {
        self.set(|set, choices| {
            let keys: Vec<_> = set
                .iter()
                .filter_map(|selection| match selection {
                    Selection::Field(field) => Some(field.key().to_owned()),
                    Selection::Inline(_) | Selection::Spread(_) => None,
                })
                .collect();
            let Some(key) = choices.pick(&keys).cloned() else { return };
            let index = choices.below(set.len());
            if let Some(Selection::Field(field)) = set.get_mut(index) {
                field.alias = Some(key);
            }
        });
    }

    fn repeat_field_with_other_arguments(&mut self) {
        let (value, index) = (self.any_value(), self.choices.below(7));
        let times = if self.choices.chance(10) { 300 } else { 1 };
        self.set(|set, choices| {
            let at = choices.below(set.len());
            let Some(Selection::Field(field)) = set.get(at) else { return };
            let mut field = field.clone();
            let length = field.arguments.len();
            if length > 0 {
                field.arguments[index % length].value = value;
            }
            let again: Vec<_> = std::iter::repeat_n(Selection::Field(field), times).collect();
            set.extend(again);
        });
    }

    /// Gives a connection both ends.
    fn add_end(&mut self) {
        let name = if self.choices.chance(50) { "first" } else { "last" };
        let value = self.any_value();
        self.field(
            |field| field.arguments.iter().any(|argument| matches!(argument.value, Value::Size(_))),
            |field| field.arguments.push(Argument { name: name.to_owned(), value }),
        );
    }

    fn nest_deeply(&mut self) {
        let levels = 1 + self.choices.below(60);
        self.set(|set, _| {
            for _ in 0..levels {
                let selections = std::mem::take(set);
                set.push(Selection::Inline(Inline { on: None, directives: Vec::new(), selections }));
            }
        });
    }

    fn choose_another_operation(&mut self) {
        self.generated.operation_name = match self.choices.below(3) {
            0 => None,
            1 => Some("Q0".to_owned()),
            _ => Some("Nobody".to_owned()),
        };
    }
}
