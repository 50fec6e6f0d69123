//! Slack rescaling: answers against a look at every labelling, solvers against an independent one, certificates against the
//! judge.

use multiplane::{PrimalClaim, RunOptions, RunSpec, Session, Summary, Verdict, dataset, synth};
use multiplane_core::oracle::{MaxOracle, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::run::{Stop, StopReason};
use multiplane_solvers::find;
use multiplane_tasks::builtin::graph::{GraphSpec, Pairwise};
use multiplane_tasks::builtin::mrf::MrfSpec;
use multiplane_testkit::contract::run;
use multiplane_testkit::reference;
use multiplane_testkit::small::{self, Small};
use serde_json::{Value, json};

/// One problem of every structure.
fn problems(seed: u64) -> Vec<(&'static str, Small)> {
    let kinds = ["chain", "multiclass", "binary"];
    vec![
        (kinds[(seed % 3) as usize], small::random(seed)),
        ("multilabel", small::random_sets(seed)),
        ("tree", small::tree(seed)),
        ("arborescence", small::arborescence(seed, 3)),
        ("graph", small::graph(seed, &GraphSpec { pairwise: Pairwise::Full, ..GraphSpec::default() }).0),
        ("mrf", small::mrf(seed, &MrfSpec::default())),
    ]
}

/// What answers of one structure came to.
#[derive(Debug, Default)]
struct Tally {
    answers: usize,
    best: usize,
    proven: usize,
    calls: u64,
    short: f64,
    above: f64,
    largest: f64,
}

/// Where labellings are listed, answers are the best. Where the margin oracle is searched, the plane is one of the
/// example's, the best labelling lies between it and the bound, and what is said to be exact is.
#[test]
fn answers_are_what_a_look_at_all_labellings_says() {
    let mut tallies = std::collections::BTreeMap::<&str, Tally>::new();
    for seed in 0..300 {
        for ((kind, listed), (_, searched)) in problems(seed).into_iter().zip(problems(seed)) {
            let (listed, searched) = (listed.slack_rescaled(true), searched.slack_rescaled(false));
            let (mut by_list, mut by_search, mut plane) = (listed.oracle(), searched.oracle(), Plane::new());
            let mut rng = Rng::new(seed, 77);
            let tally = tallies.entry(kind).or_default();
            for block in 0..listed.blocks() {
                for size in [0.0, 0.1, 1.0, 10.0] {
                    let draw = |_| size * (2.0 * rng.unit() - 1.0);
                    let w: Vec<f64> = (0..listed.dim).map(draw).collect();
                    let best = listed.hinge(block, &w);
                    let near = 1e-12 * (1.0 + best.abs() + size);
                    let name = format!("{} block {block} at {size}", listed.name);
                    let quality = by_list.maximize(block, &w, &mut plane).unwrap();
                    let found = plane.view().score(&w);
                    assert!(quality == Quality::Exact && (found - best).abs() <= near, "{name}: {found}, {best}");

                    let quality = by_search.maximize(block, &w, &mut plane).unwrap();
                    let found = plane.view().score(&w);
                    let is_one = listed.planes[block].iter().any(|(star, circ)| {
                        let mut rest = star.clone();
                        plane.view().star.each(|k, value| rest[k] -= value);
                        let off = rest.iter().fold((circ - plane.view().circ).abs(), |off, rest| off.max(rest.abs()));
                        off <= 1e-12
                    });
                    assert!(is_one, "{name}: not a plane of the example");
                    let bound = match quality {
                        Quality::Exact => found,
                        Quality::UpperBound(bound) => bound,
                        Quality::Heuristic => f64::INFINITY,
                    };
                    assert!(found <= best + near && best <= bound + near, "{name}: {found} {best} {bound}");
                    tally.answers += 1;
                    tally.best += usize::from(best - found <= near);
                    tally.proven += usize::from(quality == Quality::Exact);
                    tally.calls += u64::from(plane.inner_calls());
                    tally.largest += best;
                    tally.short += best - found;
                    tally.above += if bound.is_finite() { bound - best } else { 0.0 };
                }
            }
        }
    }
    for (kind, tally) in tallies {
        println!("{kind}: {tally:?}");
        assert!(tally.proven > 0 && tally.best >= tally.proven && tally.best > tally.answers / 2, "{kind}: {tally:?}");
    }
}

/// Solvers come to the optimum that an interior-point method finds with all rescaled planes, with a certificate.
#[test]
fn solvers_come_to_the_optimum() {
    for (name, gap) in [("bcfw", 1e-2), ("mp-bcfw", 1e-2), ("one-slack", 1e-6), ("n-slack", 1e-6), ("auto", 1e-6)] {
        let entry = find(name).unwrap();
        let stop = || Stop { gap: Some(gap.into()), passes: Some(5000.0), ..Stop::default() };
        for seed in 0..20 {
            let (problem, lambda) = (small::random(seed), [1.0, 0.1][(seed % 2) as usize]);
            let problem = problem.slack_rescaled(true);
            let (optimum, doubt) = reference::optimum(&problem, lambda);
            let (outcome, _) = run(entry, (entry.preset)(), &problem, lambda, seed, stop());
            let (found, name) = (outcome.certificate, format!("{name} on {}", problem.name));
            assert!(outcome.stop_reason == StopReason::Gap && found.certified, "{name}: {found:?}");
            assert!((found.primal - optimum).abs() <= gap + doubt, "{name}: {} for {optimum}", found.primal);
            let count = outcome.slack;
            assert_eq!((count.exact, count.margin_calls), (count.answers, count.answers), "{name}");
        }
    }
}

/// Where the margin oracle is searched, what is certified is true: the optimum lies between the bounds.
#[test]
fn certificates_of_searches_are_true() {
    let (mut reached, mut runs) = (0, 0);
    for seed in 0..30 {
        for problem in [small::random(3 * seed), small::tree(seed), small::mrf(seed, &MrfSpec::default())] {
            let (problem, lambda) = (problem.slack_rescaled(false), 0.1);
            let (optimum, doubt) = reference::optimum(&problem, lambda);
            let entry = find("mp-bcfw").unwrap();
            let stop = Stop { gap: Some(1e-4.into()), passes: Some(300.0), ..Stop::default() };
            let (outcome, _) = run(entry, (entry.preset)(), &problem, lambda, seed, stop);
            let found = outcome.certificate;
            let truth = problem.primal(&outcome.w, lambda);
            let (dual, slack) = (found.dual.unwrap(), doubt + 1e-9);
            let holds = dual <= optimum + slack && optimum <= found.primal + slack && truth <= found.primal + slack;
            assert!(holds, "{}: {found:?}, optimum {optimum}, P {truth}", problem.name);
            reached += usize::from(outcome.stop_reason == StopReason::Gap);
            runs += 1;
        }
    }
    assert!(reached > 0 && reached < runs, "{reached} of {runs} to the gap");
}

fn train(spec: Value, data: impl multiplane::dataset::Data + 'static) -> (Session, multiplane::Model, Summary) {
    let spec = RunSpec::from_tree(spec.as_object().unwrap()).unwrap();
    let session = Session::on(spec, dataset::Dataset::new(data), None).unwrap();
    let (model, summary) = session.run(RunOptions::default()).unwrap();
    (session, model, summary)
}

/// The judge finds the primal values of searched and of listed labellings, on features and with a kernel, and finds it out
/// where a value is too low or much too high.
#[test]
fn the_judge_agrees() {
    let chain = || synth::synthetic_words(40, 0);
    let check = |session: &Session, model: &multiplane::Model, factor: f64| {
        let (certificate, point) = (model.info.certificate, (&model.w[..], session.lambda()));
        let stated = (factor * certificate.primal, certificate.gap);
        PrimalClaim::of(session.problem(), None, point, stated, 1).unwrap()
    };
    let (session, model, summary) = train(
        json!({"task": {"name": "chain", "rescaling": "slack"}, "stop": {"passes": 5}, "clock": "work"}),
        chain(),
    );
    let cost = summary.slack.unwrap();
    assert!(cost.margin_calls > cost.slack_answers && cost.slack_exact < cost.slack_answers, "{cost:?}");
    let claim = check(&session, &model, 1.0);
    assert_eq!(claim.verdict, Verdict::True, "{claim:?}");
    assert_eq!(check(&session, &model, 0.999).verdict, Verdict::Untrue);
    assert_eq!(check(&session, &model, 1.01).verdict, Verdict::Untrue);
}

/// Kernels, sets of labels, users' losses: the judge agrees with what was listed. With the 0-1 loss the problem is that of margins.
#[test]
fn listed_labellings_are_judged_and_a_loss_of_one_changes_nothing() {
    let rows = "0 1:1 2:0.3\n1 2:1 3:-0.4\n2 1:0.2 3:1\n0 1:0.8 3:0.3\n1 1:0.6 2:0.7\n2 2:0.6 3:0.5\n";
    let path = std::env::temp_dir().join(format!("slack-rows-{}.libsvm", std::process::id()));
    std::fs::write(&path, rows).unwrap();
    let train = |task: Value| {
        let spec = json!({"task": task, "data": {"path": path.to_str()}, "lambda": 0.1, "stop": {"gap": 1e-4, "passes": 500}, "clock": "work"});
        let session = Session::open(RunSpec::from_tree(spec.as_object().unwrap()).unwrap()).unwrap();
        let (model, summary) = session.run(RunOptions::default()).unwrap();
        let certificate = model.info.certificate;
        assert!(certificate.certified && certificate.gap.unwrap() <= 1e-4, "{task}: {certificate:?}");
        let vocabulary = &model.info.provenance.vocabulary;
        let read = multiplane::read_data(&path, Some(multiplane::format_by_name("libsvm").unwrap()), None);
        let problem = session.spec().task_entry().unwrap();
        let problem =
            problem.open(&Value::Object(session.spec().task.params.clone()), read.unwrap(), Some(vocabulary)).unwrap();
        let point = (&model.w[..], session.lambda());
        let claim = PrimalClaim::of(&*problem, None, point, (certificate.primal, certificate.gap), 1).unwrap();
        assert_eq!(claim.verdict, Verdict::True, "{task}: {claim:?}");
        (certificate.primal, summary.slack)
    };
    let costs = json!({"name": "cost-matrix", "matrix": [[0, 1, 4], [1, 0, 1], [4, 1, 0]]});
    for (kernel, storage) in [(json!("none"), "f32"), (json!({"name": "rbf", "gamma": 0.5}), "f64")] {
        let with = |rescaling: &str, loss: &Value| {
            train(
                json!({"name": "multiclass", "kernel": kernel, "kernel_rows": {"storage": storage}, "rescaling": rescaling, "loss": loss}),
            )
        };
        let ((margin, none), (slack, some)) = (with("margin", &json!("hamming")), with("slack", &json!("hamming")));
        assert!((margin - slack).abs() <= 1e-4, "{margin} {slack}");
        assert!(none.is_none() && some.is_some_and(|cost| cost.slack_exact == cost.slack_answers));
        let ((margin, _), (slack, _)) = (with("margin", &costs), with("slack", &costs));
        assert!((margin - slack).abs() > 1e-3, "{margin} {slack}");
    }
    std::fs::remove_file(&path).unwrap();
}

/// What cannot be is refused before training: a part of the score without a weight, a solver that sums over labellings.
#[test]
fn what_cannot_be_is_refused() {
    let open = |spec: Value, data: dataset::Dataset| {
        let spec = RunSpec::from_tree(spec.as_object().unwrap()).unwrap();
        Session::on(spec, data, None).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let words = || dataset::Dataset::new(synth::synthetic_words(10, 0));
    for solver in ["bcpl", "eg"] {
        let told = open(json!({"task": {"name": "chain", "rescaling": "slack"}, "solver": solver}), words());
        let why = "can sum over labellings, and under slack rescaling (task.rescaling=slack) none can";
        assert!(told.contains(why) && !told.contains("Tasks that can"), "{told}");
        assert!(told.contains("solvers that do without: auto, "), "{told}");
    }
    let graphs = || dataset::Dataset::new(synth::synthetic_graphs(3, 0));
    let told = open(json!({"task": {"name": "graph", "rescaling": "slack", "potts": 0.5}}), graphs());
    assert!(told.contains("task.potts = 0"), "{told}");
    assert_eq!(open(json!({"task": {"name": "graph", "rescaling": "slack"}}), graphs()), "");
    let told = open(json!({"task": {"name": "chain", "rescaling": "slack"}, "solver": "auto"}), words());
    assert_eq!(told, "");
}
