//! The best box near boxes that are known, in the place of a call: its sides are theirs, or one line of the grid off.

use std::sync::Arc;

use multiplane_core::task::{Case, ExampleOf, LabelledVariables, RecombineLabels};
use multiplane_infer::boxes::{BoxQuestion, Places, Rect, WordMap};

use super::boxed::Boxed;
use super::task::{BoxScratch, BoxTask};
use crate::builtin::task::BuiltinTask;
use crate::data::boxes::BoxImage;

/// Sets of boxes that a search near known ones divides at most.
const MOST_SETS: usize = 1000;

/// Returns the box with these sides, or none if all are 0.
fn boxed(sides: &[u32]) -> Option<Boxed> {
    match *sides {
        [0, 0, 0, 0] => Some(Boxed::default()),
        [left, top, right, bottom] => Some(Boxed::new(vec![Rect::new(left, top, right, bottom)])),
        _ => None,
    }
}

/// The sides of an answer.
impl LabelledVariables<BoxTask> for BoxTask {
    fn variables(&self, _: &Arc<BoxImage>) -> usize {
        4
    }

    fn label_count(&self, _: &Arc<BoxImage>, _: usize) -> usize {
        WordMap::MOST as usize + 1
    }

    fn is_labelling(&self, example: ExampleOf<'_, BoxTask>, code: &[u32]) -> bool {
        boxed(code).is_some_and(|y| self.is_labelling_of(example.input, &y))
    }
}

/// Boxes next to the known ones are tried as well: they cost little more.
impl RecombineLabels<BoxTask> for BoxTask {
    fn recombine(&self, case: Case<'_, Self>, w: &[f64], codes: &[u32], out: &mut Boxed) -> Result<(), String> {
        let Case { input, truth, scratch: BoxScratch { engine, found, .. }, .. } = case;
        let known = codes.chunks_exact(4).filter_map(boxed).flat_map(|y| y.boxes().to_vec());
        let rects: Vec<Rect> = known.chain(truth.boxes().iter().copied()).collect();
        let question = self.question(input, Some(truth), w);
        if let Places::Grid { stride, .. } = question.places {
            let places = Places::Near { stride, rects: &rects, most: MOST_SETS };
            engine.search(BoxQuestion { places, ..question }, &[], (1, 1.0), found);
        }
        self.take_best(found, self.of_none(Some(truth), w), out)?;
        Ok(())
    }
}
