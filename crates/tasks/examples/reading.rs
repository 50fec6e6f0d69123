//! Reads a file and opens a task on it, and no more: what the process costs is what reading costs.
//!
//! ```text
//! reading TASK FILE [PARAMETERS]          PARAMETERS of the task as JSON
//! ```

use std::path::Path;

use multiplane_tasks::data::read;
use multiplane_tasks::registry::find;
use serde_json::Value;

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let task = find(&given[0]).expect("a task");
    let parameters: Value = given.get(2).map_or(Value::Null, |text| serde_json::from_str(text).expect("JSON"));
    let parameters = if parameters.is_null() { (task.defaults)() } else { parameters };
    let data = read(Path::new(&given[1]), None).expect("data");
    let problem = (task.parse)(&parameters).expect("parameters").open(data, None).expect("a problem");
    println!("{} examples, {} weights", problem.blocks(), problem.dim());
}
