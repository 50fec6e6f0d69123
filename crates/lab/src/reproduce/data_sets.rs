//! The data sets of the experiments: files under the data directory, or synthetic stand-ins.

use std::fs;
use std::path::Path;

use multiplane::data::Classified;
use multiplane::data::boxes::Boxes;
use multiplane::data::poses::Poses;
use multiplane::dataset::Dataset;
use multiplane::synth::{
    single_letters, synthetic_boxes, synthetic_chunks, synthetic_graphs, synthetic_poses, synthetic_rotamers,
    synthetic_words,
};
use multiplane::{Error, read_data};

/// The part of a data set that is tested on.
pub(crate) enum TestPart {
    /// There is none.
    None,
    /// Another file.
    File(&'static str),
    /// Folds of the same file.
    Folds(&'static [u32]),
    /// All rows from this one on; those before are trained on.
    RowsFrom(usize),
    /// The same of a file that is sorted by label: its rows are mixed before.
    MixedFrom(usize),
}

/// The distance of neighbours after mixing: a prime that divides no number of rows here.
const MIXING: usize = 7919;

/// A data set of the papers, or what is closest to it.
pub struct DataSet {
    /// A short name.
    pub name: &'static str,
    /// The name in figures.
    pub title: &'static str,
    /// The file of training data, relative to the data directory; empty if there is only a stand-in.
    pub file: &'static str,
    /// The folds trained on, of files that have folds.
    pub(crate) folds: Option<&'static [u32]>,
    /// The part tested on.
    pub(crate) test: TestPart,
    /// The task's settings.
    pub(crate) task: &'static str,
    /// Makes so many examples that stand in for it.
    pub(crate) stand_in: fn(usize) -> Dataset,
}

/// Training and test data.
pub(crate) struct OpenData {
    /// The examples trained on.
    pub(crate) train: Dataset,
    /// Those tested on, if there are any.
    pub(crate) test: Option<Dataset>,
    /// True if they are synthetic.
    pub(crate) stand_in: bool,
}

impl DataSet {
    /// Lists its files.
    pub fn files(&self) -> Vec<&'static str> {
        let test = if let TestPart::File(file) = self.test { file } else { "" };
        [self.file, test].into_iter().filter(|file| !file.is_empty()).collect()
    }

    /// Returns the sizes of its files under a directory, in bytes; `None` if one is missing.
    pub(crate) fn found(&self, dir: Option<&Path>) -> Option<Vec<u64>> {
        let (dir, files) = (dir?, self.files());
        let sizes = files.iter().map(|file| fs::metadata(dir.join(file)).ok().filter(fs::Metadata::is_file));
        let sizes: Option<Vec<u64>> = sizes.map(|found| found.map(|found| found.len())).collect();
        sizes.filter(|sizes| !sizes.is_empty())
    }

    /// Reads it, or makes `stand_in` examples if a file is missing; keeps the first `most` training examples (0: all).
    pub(crate) fn open(&self, dir: Option<&Path>, most: usize, stand_in: usize) -> Result<OpenData, Error> {
        let first = |data: Dataset, most: usize| match most {
            0 => data,
            most if most >= data.len() => data,
            most => data.subset(&(0..most).collect::<Vec<_>>()),
        };
        let Some(dir) = dir.filter(|_| self.found(dir).is_some()) else {
            let both = (self.stand_in)(stand_in);
            let (train, test): (Vec<usize>, Vec<usize>) = (0..both.len()).partition(|example| example % 4 != 3);
            let test = if let TestPart::None = self.test { None } else { Some(both.subset(&test)) };
            return Ok(OpenData { train: first(both.subset(&train), most), test, stand_in: true });
        };
        let path = dir.join(self.file);
        let train = read_data(&path, None, self.folds)?;
        let (train, test) = match self.test {
            TestPart::None => (train, None),
            TestPart::File(file) => (train, Some(read_data(&dir.join(file), None, None)?)),
            TestPart::Folds(folds) => (train, Some(read_data(&path, None, Some(folds))?)),
            TestPart::RowsFrom(row) | TestPart::MixedFrom(row) => {
                let (n, row) = (train.len(), row.min(train.len()));
                let step = if let TestPart::MixedFrom(_) = self.test { MIXING } else { 1 };
                let part = |rows: std::ops::Range<usize>| train.subset(&rows.map(|k| k * step % n).collect::<Vec<_>>());
                (part(0..row), Some(part(row..n)))
            }
        };
        Ok(OpenData { train: first(train, most), test, stand_in: false })
    }
}

/// So many letters, each by itself.
pub(crate) fn letters(n: usize) -> Dataset {
    let all = single_letters(&synthetic_words(n.div_ceil(3), 0));
    Dataset::new(all.subset(&(0..n).collect::<Vec<_>>()))
}

/// Letters of the first half of the alphabet against the others.
fn halves(n: usize) -> Dataset {
    let all = single_letters(&synthetic_words(n.div_ceil(3), 0)).subset(&(0..n).collect::<Vec<_>>());
    let labels = all.labels.iter().map(|&label| if label <= 13 { 1 } else { -1 }).collect();
    Dataset::new(Classified { labels, ..all })
}

fn words(n: usize) -> Dataset {
    Dataset::new(synthetic_words(n, 0))
}

fn graphs(n: usize) -> Dataset {
    Dataset::new(synthetic_graphs(n.div_ceil(4).max(8), 0))
}

fn chunks(n: usize) -> Dataset {
    Dataset::new(synthetic_chunks(n, 0))
}

fn boxes(n: usize) -> Dataset {
    Dataset::new(Boxes::new(&synthetic_boxes(n, 0)).expect("pictures are sound"))
}

fn poses(n: usize) -> Dataset {
    Dataset::new(Poses::new(&synthetic_poses(n.div_ceil(2).max(8), 0)).expect("figures are sound"))
}

fn rotamers(n: usize) -> Dataset {
    Dataset::new(synthetic_rotamers(n.div_ceil(8).max(8), 0))
}

/// The OCR words, which the other sets take their common fields from.
const WORDS: DataSet = DataSet {
    name: "ocr",
    title: "OCR",
    file: "ocr/letter.data.gz",
    folds: None,
    test: TestPart::None,
    task: "task=chain",
    stand_in: words,
};

/// A set of graphs of superpixels.
const fn graphs_of(name: &'static str, title: &'static str, file: &'static str) -> DataSet {
    DataSet { name, title, file, folds: None, test: TestPart::None, task: "task=graph", stand_in: graphs }
}

/// A set of rows with one label each.
const fn rows(name: &'static str, title: &'static str, file: &'static str, test: TestPart) -> DataSet {
    DataSet { name, title, file, folds: None, test, task: "task=multiclass", stand_in: letters }
}

/// A set of rows with two labels, with the kernel of the SFD thesis.
const fn kernel(name: &'static str, file: &'static str, test: TestPart, task: &'static str) -> DataSet {
    DataSet { name, title: name, file, folds: None, test, task, stand_in: halves }
}

/// USPS digits.
pub(crate) static USPS: DataSet = rows("usps", "USPS", "usps/usps.gz", TestPart::File("usps/usps.t.gz"));
/// UCI letters.
pub(crate) static LETTER: DataSet =
    rows("letter", "UCI letter", "multiclass/letter.gz", TestPart::File("multiclass/letter.t.gz"));
/// Statlog satellite images.
pub(crate) static SATIMAGE: DataSet =
    rows("satimage", "satimage", "multiclass/satimage.gz", TestPart::File("multiclass/satimage.t.gz"));
/// All of the OCR words.
pub(crate) static OCR: DataSet = WORDS;
/// The OCR words of fold 0, tested on the others: OCR small.
pub(crate) static OCR_SMALL: DataSet = DataSet {
    name: "ocr-small",
    title: "OCR fold 0",
    folds: Some(&[0]),
    test: TestPart::Folds(&[1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ..WORDS
};
/// CoNLL-2000 chunking.
pub(crate) static CONLL: DataSet = DataSet {
    name: "conll",
    title: "CoNLL-2000",
    file: "conll2000/train.txt.gz",
    task: "task=chain task.template=chunking",
    stand_in: chunks,
    ..WORDS
};
/// Weizmann horses as graphs of superpixels, made by `benchmarks/scripts/vision_features.py`.
pub(crate) static HORSES: DataSet = graphs_of("horses", "horses", "graphs/horses.safetensors");
/// Stanford background as graphs of superpixels, made likewise.
pub(crate) static STANFORD: DataSet = graphs_of("stanford", "Stanford", "graphs/stanford.safetensors");
/// Side chains: there are only synthetic ones.
pub(crate) static PROTEIN: DataSet =
    DataSet { name: "protein", title: "side chains", file: "", task: "task=mrf", stand_in: rotamers, ..WORDS };
/// Weizmann horses as maps of visual words with boxes, every fifth held out, made by `benchmarks/scripts/boxes.py`.
pub(crate) static HORSE_BOXES: DataSet = DataSet {
    name: "horse-boxes",
    title: "horses",
    file: "boxes/horses0.train.safetensors",
    test: TestPart::File("boxes/horses0.test.safetensors"),
    task: "task=box",
    stand_in: boxes,
    ..WORDS
};
/// Photographs with several faces as such maps, made likewise.
pub(crate) static FACES: DataSet = DataSet {
    name: "faces",
    title: "faces",
    file: "boxes/faces.train.safetensors",
    test: TestPart::File("boxes/faces.test.safetensors"),
    task: "task=box task.normalise=l2 task.search=windows task.windows=4",
    ..HORSE_BOXES
};
/// Photographs of people in grids of HOG cells with their joints, made by `multiplane.vision poses`
/// (docs/poses.md).
pub(crate) static POSES: DataSet = DataSet {
    name: "poses",
    title: "human poses",
    file: "poses/lspet.safetensors",
    task: "task=pose task.template=3 task.torso=9-2,8-3,12-2,12-3",
    stand_in: poses,
    ..WORDS
};
/// Adult, divided as in the thesis.
pub(crate) static ADULT: DataSet =
    kernel("a9a", "binary/a9a.gz", TestPart::RowsFrom(22696), "task=binary task.kernel=rbf task.kernel.gamma=0.05");
/// Web; its test part was not found, so that rows are divided: its first 4000 have all examples of one class.
pub(crate) static WEB: DataSet =
    kernel("w8a", "binary/w8a.gz", TestPart::MixedFrom(37000), "task=binary task.kernel=rbf task.kernel.gamma=0.1");
/// IJCNN.
pub(crate) static IJCNN: DataSet = kernel(
    "ijcnn1",
    "binary/ijcnn1.gz",
    TestPart::File("binary/ijcnn1.t.gz"),
    "task=binary task.kernel=rbf task.kernel.gamma=1.0",
);
