//! Answers that are constants: written into the shape once, where it is made, and asked of nobody.

use crate::plan::response_template::TemplateWriter;
use crate::query::bind::introspection::Constant;

/// Writes a constant.
pub(super) fn constant(value: &Constant<'_>, shape: &mut TemplateWriter) {
    match value {
        Constant::Null => shape.literal("null"),
        Constant::Boolean(true) => shape.literal("true"),
        Constant::Boolean(false) => shape.literal("false"),
        Constant::Text(text) => shape.text(text),
        Constant::List(values) => {
            shape.literal("[");
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    shape.literal(",");
                }
                constant(value, shape);
            }
            shape.literal("]");
        }
        Constant::Object(fields) => {
            shape.literal("{");
            for (index, (key, value)) in fields.iter().enumerate() {
                shape.bare_key(key, index == 0);
                constant(value, shape);
            }
            shape.literal("}");
        }
    }
}
