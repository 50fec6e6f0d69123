//! From columns of text to rows of features: templates say what is looked at, a dictionary numbers what was seen.

mod features;
mod template;
mod value;

pub use features::Features;
pub use template::{Template, TemplateList, TextOrList};
