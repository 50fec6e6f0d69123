//! The labellings kept of one example, compiled: the labels and transitions in which any of them differs from the
//! truth, each once, and which of these every labelling has.
//!
//! A row is scored once for a label, however many labellings give it that label, and moved once. Scores and sums of
//! planes then cost an addition for each place where a labelling differs. Compiling costs O(labellings x positions).

use multiplane_core::linalg;
use multiplane_core::oracle::Coded;
use multiplane_core::plane::Plane;
use multiplane_core::task::UNLABELLED;

use crate::data::SparseRows;

/// An input whose rows are given to labels, at `[feature][label]`, and its weights beside the rows: each stands at a
/// place and depends on the labels there.
pub(super) trait PairSlots {
    /// Returns the rows.
    fn rows(&self) -> &SparseRows;

    /// Returns the number of labels.
    fn labels(&self) -> usize;

    /// Returns the number of places.
    fn places(&self) -> usize;

    /// Returns the weight that a labelling has at a place; [`UNLABELLED`] for none, if a label there is.
    fn weight(&self, y: &[u32], place: usize) -> u32;

    /// Pushes `scale * phi(x, y)`; what has no label has no features.
    fn features(&self, y: &[u32], scale: f64, out: &mut Plane) {
        for (row, &label) in y.iter().enumerate().filter(|(_, label)| **label != UNLABELLED) {
            for (feature, value) in self.rows().row(row).iter() {
                out.push(feature * self.labels() as u32 + label, scale * value);
            }
        }
        let weights = (0..self.places()).map(|place| self.weight(y, place));
        weights.filter(|weight| *weight != UNLABELLED).for_each(|weight| out.push(weight, scale));
    }

    /// Calls `each` with every such weight in which `y` differs from the truth: +1 for what `y` has, -1 for what the
    /// truth has.
    fn differing(&self, truth: &[u32], y: &[u32], mut each: impl FnMut(u32, f64)) {
        for place in 0..self.places() {
            let (gained, lost) = (self.weight(y, place), self.weight(truth, place));
            if gained != lost {
                each(gained, 1.0);
                each(lost, -1.0);
            }
        }
    }
}

/// Numbers before everything else: positions, unary terms, single terms.
const HEADER: usize = 3;

/// Below this share of the labels, the scores of some labels at a position cost less than those of all together.
const FEW_LABELS: usize = 4;

/// Working memory for planes by code.
#[derive(Debug, Default)]
pub(super) struct LabelCodes {
    /// The terms of planes that came without.
    compiled: Vec<u32>,
    compiler: Compiler,
    /// Scores of terms, or their amounts.
    terms: Vec<f64>,
    /// Scores of labels at a position.
    labels: Vec<f64>,
    /// Labels of a position with their amounts.
    moved: Vec<(u32, f64)>,
}

/// Working memory of compiling.
#[derive(Debug, Default)]
struct Compiler {
    /// Labels other than the truth's, position after position, and where those of each position begin.
    labels: Vec<u32>,
    starts: Vec<usize>,
    /// Weights of transitions and ends that a labelling gains, with those that it loses for them; where each place
    /// begins.
    singles: Vec<[u32; 2]>,
    single_starts: Vec<usize>,
}

/// The output of [`LabelCodes::compile`], in parts: everything is a number of 32 bits.
///
/// A term is a label at a position (unary), or a weight of its own that takes the place of the truth's (single); terms
/// are numbered, unary ones first.
#[derive(Clone, Copy)]
struct CodeTerms<'a> {
    /// For every position where a labelling differs: position, number of labels, the truth's label, the others.
    positions: &'a [u32],
    /// Weights gained and lost.
    singles: &'a [[u32; 2]],
    /// For every labelling: number of terms, the terms.
    labellings: &'a [u32],
    unary: usize,
}

impl<'a> CodeTerms<'a> {
    fn new(compiled: &'a [u32]) -> Self {
        let [positions, unary, singles] = [compiled[0], compiled[1], compiled[2]].map(|size| size as usize);
        let (positions, rest) = compiled[HEADER..].split_at(positions);
        let (singles, labellings) = rest.split_at(2 * singles);
        CodeTerms { positions, singles: singles.as_chunks().0, labellings, unary }
    }

    /// All terms.
    fn len(&self) -> usize {
        self.unary + self.singles.len()
    }

    /// Positions with the truth's label and the others.
    fn positions(&self) -> impl Iterator<Item = (usize, &'a [u32])> {
        let mut words = self.positions;
        std::iter::from_fn(move || {
            let (&[t, count], rest) = words.split_first_chunk()?;
            let (labels, rest) = rest.split_at(count as usize);
            words = rest;
            Some((t as usize, labels))
        })
    }

    /// The terms of each labelling.
    fn labellings(&self) -> impl Iterator<Item = &'a [u32]> {
        counted(self.labellings)
    }
}

/// Returns the stretches of `words`, each of which stands after its length.
pub(super) fn counted(mut words: &[u32]) -> impl Iterator<Item = &[u32]> {
    std::iter::from_fn(move || {
        let (&count, rest) = words.split_first()?;
        let (own, rest) = rest.split_at(count as usize);
        words = rest;
        Some(own)
    })
}

impl LabelCodes {
    /// Writes into `out` what `codes` come to.
    pub(super) fn compile(&mut self, places: &impl PairSlots, truth: &[u32], codes: &[u32], out: &mut Vec<u32>) {
        self.compiler.compile(places, truth, codes, out);
    }

    /// Writes `<w, phi(x, y) - phi(x, truth)>` of every labelling.
    pub(super) fn score(
        &mut self,
        places: &impl PairSlots,
        truth: &[u32],
        w: &[f64],
        planes: Coded<'_>,
        out: &mut [f64],
    ) {
        let LabelCodes { compiled, compiler, terms, labels, .. } = self;
        let (all, width) = (compiler.terms(places, truth, planes, compiled), places.labels());
        terms.clear();
        terms.resize(all.unary, 0.0);
        let mut unary = &mut terms[..];
        for (t, some) in all.positions() {
            let (row, others) = (places.rows().row(t), some.len() - 1);
            let (here, rest) = unary.split_at_mut(others);
            labels.clear();
            if FEW_LABELS * some.len() <= width {
                labels.resize(some.len(), 0.0);
                linalg::column_sums(row.indices, row.values, some, width, w, labels);
                here.iter_mut().zip(&labels[1..]).for_each(|(here, score)| *here = score - labels[0]);
            } else {
                labels.resize(width, 0.0);
                linalg::add_rows(row.indices, row.values, w, labels);
                let right = labels[some[0] as usize];
                here.iter_mut().zip(&some[1..]).for_each(|(here, &label)| *here = labels[label as usize] - right);
            }
            unary = rest;
        }
        terms.extend(all.singles.iter().map(|&[gained, lost]| w[gained as usize] - w[lost as usize]));
        for (out, own) in out.iter_mut().zip(all.labellings()) {
            *out = own.iter().map(|&term| terms[term as usize]).sum();
        }
    }

    /// Adds `scale * amount` times the plane of each labelling to `target`, term by term.
    pub(super) fn add(
        &mut self,
        places: &impl PairSlots,
        truth: &[u32],
        planes: Coded<'_>,
        (amounts, scale): (&[f64], f64),
        target: &mut [f64],
    ) {
        let LabelCodes { compiled, compiler, terms, moved, .. } = self;
        let (all, width) = (compiler.terms(places, truth, planes, compiled), places.labels());
        terms.clear();
        terms.resize(all.len(), 0.0);
        for (own, &amount) in all.labellings().zip(amounts) {
            if amount != 0.0 {
                own.iter().for_each(|&term| terms[term as usize] += amount);
            }
        }
        let mut unary = &terms[..];
        for (t, some) in all.positions() {
            let (here, rest) = unary.split_at(some.len() - 1);
            unary = rest;
            moved.clear();
            let mut total = 0.0;
            for (&label, &amount) in some[1..].iter().zip(here).filter(|(_, amount)| **amount != 0.0) {
                total += amount;
                moved.push((label, scale * amount));
            }
            if !moved.is_empty() {
                moved.push((some[0], -scale * total));
                let row = places.rows().row(t);
                linalg::add_to_rows(row.indices, row.values, moved, width, target);
            }
        }
        for (&[gained, lost], &amount) in all.singles.iter().zip(&terms[all.unary..]) {
            target[gained as usize] += scale * amount;
            target[lost as usize] -= scale * amount;
        }
    }
}

impl Compiler {
    fn compile(&mut self, places: &impl PairSlots, truth: &[u32], codes: &[u32], out: &mut Vec<u32>) {
        let len = truth.len();
        out.clear();
        self.collect(places, truth, codes);
        let Compiler { labels, starts, singles, single_starts } = self;
        out.extend([0, labels.len() as u32, singles.len() as u32]);
        for (t, &right) in truth.iter().enumerate() {
            let others = &labels[starts[t]..starts[t + 1]];
            if !others.is_empty() {
                out.extend([t as u32, 1 + others.len() as u32, right]);
                out.extend_from_slice(others);
            }
        }
        out[0] = (out.len() - HEADER) as u32;
        out.extend_from_slice(singles.as_flattened());
        for y in codes.chunks_exact(len.max(1)) {
            let count = out.len();
            out.push(0);
            for (t, label) in y.iter().enumerate() {
                let others = &labels[starts[t]..starts[t + 1]];
                out.extend(others.iter().position(|other| other == label).map(|at| (starts[t] + at) as u32));
            }
            for place in 0..places.places() {
                let (gained, lost) = (places.weight(y, place), places.weight(truth, place));
                if gained != lost {
                    let start = single_starts[place];
                    let known = singles[start..single_starts[place + 1]].iter().position(|single| single[0] == gained);
                    out.extend(known.map(|at| (labels.len() + start + at) as u32));
                }
            }
            out[count] = (out.len() - count - 1) as u32;
        }
    }

    /// Returns the terms that the planes were compiled to, or compiles them.
    fn terms<'a>(
        &mut self,
        places: &impl PairSlots,
        truth: &[u32],
        planes: Coded<'a>,
        compiled: &'a mut Vec<u32>,
    ) -> CodeTerms<'a> {
        if !planes.compiled.is_empty() {
            return CodeTerms::new(planes.compiled);
        }
        self.compile(places, truth, planes.codes, compiled);
        CodeTerms::new(compiled)
    }

    /// Lists every label and every single weight in which a labelling differs from the truth, once.
    fn collect(&mut self, places: &impl PairSlots, truth: &[u32], codes: &[u32]) {
        let len = truth.len();
        let labellings = || codes.chunks_exact(len.max(1));
        self.labels.clear();
        self.starts.clear();
        for (t, &right) in truth.iter().enumerate() {
            let start = self.labels.len();
            self.starts.push(start);
            for label in labellings().map(|y| y[t]) {
                if label != right && !self.labels[start..].contains(&label) {
                    self.labels.push(label);
                }
            }
        }
        self.starts.push(self.labels.len());
        self.singles.clear();
        self.single_starts.clear();
        for place in 0..places.places() {
            let start = self.singles.len();
            self.single_starts.push(start);
            let lost = places.weight(truth, place);
            for gained in labellings().map(|y| places.weight(y, place)) {
                if gained != lost && !self.singles[start..].iter().any(|single| single[0] == gained) {
                    self.singles.push([gained, lost]);
                }
            }
        }
        self.single_starts.push(self.singles.len());
    }
}
