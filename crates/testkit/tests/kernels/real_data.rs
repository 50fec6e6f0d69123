//! The linear kernel on real data.

use multiplane_core::regularizer::Regularizer;
use multiplane_core::run::{Evaluate, Stop};
use multiplane_tasks::data;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::registry;
use serde_json::{Value, json};

use super::problems::run;
use super::public::file;

fn read(test: &str, name: &str) -> Option<Dataset> {
    file(test, name).map(|path| data::read(&path, None).unwrap())
}

/// F of MP-BCFW after some passes, as it is before its rounding is taken off, and the calls that it took.
fn value(task: &str, parameters: &Value, data: Dataset, passes: f64) -> (f64, u64) {
    let entry = registry::find(task).unwrap();
    let mut all = (entry.defaults)();
    parameters.as_object().unwrap().iter().for_each(|(key, value)| all[key] = value.clone());
    let problem = entry.open(&all, data, None).unwrap();
    let lambda = 1.0 / problem.blocks() as f64;
    let regularizer = Regularizer::from(lambda).with_metric(problem.metric().unwrap());
    let mut planes = (multiplane_solvers::find("mp-bcfw").unwrap().preset)()["planes"].clone();
    planes["slope_rule"] = false.into(); // it goes by what calls cost
    planes["max_passes"] = 3.into();
    let stop = (Stop { passes: Some(passes), ..Stop::default() }, Evaluate::Pass);
    let oracles = [problem.oracle().unwrap(), problem.oracle().unwrap()];
    let outcome = run(("mp-bcfw", &json!({"planes": planes})), oracles, regularizer, 0, stop).0;
    (outcome.progress.dual.unwrap(), outcome.cost.oracle_calls)
}

/// With the linear kernel, MP-BCFW makes the linear code's steps: F is the same to 1e-9 after one pass and after more.
fn linear_kernel(task: &str, data: &Dataset) {
    for passes in [1.0, 3.0] {
        let (expected, calls) = value(task, &json!({}), data.clone(), passes);
        let kernel = json!({"kernel": {"name": "linear"}, "kernel_rows": {"storage": "f64"}});
        let (found, its_calls) = value(task, &kernel, data.clone(), passes);
        println!("{task}, {passes} passes: {found:e}, {expected:e}: {:e} apart", found - expected);
        assert_eq!(its_calls, calls);
        assert!(expected > 1e-4 && (found - expected).abs() <= 1e-9, "{task}: {found:e} instead of {expected:e}");
    }
}

#[test]
fn linear_kernel_of_letters() {
    let Some(data) = read("linear_kernel_of_letters", "ocr/letter.data.gz") else { return };
    linear_kernel("chain", &data.select_folds(&[0]).unwrap());
}

#[test]
fn linear_kernel_of_digits() {
    let Some(data) = read("linear_kernel_of_digits", "usps/usps.t.gz") else { return };
    linear_kernel("multiclass", &data);
}
