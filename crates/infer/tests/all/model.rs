//! Refusals of a model: missing parts, and energies whose sums would turn into what forbids.

use multiplane_infer::{Mrf, Table, Term};

fn refused<T: std::fmt::Debug>(result: Result<T, multiplane_infer::InferError>, words: &[&str]) {
    let message = result.unwrap_err().to_string();
    assert!(words.iter().all(|word| message.contains(word)), "{message}");
}

fn pair() -> Mrf {
    let mut mrf = Mrf::new();
    mrf.add_node(&[0.0, 1.0]).unwrap();
    mrf.add_node(&[0.0, 1.0, 2.0]).unwrap();
    mrf
}

/// Nodes and edges that do not exist are refused, not looked up.
#[test]
fn missing_parts_are_refused() {
    let mut mrf = pair();
    refused(mrf.set_unary(7, &[0.0, 1.0]), &["node 7", "only 2"]);
    refused(mrf.set_weight(7, 1.0), &["edge 7", "only 0"]);
}

/// A refused change leaves the model as it was.
#[test]
fn overflowing_energies_are_refused() {
    let mut mrf = pair();
    let table = |size: f64| Term::Table(Table::new(3, vec![0.0, -size, 1.0, f64::INFINITY, 2.0, 3.0]).unwrap());
    let large = mrf.add_term(table(1e200)).unwrap();
    let linear = mrf.add_term(Term::Linear { cap: f64::INFINITY }).unwrap();
    let capped = mrf.add_term(Term::Quadratic { cap: 1e308 }).unwrap();
    let before = mrf.clone();
    refused(mrf.add_edge(0, 1, large, 1e200), &["edge 0", "1e200", "inf", "1e300"]);
    refused(mrf.add_edge(0, 1, linear, 1e300), &["edge 0", "2e300"]);
    refused(mrf.add_node(&[0.0, 1e308]), &["node 2", "1e308"]);
    refused(mrf.add_constant(1e308), &["constant", "1e308"]);
    refused(mrf.set_unary(0, &[-1e308, f64::INFINITY]), &["node 0", "1e308"]);
    assert_eq!(mrf, before);

    mrf.add_edge(0, 1, large, 1e99).unwrap();
    mrf.add_edge(0, 1, capped, 1.0).unwrap(); // labels are at most 2 apart
    refused(mrf.set_weight(0, 1e101), &["edge 0 of weight 1e101", "at most 1e300"]);
    assert_eq!(mrf.edges()[0].weight, 1e99);
    mrf.add_constant(9e299).unwrap();
    refused(mrf.add_constant(9e299), &["constant"]);
    assert_eq!(mrf.constant(), 9e299);
    // Each alone is small enough, all together are not.
    refused(mrf.set_unary(0, &[0.0, 2e299]), &["node 0", "2e299", "1e300"]);
    mrf.add_constant(-9e299).unwrap();
    mrf.set_unary(0, &[0.0, 2e299]).unwrap(); // there is room again
    assert!(mrf.energy(&[0, 1]).is_finite());
}

/// A column beyond a row's end is not the next row.
#[test]
#[should_panic(expected = "out of bounds")]
fn columns_end_with_their_row() {
    let mut mrf = pair();
    let table = mrf.add_term(Term::Table(Table::new(3, vec![0.0; 6]).unwrap())).unwrap();
    mrf.add_edge(0, 1, table, 1.0).unwrap();
    mrf.edge_energy(&mrf.edges()[0], 0, 3);
}
