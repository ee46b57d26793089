//! The results of introspection as JSON. They become literals of the response template.

use crate::plan::response_template::TemplateWriter;
use crate::query::bind::introspection::Constant;

/// Appends a constant.
pub(super) fn constant(value: &Constant<'_>, template: &mut TemplateWriter) {
    match value {
        Constant::Null => template.literal("null"),
        Constant::Boolean(true) => template.literal("true"),
        Constant::Boolean(false) => template.literal("false"),
        Constant::Text(text) => template.text(text),
        Constant::List(values) => {
            template.literal("[");
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    template.literal(",");
                }
                constant(value, template);
            }
            template.literal("]");
        }
        Constant::Object(fields) => {
            template.literal("{");
            for (index, (key, value)) in fields.iter().enumerate() {
                template.bare_key(key, index == 0);
                constant(value, template);
            }
            template.literal("}");
        }
    }
}
