//! `lambda = cv`: what is chosen, from what, and what it takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use multiplane::dataset::Dataset;
use multiplane::solvers::SOLVERS;
use multiplane::synth::{single_letters, synthetic_scenes, synthetic_words};
use multiplane::{Error, Lambda, LambdaChoice, RunOptions, RunSpec, Session, Summary, choose_lambda};
use serde_json::{Value, json};

fn spec(tree: Value) -> RunSpec {
    let Value::Object(tree) = tree else { unreachable!() };
    RunSpec::from_tree(&tree).unwrap()
}

fn choose(tree: Value, data: &Dataset) -> Result<LambdaChoice, Error> {
    choose_lambda(&spec(tree), data, None, &mut |_| ())
}

fn words(n: usize) -> Dataset {
    Dataset::new(synthetic_words(n, 3))
}

fn train(tree: Value, data: Dataset, test: Dataset) -> (Vec<u8>, Summary) {
    let session = Session::on_choosing(spec(tree), data, Some(test), None, &mut |_| ()).unwrap();
    let (model, summary) = session.run(RunOptions::default()).unwrap();
    (model.to_bytes().unwrap(), summary)
}

/// What is chosen has the smallest of the mean losses, and the largest lambda of those; every example is held out once
/// where they are few; points are equal factors apart and fall; the first fold's curve holds those of all folds.
#[test]
fn the_choice_is_that_of_the_losses() {
    let choice = choose(json!({"task": "chain", "lambda": "cv"}), &words(60)).unwrap();
    assert_eq!((choice.folds, choice.held_out), (5, 60));
    let best = choice.losses.iter().map(|row| row.mean_loss).fold(f64::INFINITY, f64::min);
    let chosen = choice.losses.iter().find(|row| row.mean_loss == best).unwrap();
    assert_eq!(chosen.lambda, choice.lambda);
    for rows in [&choice.losses, &choice.first_fold] {
        for pair in rows.windows(2) {
            assert!((pair[0].lambda / pair[1].lambda - 10f64.sqrt()).abs() < 1e-9, "{rows:?}");
        }
    }
    assert!(choice.losses.iter().all(|row| choice.first_fold.iter().any(|first| first.lambda == row.lambda)));
    assert!(choice.losses.len() < choice.first_fold.len() && choice.calls > 60 * choice.folds as u64);
}

/// A run that names no lambda takes the largest of the search whose loss is nearly the best; the search
/// repeats, and is there neither beside a stop or another solver nor where few variables can be held out.
#[test]
fn a_short_search_chooses_where_nothing_is_named() {
    let named = |more: Value| {
        let mut tree = json!({"task": "chain", "lambda": "auto", "clock": "work"});
        tree.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        tree
    };
    let others = || Dataset::new(synthetic_words(200, 4));
    let (bytes, summary) = train(named(json!({})), words(600), others());
    let choice = summary.lambda_choice.unwrap();
    assert_eq!((choice.folds, choice.held_out, choice.lambda), (1, 120, summary.lambda));
    let best = choice.losses.iter().map(|row| row.mean_loss).fold(f64::INFINITY, f64::min);
    let (larger, rest): (Vec<_>, Vec<_>) = choice.losses.iter().partition(|row| row.lambda > choice.lambda);
    assert!(rest[0].mean_loss <= 1.1 * best && larger.iter().all(|row| row.mean_loss > rest[0].mean_loss));
    assert!(choice.losses.windows(2).all(|pair| pair[0].lambda > pair[1].lambda), "{:?}", choice.losses);
    assert!(choice.losses.last().unwrap().lambda >= 1.0 / 600.0 * (1.0 - 1e-12));
    assert_eq!(train(named(json!({})), words(600), others()).0, bytes);
    for (more, n) in [(json!({"stop": {"gap": "1%"}}), 600), (json!({"solver": "bcfw"}), 600), (json!({}), 20)] {
        let (_, summary) = train(named(more), words(n), others());
        assert!(summary.lambda_choice.is_none() && summary.lambda == 1.0 / n as f64);
    }
}

/// On labels that are nearly random the search goes up from its first point, and ends.
#[test]
fn noise_wants_large_lambdas() {
    let file = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
    let mut state = 1u64;
    let mut unit = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
    };
    let mut text = String::new();
    for _ in 0..3000 {
        let row: Vec<f64> = (0..100).map(|_| unit()).collect();
        let label = if row[0] + 3.0 * unit() > 0.0 { "yes" } else { "no" };
        row.iter().for_each(|value| text += &format!("{value},"));
        text += &format!("{label}\n");
    }
    std::fs::write(file.path(), text).unwrap();
    let tree = json!({"task": "binary", "lambda": "auto", "clock": "work", "data": {"path": file.path()}});
    let session = Session::open_choosing(spec(tree), None, &mut |_| ()).unwrap();
    let (_, summary) = session.run(RunOptions::default()).unwrap();
    let choice = summary.lambda_choice.unwrap();
    assert!(summary.certificate.certified && choice.losses.len() > 2, "{:?}", choice.losses);
    assert!(summary.lambda > 10.0 / 3000.0, "{:?}", choice.losses);
}

/// Where large lambdas predict the frequent label alone, that is no best point to stop at: smaller ones are tried,
/// and other folds try them, too.
#[test]
fn rare_labels_are_looked_for() {
    let mut text = String::new();
    for k in 0..120u32 {
        let rare = k % 8 == 0;
        let noise = f64::from(k.wrapping_mul(2_654_435_761) >> 16) / 65536.0 - 0.5;
        let value = if rare { 0.6 } else { -0.3 } + noise;
        text += &format!("{value},1,{}\n", if rare { "rare" } else { "often" });
    }
    let file = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
    std::fs::write(file.path(), text).unwrap();
    let data = multiplane::data::read(file.path(), None).unwrap();
    for seed in 0..5 {
        let tree = json!({"task": "multiclass", "lambda": "cv", "clock": "work", "seed": seed});
        let choice = choose(tree, &data).unwrap();
        let lambdas: Vec<f64> = choice.losses.iter().map(|row| row.lambda).collect();
        assert!(!choice.is_plateau && choice.lambda < choice.first_fold[0].lambda, "seed {seed}: {choice:?}");
        assert!(lambdas.is_sorted_by(|a, b| a > b) && lambdas.contains(&choice.lambda), "{lambdas:?}");
    }
}

/// Few noisy examples are fit by heart at 1/n: the chosen lambda is larger, and predicts others better.
#[test]
fn the_choice_generalises() {
    let (few, others) = (|| words(80), || Dataset::new(synthetic_words(200, 4)));
    let (_, by_default) = train(json!({"task": "chain"}), few(), others());
    let (_, by_choice) = train(json!({"task": "chain", "lambda": "cv"}), few(), others());
    assert!(by_choice.lambda > by_default.lambda && by_choice.certificate.certified);
    let loss = |summary: &Summary| summary.losses.test.unwrap();
    assert!(loss(&by_choice) < loss(&by_default), "{} {}", loss(&by_choice), loss(&by_default));
    assert_eq!(by_choice.lambda, by_choice.lambda_choice.unwrap().lambda);
    assert!(by_default.lambda_choice.is_none());
}

/// The same model, to the byte, whatever the clock and the number of threads; and that of the lambda given as a number.
#[test]
fn the_choice_repeats() {
    let tree = |clock: &str, threads: usize| json!({"task": "chain", "lambda": "cv", "clock": clock, "threads": threads, "stop": {"gap": "5%"}});
    let (wall, of_wall) = train(tree("wall", 2), words(30), words(5));
    let (work, of_work) = train(tree("work", 1), words(30), words(5));
    assert_eq!(of_wall.lambda_choice.unwrap().losses, of_work.lambda_choice.as_ref().unwrap().losses);
    assert_eq!(wall.len(), work.len()); // they say which clock
    let (again, _) = train(tree("work", 2), words(30), words(5));
    assert_eq!(again, work);
    let mut given = tree("work", 1);
    given["lambda"] = of_work.lambda.into();
    assert_eq!(train(given, words(30), words(5)).0, work);
}

/// Every solver that goes by lambda chooses one, whether or not it goes on from one lambda to the next or has a dual
/// value; others say why not.
#[test]
fn every_solver_chooses() {
    let data = Dataset::new(single_letters(&synthetic_words(12, 3)));
    for entry in SOLVERS.iter() {
        let chosen = choose(json!({"task": "multiclass", "solver": entry.name, "lambda": "cv:2"}), &data);
        match (chosen, entry.minimises) {
            (Ok(choice), true) => assert!(choice.lambda > 0.0 && choice.folds == 2, "{}: {choice:?}", entry.name),
            (Err(error), _) => assert!(matches!(error, Error::Input(_)), "{}: {error}", entry.name),
            (Ok(_), false) => panic!("{} ignores lambda", entry.name),
        }
    }
}

/// Sets of labels and data with folds of their own; what cannot be divided is refused.
#[test]
fn folds_are_those_asked_for() {
    let scenes = Dataset::new(synthetic_scenes(30, 3));
    assert_eq!(choose(json!({"task": "multilabel", "lambda": "cv:3"}), &scenes).unwrap().folds, 3);
    let refused = |tree: Value, data: &Dataset| choose(tree, data).unwrap_err().to_string();
    assert!(refused(json!({"task": "multilabel", "lambda": "cv:folds"}), &scenes).contains("no two folds"));
    assert!(refused(json!({"task": "multilabel", "lambda": "cv:31"}), &scenes).contains("expected between 2 and 30"));
    assert!(refused(json!({"task": "chain", "lambda": 0.5}), &words(3)).contains("nothing to choose"));
    assert!(refused(json!({"task": "chain", "lambda": "cv"}), &words(1)).contains("cannot be divided"));
    let session = Session::on(spec(json!({"task": "chain", "lambda": "cv"})), words(3), None);
    assert!(session.err().unwrap().to_string().contains("lambda = cv: not here: examples"));
}

/// An interrupt ends the choice and says how far it had come: before the first point, and after it.
#[test]
fn an_interrupt_says_how_far_it_had_come() {
    let run = |at_once: bool| {
        let flag = Arc::new(AtomicBool::new(at_once));
        let mut first = None;
        let chosen = choose_lambda(
            &spec(json!({"task": "chain", "lambda": "cv"})),
            &words(20),
            Some(flag.clone()),
            &mut |told| {
                first.get_or_insert_with(|| told.to_owned());
                flag.store(true, Ordering::Relaxed);
            },
        );
        (chosen.unwrap_err().to_string(), first)
    };
    let nothing = "interrupted while lambda was being chosen (fold 1 of 5): nothing was saved";
    assert_eq!(run(true), (nothing.into(), None));
    let (error, told) = run(false);
    let point = told.unwrap();
    let (loss, lambda) = point.strip_prefix("choosing lambda: fold 1 of 5, loss ").unwrap().split_once(" at ").unwrap();
    let found = error.strip_prefix("interrupted while lambda was being chosen (fold 1 of 5, best so far ").unwrap();
    let (best, rest) = found.split_once(" at lambda ").unwrap();
    let (at, end) = rest.split_once(')').unwrap();
    assert_eq!(end, ": nothing was saved");
    let number = |text: &str| text.parse::<f64>().unwrap();
    assert!((number(best) - number(loss)).abs() < 1.5e-4, "{best}, {loss}"); // rounded in two ways
    assert!((number(at) / number(lambda) - 1.0).abs() < 0.01, "{at}, {lambda}");
}

/// Under a limit of calls the choice takes half of it, begins where models generalise, and says if it was cut short; a
/// point has no more passes than the run that counts.
#[test]
fn limits_cut_the_choice() {
    let tree = |calls: u64| json!({"task": "chain", "lambda": "cv", "stop": {"calls": calls, "gap": "5%"}});
    for calls in [600, 4000, 40_000] {
        let choice = choose(tree(calls), &words(100)).unwrap();
        assert!(choice.calls <= calls / 2 + 400, "{calls}: {choice:?}"); // an outer iteration, and its evaluation
        assert!(choice.first_fold[0].lambda <= 101.0 / 80.0, "{choice:?}");
        if calls != 4000 {
            // there it hangs on when the losses rise
            assert_eq!(choice.cut_short, calls == 600, "{choice:?}");
        }
        let (_, summary) = train(tree(calls), words(100), words(5));
        assert!(summary.cost.oracle_calls + choice.calls <= calls + 400, "{calls}: {choice:?}");
    }
    let passes = |passes: u32| json!({"task": "chain", "lambda": "cv", "stop": {"passes": passes}});
    let [few, many] = [1, 20].map(|n| choose(passes(n), &words(100)).unwrap());
    assert!(few.calls < many.calls && few.first_fold[0] != many.first_fold[0], "{few:?}, {many:?}");
}

/// `scale` is the mean of the squared lengths over n.
#[test]
fn scale_is_the_mean_square_over_n() {
    let data = single_letters(&synthetic_words(12, 3));
    let square = |i: usize| data.rows.row(i).iter().map(|(_, value)| value * value).sum::<f64>();
    let n = data.rows.len();
    let expected = (0..n).map(square).sum::<f64>() / (n * n) as f64;
    let session =
        Session::on(spec(json!({"task": "multiclass", "lambda": "scale"})), Dataset::new(data), None).unwrap();
    assert!((session.lambda() / expected - 1.0).abs() < 1e-12);
    assert_eq!(session.spec().lambda, Lambda::Scale);
}
