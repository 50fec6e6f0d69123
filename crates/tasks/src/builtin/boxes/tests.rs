//! Answers, planes and measures of boxes against all boxes of small images.

use std::sync::Arc;

use multiplane_core::example::{Example, Memory};
use multiplane_core::oracle::Quality;
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::{Question, Task};
use multiplane_infer::boxes::Rect;

use super::task::{BoxMemory, BoxScratch};
use super::*;
use crate::builtin::task::BuiltinTask;
use crate::data::boxes::{BoxArrays, BoxImage, Boxes};
use crate::dataset::Dataset;

/// Images of a few pixels with words of two vocabularies, and one or two boxes, or none if that may be.
fn random(rng: &mut Rng, may_be_empty: bool) -> Boxes {
    let mut arrays = BoxArrays { word_counts: vec![2, 3], box_offsets: vec![0], ..BoxArrays::default() };
    for _ in 0..3 {
        let (height, width) = (2 + rng.below(5) as i64, 2 + rng.below(6) as i64);
        arrays.map_sizes.push([height, width]);
        for count in [2, 3] {
            arrays.words.extend((0..height * width).map(|_| rng.below(count + 1) as i64 - 1));
        }
        let least = u64::from(!may_be_empty);
        for _ in 0..least + rng.below(2) {
            let (left, top) = (rng.below(width as u64) as i64, rng.below(height as u64) as i64);
            let right = left + 1 + rng.below((width - left) as u64) as i64;
            arrays.boxes.push([left, top, right, top + 1 + rng.below((height - top) as u64) as i64]);
        }
        arrays.box_offsets.push(arrays.boxes.len());
    }
    Boxes::new(&arrays).unwrap()
}

fn specs() -> Vec<BoxSpec> {
    let mut all = Vec::new();
    for normalise in [Normalise::None, Normalise::Area, Normalise::L1, Normalise::L2] {
        for loss in [OverlapLoss::Overlap, OverlapLoss::Missed] {
            for (search, none) in [(BoxSearch::BranchAndBound, false), (BoxSearch::Windows, true)] {
                let (stride, levels) = (1 + all.len() as u32 % 2, 1 + all.len() % 3);
                let apart = [0.5, 0.2, 1.0][all.len() % 3];
                all.push(BoxSpec { normalise, loss, search, none, stride, levels, apart, ..BoxSpec::default() });
            }
        }
    }
    for bin_kernel in [HistogramKernel::Intersection, HistogramKernel::Chi2] {
        for (search, loss) in
            [(BoxSearch::BranchAndBound, OverlapLoss::Overlap), (BoxSearch::Windows, OverlapLoss::Missed)]
        {
            let (stride, levels) = (1 + all.len() as u32 % 2, 1 + all.len() % 3);
            all.push(BoxSpec { bin_kernel, search, loss, stride, levels, ..BoxSpec::default() });
        }
    }
    all
}

/// All answers that there are for an image.
fn answers(spec: &BoxSpec, sizes: &[(u32, u32)], image: &BoxImage) -> Vec<Boxed> {
    let (width, height) = (image.map.width(), image.map.height());
    let is_line = |line: u32, length: u32| line.is_multiple_of(spec.stride) || line == length;
    let mut all: Vec<Boxed> = spec.none.then(Boxed::default).into_iter().collect();
    for (left, right) in (0..=width).flat_map(|left| (left + 1..=width).map(move |right| (left, right))) {
        for (top, bottom) in (0..=height).flat_map(|top| (top + 1..=height).map(move |bottom| (top, bottom))) {
            let is_there = match spec.search {
                BoxSearch::BranchAndBound => {
                    [left, right].iter().all(|&x| is_line(x, width))
                        && [top, bottom].iter().all(|&y| is_line(y, height))
                }
                BoxSearch::Windows => {
                    let is_size = |&(w, h): &(u32, u32)| (w.min(width), h.min(height)) == (right - left, bottom - top);
                    sizes.iter().any(is_size) && left.is_multiple_of(spec.stride) && top.is_multiple_of(spec.stride)
                }
            };
            if is_there {
                all.push(Boxed::new(vec![Rect::new(left, top, right, bottom)]));
            }
        }
    }
    all
}

fn score(task: &BoxTask, x: &Arc<BoxImage>, y: &Boxed, w: &[f64]) -> f64 {
    let mut features = Plane::new();
    task.features(x, y, 1.0, &mut features);
    features.seal();
    features.view().score(w)
}

/// Checks a list of at most `most`: the best of all answers first, and none that overlaps a better one by more than
/// `apart`.
fn is_greedy(all: &[Boxed], list: &[Boxed], most: usize, apart: f64, value: impl Fn(&Boxed) -> f64) {
    let overlap = |a: &Boxed, b: &Boxed| if a.boxes().is_empty() || b.boxes().is_empty() { 0.0 } else { a.overlap(b) };
    for (k, one) in list.iter().enumerate() {
        let before = &list[..k];
        assert!(before.iter().all(|better| overlap(better, one) <= apart && better != one), "{list:?}");
        assert!(before.iter().all(|better| value(better) >= value(one) - 1e-12), "{list:?}");
    }
    let last = list.last().filter(|_| list.len() == most).map_or(f64::NEG_INFINITY, &value);
    for one in all.iter().filter(|one| !list.contains(one) && value(one) > last + 1e-12) {
        let suppressed = list.iter().any(|better| overlap(better, one) > apart && value(better) >= value(one) - 1e-12);
        assert!(suppressed, "{list:?} lacks {one:?}");
    }
}

/// For every norm, loss and search: answers, and lists of the best, with and without the loss are the best of all, also
/// from the memory of others, `verify` finds the same hinge, and a search that gives up has a bound.
#[test]
fn answers_are_those_of_enumeration() {
    for (k, spec) in specs().into_iter().enumerate() {
        for seed in 0..6 {
            let mut rng = Rng::new(seed, k as u64);
            let data = Dataset::new(random(&mut rng, spec.none));
            let Ok((task, examples)) = examples(&spec, &data) else { continue };
            let short = BoxTask::new(&BoxSpec { max_sets: k % 3, ..spec.clone() }, task.vocabulary().clone());
            let (mut scratch, mut memory) = (BoxScratch::default(), vec![BoxMemory::default(); 3]);
            for _ in 0..5 {
                let w: Vec<f64> = (0..task.dim()).map(|_| 2.0 * rng.unit() - 1.0).collect();
                for (block, memory) in memory.iter_mut().enumerate() {
                    let (input, truth) = (&examples.inputs[block], &examples.labels[block]);
                    let all = answers(&spec, &task.vocabulary().windows, input);
                    let example = Example { index: block, input, truth };
                    let mut y = Boxed::default();
                    for question in [Question::plain(example, &w), Question::augmented(example, &w)] {
                        let value = |y: &Boxed| {
                            score(&task, input, y, &w) + question.truth.map_or(0.0, |truth| task.loss(truth, y))
                        };
                        let best = all.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
                        let quality = task.decode(question.call(&mut scratch, memory), &mut y).unwrap();
                        assert_eq!(quality, Quality::Exact);
                        assert!((value(&y) - best).abs() < 1e-12, "{spec:?} {seed}: {y:?}");
                        let mut fresh = BoxMemory::default();
                        let mut again = Boxed::default();
                        task.decode(question.call(&mut scratch, &mut fresh), &mut again).unwrap();
                        assert_eq!(y, again, "memory changes no answer");
                        let mut list = vec![Boxed::default(); 3];
                        let (count, quality) = task.top(question.call(&mut scratch, &mut fresh), &mut list).unwrap();
                        assert_eq!(quality, Quality::Exact);
                        // Of boxes whose scores differ by rounding alone a sweep may take another one.
                        assert!(
                            list[0] == y || (value(&list[0]) - value(&y)).abs() < 1e-12,
                            "{spec:?} {seed}: {list:?}"
                        );
                        is_greedy(&all, &list[..count], list.len(), spec.apart, value);
                        let quality = short.decode(question.call(&mut scratch, &mut fresh), &mut again).unwrap();
                        let (_, of_list) = short.top(question.call(&mut scratch, &mut fresh), &mut list).unwrap();
                        assert!(of_list == Quality::Heuristic || quality == Quality::Exact, "a list is no more proven");
                        if let Quality::UpperBound(bound) = quality {
                            assert!(bound >= best - 1e-12 && value(&again) <= best + 1e-12, "{spec:?} {seed}");
                        }
                    }
                    let value = |y: &Boxed| score(&task, input, y, &w) + task.loss(truth, y);
                    let best = all.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
                    let hinge = (best - score(&task, input, truth, &w)).max(0.0); // the truth need not lie on the grid
                    let found = task.reference_hinge(input, truth, &w);
                    assert!((found - hinge).abs() < 1e-11, "{spec:?} {seed}: {found}, expected {hinge}");
                }
            }
            assert!(memory.iter().any(|memory| memory.bytes() > 0));
        }
    }
}

/// Boxes are compared with the nearest that is right; nothing is right where there is nothing.
#[test]
fn losses_by_hand() {
    let truth = Boxed::new(vec![Rect::new(0, 0, 2, 2), Rect::new(4, 0, 6, 2)]);
    let (half, none) = (Boxed::new(vec![Rect::new(4, 0, 6, 1)]), Boxed::default());
    let task = BoxTask::new(&BoxSpec::default(), BoxVocabulary::default());
    assert_eq!((task.loss(&truth, &truth), task.loss(&truth, &half), task.loss(&truth, &none)), (0.0, 0.5, 1.0));
    assert_eq!((task.loss(&none, &none), task.loss(&none, &half)), (0.0, 1.0));
    assert_eq!((task.errors(&truth, &half), task.errors(&truth, &truth)), ((1, 1), (0, 1)), "half is not above half");
    assert_eq!(task.show(&truth, &BoxVocabulary::default()), "0 0 2 2; 4 0 6 2");
}

/// Sizes of windows are learned from boxes by the weights of their images.
#[test]
fn weights_count_images() {
    let mut arrays = BoxArrays { word_counts: vec![1], box_offsets: vec![0], ..BoxArrays::default() };
    for right in [4, 8] {
        arrays.map_sizes.push([4, 8]);
        arrays.words.extend([0; 32]);
        arrays.boxes.push([0, 0, right, 2]);
        arrays.box_offsets.push(arrays.boxes.len());
    }
    let data = Dataset::new(Boxes::new(&arrays).unwrap()).with_weights(vec![3.0, 1.0]).unwrap();
    let spec = BoxSpec { search: BoxSearch::Windows, windows: 1, ..BoxSpec::default() };
    assert_eq!(examples(&spec, &data).unwrap().0.vocabulary().windows, [(5, 2)]);
}

/// Data and settings that cannot be trained on are refused with the reason.
#[test]
fn faults_are_named() {
    let fault = |spec: &BoxSpec, data: Boxes| examples(spec, &Dataset::new(data)).err().unwrap().to_string();
    let empty = || {
        let sizes = BoxArrays { map_sizes: vec![[1, 1]], words: vec![0], word_counts: vec![1], ..BoxArrays::default() };
        Boxes::new(&BoxArrays { box_offsets: vec![0, 0], ..sizes }).unwrap()
    };
    let cases = [
        (BoxSpec::default(), "image 0 has no box"),
        (BoxSpec { levels: 5, ..BoxSpec::default() }, "levels"),
        (BoxSpec { apart: 1.5, ..BoxSpec::default() }, "apart"),
        (
            BoxSpec { bin_kernel: HistogramKernel::Chi2, normalise: Normalise::L2, ..BoxSpec::default() },
            "normalise = l2: must be none with task.bin_kernel",
        ),
        (BoxSpec { stride: 0, ..BoxSpec::default() }, "stride"),
        (
            BoxSpec { words: vec![2], none: true, ..BoxSpec::default() },
            "found vocabularies of [1] words, but task.words is [2]",
        ),
        (BoxSpec { search: BoxSearch::Windows, none: true, ..BoxSpec::default() }, "no sizes of windows"),
    ];
    for (spec, expected) in cases {
        let found = fault(&spec, empty());
        assert!(found.contains(expected), "{found}, expected {expected}");
    }
}
