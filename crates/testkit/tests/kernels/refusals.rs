//! Solvers that cannot train with a kernel say so, and which can.

use multiplane_core::regularizer::{Constraint, Regularizer};
use multiplane_solvers::{SOLVERS, find};
use multiplane_tasks::kernel::Kernel;
use serde_json::{Value, json};

use crate::problems::{kernel, matrix, rows};

/// What building a solver with a kernel is refused with.
fn refusal(name: &str, changes: &Value) -> Option<String> {
    let (x, _) = rows(1, 3);
    let regularizer = Regularizer::from(0.1).with_metric(kernel(matrix(Kernel::Linear, &x), x.len(), 3));
    let entry = find(name).unwrap();
    let mut parameters = (entry.preset)();
    changes.as_object().unwrap().iter().for_each(|(key, value)| parameters[key] = value.clone());
    entry.build(&parameters, x.len(), 3 * x.len(), regularizer).err().map(|error| multiplane_solvers::refusal(&error))
}

/// Each solver is built or refused as its line of the registry says; a refusal names the solver, and those to take.
#[test]
fn refused_solvers_are_named() {
    for entry in SOLVERS.iter() {
        let refused = refusal(entry.name, &json!({}));
        assert_eq!(refused.is_none(), entry.takes_kernels(), "{}: {refused:?}", entry.name);
        if let Some(refused) = refused {
            let expected = format!("solver {} does not train with a kernel; these do: auto, bcfw, ", entry.name);
            assert!(refused.starts_with(&expected) && refused.contains(", one-slack, "), "{refused}");
        }
    }
    for name in ["batch-fw", "spl-kl"].into_iter().filter_map(find) {
        assert!(refusal(name.name, &json!({})).is_some(), "{}", name.name);
    }
    assert!(SOLVERS.iter().any(|entry| !entry.takes_kernels()), "none is refused");
}

/// Parameters that cannot go with a kernel are told apart from solvers.
#[test]
fn refused_parameters_are_told_apart() {
    let cases = [
        ("bcfw-gap", json!({"gap_step": "batch"})),
        ("one-slack", json!({"solutions": {"name": "m-best", "planes": 3, "combine": "dop1"}})),
    ];
    for (name, changes) in cases {
        let refused = refusal(name, &changes).unwrap();
        let expected = format!("solver {name} does not train with a kernel at these parameters; these do: auto, ");
        assert!(refused.starts_with(&expected), "{refused}");
        assert_eq!(refusal(name, &json!({})), None);
    }
}

/// What a kernel's regulariser may not have.
#[test]
fn priors_and_constraints_are_refused() {
    let (x, _) = rows(1, 3);
    let dim = 3 * x.len();
    let plain = Regularizer::from(0.1).with_metric(kernel(matrix(Kernel::Linear, &x), x.len(), 3));
    let prior = plain.clone().with_prior(vec![0.0; 2 * dim]);
    let constrained = plain.clone().with_constraints(vec![Constraint::NonNegative; dim]);
    assert_eq!(plain.fault(dim), None);
    for regularizer in [prior, constrained] {
        assert_eq!(regularizer.fault(dim).unwrap(), "a kernel's weights have no prior and no constraints");
    }
}
