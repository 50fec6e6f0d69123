//! Searches against enumeration by plain histograms.

use super::*;

/// A small generator of numbers; infer knows no other crate.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u32) -> u32 {
        (self.next() % u64::from(end)) as u32
    }

    fn real(&mut self) -> f64 {
        (self.next() % 2001) as f64 / 1000.0 - 1.0
    }
}

const WORDS: u32 = 5;

struct Case {
    map: WordMap,
    points: Vec<WordPoint>,
    scores: Vec<f64>,
    levels: usize,
    norm: Norm,
    kernel: BinKernel,
    loss: BoxLoss,
    truths: Vec<Rect>,
    stride: u32,
}

impl Case {
    fn random(seed: u64) -> Case {
        let mut dice = Dice(seed * 7919 + 12345);
        let (width, height) = (2 + dice.below(11), 2 + dice.below(9));
        let count = dice.below(60);
        let point =
            |dice: &mut Dice| WordPoint { x: dice.below(width), y: dice.below(height), word: dice.below(WORDS) };
        let points: Vec<WordPoint> = (0..count).map(|_| point(&mut dice)).collect();
        let levels = 1 + dice.below(3) as usize;
        let shift = [0.0, -0.7, 0.7][dice.below(3) as usize];
        // Every fifth case has a kernel that is not linear, which goes with the norm of the image.
        let norms = [Norm::None, Norm::Area, Norm::L1, Norm::L2].map(|norm| (norm, BinKernel::Linear));
        let kernel = [BinKernel::Intersection, BinKernel::ChiSquare][seed as usize / 5 % 2];
        let (norm, kernel) = if seed % 5 == 4 { (Norm::None, kernel) } else { norms[seed as usize % 4] };
        let scores = (0..cells(levels) * WORDS as usize * kernel.numbers()).map(|_| dice.real() + shift).collect();
        let truth = |dice: &mut Dice| {
            let (left, top) = (dice.below(width), dice.below(height));
            Rect::new(left, top, left + 1 + dice.below(width - left), top + 1 + dice.below(height - top))
        };
        let truths = (0..dice.below(3)).map(|_| truth(&mut dice)).collect();
        let loss = [BoxLoss::Overlap, BoxLoss::Missed][seed as usize / 4 % 2];
        let map = WordMap::new(width, height, points.clone());
        Case { map, points, scores, levels, norm, kernel, loss, truths, stride: 1 + dice.below(3) }
    }

    fn question(&self, most: usize) -> BoxQuestion<'_> {
        let places = Places::Grid { stride: self.stride, most };
        let loss = Some((self.loss, &self.truths[..]));
        let (scores, levels, norm, kernel) = (&self.scores[..], self.levels, self.norm, self.kernel);
        BoxQuestion { map: &self.map, scores, levels, norm, kernel, loss, places }
    }

    /// The score by its definition: histograms of cells, counted point by point.
    fn value(&self, rect: Rect) -> f64 {
        let parts = self.kernel.numbers();
        let mut histogram = vec![0.0; self.scores.len() / parts];
        let (width, height) = (rect.right - rect.left, rect.bottom - rect.top);
        let mut first = 0;
        for level in 0..self.levels {
            let parts = 1_u32 << level;
            for j in 0..parts {
                for i in 0..parts {
                    let x = |i: u32| rect.left + width * i / parts;
                    let y = |j: u32| rect.top + height * j / parts;
                    for point in &self.points {
                        if (x(i)..x(i + 1)).contains(&point.x) && (y(j)..y(j + 1)).contains(&point.y) {
                            histogram[(first + j * parts + i) as usize * WORDS as usize + point.word as usize] += 1.0;
                        }
                    }
                }
            }
            first += parts * parts;
        }
        let norm = match self.norm {
            Norm::None => self.points.len() as f64,
            Norm::Area => f64::from(width) * f64::from(height),
            Norm::L1 => histogram.iter().sum(),
            Norm::L2 => histogram.iter().map(|count| count * count).sum::<f64>().sqrt(),
        };
        let mapped = |count: f64| match self.kernel {
            BinKernel::Linear => [count, 0.0, 0.0],
            kernel => kernel.map(count / norm).map(|value| norm * value),
        };
        let of_bin = |(count, scores): (&f64, &[f64])| {
            scores.iter().zip(mapped(*count)).map(|(score, value)| score * value).sum::<f64>()
        };
        let sum: f64 = histogram.iter().zip(self.scores.chunks_exact(parts)).map(of_bin).sum();
        let score = if histogram.iter().all(|count| *count == 0.0) { 0.0 } else { sum / norm };
        let overlap = self.truths.iter().map(|truth| truth.overlap(rect)).fold(0.0, f64::max);
        score + if self.loss == BoxLoss::Overlap { 1.0 - overlap } else { f64::from(u8::from(overlap <= 0.5)) }
    }

    /// All rectangles of the grid by score, the best first.
    fn ranked(&self) -> Vec<(f64, Rect)> {
        let lines = |length: u32| -> Vec<u32> {
            (0..=length).filter(|line| line % self.stride == 0 || *line == length).collect()
        };
        let (columns, rows) = (lines(self.map.width()), lines(self.map.height()));
        let mut all = Vec::new();
        for (&left, &right) in columns.iter().flat_map(|left| columns.iter().map(move |right| (left, right))) {
            for (&top, &bottom) in rows.iter().flat_map(|top| rows.iter().map(move |bottom| (top, bottom))) {
                let rect = Rect::new(left, top, right, bottom);
                if !rect.is_empty() {
                    all.push((self.value(rect), rect));
                }
            }
        }
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all
    }
}

/// The best rectangle is that of enumeration, for every norm, loss and number of levels, with rectangles known before
/// or not; so are the best five with what overlaps them left out.
#[test]
fn searches_find_the_best() {
    let mut engine = BoxEngine::new();
    let (mut found, mut again) = (Vec::new(), Vec::new());
    for seed in 0..500 {
        let case = Case::random(seed);
        let ranked = case.ranked();
        let bound = engine.search(case.question(usize::MAX), &[], (1, 1.0), &mut found);
        let best = ranked[0].0;
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + a.abs());
        assert!(close(found[0].score, best) && close(bound, best), "{seed}: {found:?}, expected {:?}", ranked[0]);
        assert!(close(case.value(found[0].rect), best), "{seed}");
        let known: Vec<Rect> = ranked.iter().step_by(7).map(|(_, rect)| *rect).chain(case.truths.clone()).collect();
        engine.search(case.question(usize::MAX), &known, (1, 1.0), &mut again);
        assert_eq!(found, again, "{seed}: what is known changes no answer");

        let apart = [0.3, 0.6, 0.9][seed as usize % 3];
        engine.search(case.question(usize::MAX), &known, (5, apart), &mut found);
        let is_alone = ranked.len() < 2 || !close(best, ranked[1].0);
        assert!(!is_alone || found[0] == again[0], "{seed}: a list begins with the best");
        let mut scores: Vec<f64> = Vec::new();
        let mut expected: Vec<Rect> = Vec::new();
        for &(score, rect) in &ranked {
            if expected.iter().all(|better| better.overlap(rect) <= apart) && expected.len() < 5 {
                expected.push(rect);
                scores.push(score);
            }
        }
        let has_ties = ranked.windows(2).any(|pair| close(pair[0].0, pair[1].0));
        if !has_ties {
            assert_eq!(found.iter().map(|best| best.rect).collect::<Vec<_>>(), expected, "{seed}");
        }
        for (k, best) in found.iter().enumerate() {
            assert!(close(case.value(best.rect), best.score), "{seed}");
            assert!(found[..k].iter().all(|better| better.rect.overlap(best.rect) <= apart), "{seed}");
        }
    }
}

/// On images of many lines a sweep finds what branch and bound finds: the first of a list comes from the latter.
#[test]
fn sweeps_find_what_branch_and_bound_finds() {
    let (mut engine, mut found, mut list) = (BoxEngine::new(), Vec::new(), Vec::new());
    for seed in 0..60 {
        let mut dice = Dice(seed * 104_729 + 77);
        let (width, height) = (30 + dice.below(30), 20 + dice.below(20));
        let point = |dice: &mut Dice| (dice.below(width), dice.below(height), dice.below(WORDS));
        let points = (0..200).map(|_| point(&mut dice)).map(|(x, y, word)| WordPoint { x, y, word });
        let map = WordMap::new(width, height, points.collect());
        let levels = 1 + seed as usize % 4;
        let scores: Vec<f64> = (0..cells(levels) * WORDS as usize).map(|_| dice.real() * 3.0).collect();
        let norm = [Norm::None, Norm::Area, Norm::L1][seed as usize % 3];
        let truths = [Rect::new(3, 5, 21, 17), Rect::new(10, 2, 29, 9)];
        let loss = Some((BoxLoss::Overlap, &truths[..dice.below(3) as usize]));
        let places = Places::Grid { stride: 2 + dice.below(6), most: usize::MAX };
        let (scores, kernel) = (&scores[..], BinKernel::Linear);
        let question = BoxQuestion { map: &map, scores, levels, norm, kernel, loss, places };
        engine.search(question, &[], (1, 1.0), &mut found);
        engine.search(question, &[], (2, 1.0), &mut list);
        let (best, apart) = (list[0].score, (list[0].score - list[1].score).abs());
        assert!((found[0].score - best).abs() <= 1e-12 * (1.0 + best.abs()), "{seed}: {found:?}, {list:?}");
        assert!(apart < 1e-12 || found[0].rect == list[0].rect, "{seed}: {found:?}, {list:?}");
    }
}

/// Of rectangles that score the same the first is found, by a sweep and by branch and bound.
#[test]
fn ties_go_to_the_first() {
    let (mut engine, mut found) = (BoxEngine::new(), Vec::new());
    let map = WordMap::new(10, 8, vec![WordPoint { x: 5, y: 4, word: 0 }]);
    let places = Places::Grid { stride: 1, most: usize::MAX };
    let (levels, norm, kernel) = (1, Norm::None, BinKernel::Linear);
    let question = BoxQuestion { map: &map, scores: &[1.0], levels, norm, kernel, loss: None, places };
    for most in [1, 2] {
        engine.search(question, &[], (most, 1.0), &mut found);
        assert_eq!(found[0], FoundBox { rect: Rect::new(0, 0, 6, 5), score: 1.0 });
    }
}

/// A search that gives up has a bound that holds, and an answer whose score is its own.
#[test]
fn bounds_hold_when_the_search_gives_up() {
    let (mut engine, mut found) = (BoxEngine::new(), Vec::new());
    let mut short = 0;
    for seed in 0..200 {
        let case = Case::random(seed);
        let best = case.ranked()[0].0;
        for most in [0, 1, 3, 10] {
            let bound = engine.search(case.question(most), &[], (1, 1.0), &mut found);
            assert!(bound >= best - 1e-12, "{seed}: {bound}, the best has {best}");
            short += usize::from(bound > best + 1e-9);
            for answer in &found {
                assert!(
                    (case.value(answer.rect) - answer.score).abs() < 1e-12 && answer.score <= best + 1e-12,
                    "{seed}"
                );
            }
        }
    }
    assert!(short > 100, "{short}");
}

/// Windows of given sizes are all looked at, also those larger than the image.
#[test]
fn windows_find_the_best_of_their_sizes() {
    let (mut engine, mut found) = (BoxEngine::new(), Vec::new());
    for seed in 0..100 {
        let case = Case::random(seed);
        let sizes = [(3, 2), (1, 4), (100, 2)];
        let places = Places::Windows { sizes: &sizes, stride: case.stride };
        engine.search(BoxQuestion { places, ..case.question(0) }, &[], (1, 1.0), &mut found);
        let (width, height) = (case.map.width(), case.map.height());
        let mut best = f64::NEG_INFINITY;
        for (w, h) in sizes.map(|(w, h)| (w.min(width), h.min(height))) {
            for top in (0..=height - h).filter(|top| top % case.stride == 0) {
                for left in (0..=width - w).filter(|left| left % case.stride == 0) {
                    best = best.max(case.value(Rect::new(left, top, left + w, top + h)));
                }
            }
        }
        assert!((found[0].score - best).abs() < 1e-12, "{seed}");
    }
}

/// Products of histograms equal sums over words, one by one and together.
#[test]
fn products_equal_sums_over_words() {
    let mut dice = Dice(77);
    for levels in 1..4 {
        let point = |dice: &mut Dice| WordPoint { x: dice.below(20), y: dice.below(15), word: dice.below(4) };
        let map = WordMap::new(20, 15, (0..60).map(|_| point(&mut dice)).collect());
        let rect = |dice: &mut Dice| {
            let (left, top) = (dice.below(15), dice.below(10));
            Rect::new(left, top, left + 1 + dice.below(5), top + 1 + dice.below(5))
        };
        let rects: Vec<Rect> = (0..30).map(|_| rect(&mut dice)).collect();
        let counts = |rect: Rect| {
            let mut counts = vec![0.0; 4 * cells(levels)];
            for (cell, own) in rect.pyramid(levels).zip(counts.chunks_exact_mut(4)) {
                map.words_in(cell).for_each(|word| own[word as usize] += 1.0);
            }
            counts
        };
        for &one in &rects {
            let (histogram, mut together) = (counts(one), vec![0.0; rects.len()]);
            BoxProducts::default().of(&map, &histogram, levels, &rects, &mut together);
            for (&other, found) in rects.iter().zip(&together) {
                let expected: f64 = histogram.iter().zip(counts(other)).map(|(a, b)| a * b).sum();
                let mut alone = [0.0];
                BoxProducts::default().of(&map, &histogram, levels, &[other], &mut alone);
                assert_eq!((*found, alone[0]), (expected, expected), "{one:?} {other:?}");
            }
        }
    }
}
