//! How a task's loss and margins go together: a parameter that all tasks have.

use multiplane_core::parameter::{ParameterError, read};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The parameter's name.
const NAME: &str = "rescaling";

/// What the loss of a labelling does to the margin that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rescaling {
    /// The margin must be as large as the loss: `max_y Delta(y) + <w, phi(x, y) - phi(x, y_i)>`.
    #[default]
    Margin,
    /// The margin must be 1, and the loss multiplies what it falls short of that:
    /// `max_y Delta(y) (1 + <w, phi(x, y) - phi(x, y_i)>)` (Tsochantaridis et al., JMLR 2005).
    Slack,
}

/// The parameter as the schemas of tasks show it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Of {
    /// What the loss does to margins: `margin` asks for margins as large as the loss, `slack` for margins of 1 whose
    /// violation is multiplied by the loss. `slack` asks the oracle several times per answer, except where labellings are so
    /// few that they are listed.
    rescaling: Rescaling,
}

impl Rescaling {
    /// Takes the parameter out of a task's table.
    ///
    /// # Errors
    ///
    /// A value that it does not have.
    pub fn take(params: &mut Map<String, Value>) -> Result<Rescaling, ParameterError> {
        let found = params.remove(NAME).map(|value| (NAME.to_owned(), value));
        Ok(read::<Of>(&Value::Object(found.into_iter().collect()))?.rescaling)
    }

    /// Writes the parameter into a task's table.
    pub fn put(self, params: &mut Map<String, Value>) {
        params.insert(NAME.into(), serde_json::to_value(self).unwrap_or_default());
    }

    /// Returns a task's schema with the parameter, last.
    pub(crate) fn documented(mut schema: Schema) -> Schema {
        let mut own = schemars::schema_for!(Of);
        for part in ["properties", "$defs"] {
            let Some(Value::Object(added)) = own.remove(part) else { continue };
            let there = schema.ensure_object().entry(part).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(there) = there {
                there.extend(added);
            }
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::TASKS;
    use multiplane_core::parameter::from_schema;
    use serde_json::json;

    /// Every task has it, documented, and takes it apart from its own parameters; no other value is taken.
    #[test]
    fn every_task_has_it() {
        for entry in TASKS {
            let params = from_schema(&(entry.schema)());
            let param = params.iter().find(|param| param.name == NAME).unwrap();
            assert!(!param.doc.is_empty() && param.default == json!("margin"), "{}", entry.name);
            let mut table = (entry.defaults)();
            assert_eq!(table[NAME], "margin", "{}", entry.name);
            if entry.is_program {
                table["command"] = json!(["true"]);
            }
            for value in ["margin", "slack"] {
                table[NAME] = json!(value);
                assert_eq!((entry.parse)(&table).unwrap().value()[NAME], value, "{}", entry.name);
            }
            table[NAME] = json!("both");
            let told = (entry.parse)(&table).unwrap_err().to_string();
            assert!(told.contains("rescaling") && told.contains("slack"), "{}: {told}", entry.name);
        }
    }
}
