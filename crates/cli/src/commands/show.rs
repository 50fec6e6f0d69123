//! `multiplane show`: what a model is, how it was trained, what is proven of it, and its strongest weights by name.

use multiplane::model_report::ModelReport;
use multiplane::{Error, ModelFile, PathKind, PathModel};
use multiplane_lab::numbers::number;
use serde_json::{Value, json};

use crate::args::ShowArgs;
use crate::commands::done::Done;
use crate::commands::on_data::{Chosen, at_lambda};
use crate::fill::{TextTable, columns, filled};
use crate::report_text::text;
use crate::terminal::{print, print_json};

/// Rows of a path or grid that are printed, at most; the first and the last of more.
const MOST_ROWS: usize = 30;

pub(crate) fn run(args: &ShowArgs) -> Result<Done, Error> {
    let saved = ModelFile::load(args.model())?;
    let rows = match &saved {
        ModelFile::Model(_) => None,
        ModelFile::Path(path) => Some(ShownRows::of(path)),
    };
    let blame = |error: Error| match error {
        Error::Input(_) | Error::Parameter(_) => Error::input(format!("{}: {error}", args.model().display())),
        failed => failed,
    };
    let (look, is_chosen) = match at_lambda(args.model(), args.lambda.as_deref(), saved)? {
        Chosen::Model(model) => (ModelReport::of(&model, args.top).map_err(blame)?, true),
        // What they have in common.
        Chosen::None(path) => (ModelReport::of(&path.at(path.lambdas[0])?, 0).map_err(blame)?, false),
    };
    if args.json {
        let mut json = serde_json::to_value(&look).map_err(|error| Error::failed(error.to_string()))?;
        if !is_chosen {
            for of_one in ["lambda", "primal", "dual", "gap", "certified", "uncertified", "nonzero", "tables"] {
                json[of_one] = Value::Null;
            }
        }
        json["path"] = rows.map_or(Value::Null, |rows| rows.json());
        print_json(&json)?;
    } else {
        let columns = columns();
        let rows = rows.map_or(String::new(), |rows| rows.text(is_chosen, args.lambda.is_some(), columns));
        print(&filled(&format!("{}{rows}", text(&look, is_chosen, columns)), columns))?;
    }
    Ok(Done::Finished)
}

/// The points of a path or grid.
struct ShownRows {
    kind: PathKind,
    chosen: Option<f64>,
    end: f64,
    certified: bool,
    points: Vec<ShownPoint>,
}

struct ShownPoint {
    lambda: f64,
    primal: f64,
    dual: Option<f64>,
    nonzero: usize,
}

impl ShownRows {
    fn of(path: &PathModel) -> Self {
        let point = |k: usize| ShownPoint {
            lambda: path.lambdas[k],
            primal: path.primal[k],
            dual: Some(path.dual[k]).filter(|dual| !dual.is_nan()),
            nonzero: path.row(k).iter().filter(|weight| **weight != 0.0).count(),
        };
        ShownRows {
            kind: path.info.kind,
            chosen: path.info.chosen,
            end: path.info.lambda_end,
            certified: path.info.certified,
            points: (0..path.lambdas.len()).map(point).collect(),
        }
    }

    fn json(&self) -> Value {
        let point = |point: &ShownPoint| {
            let ShownPoint { lambda, primal, dual, nonzero } = point;
            let gap = dual.map(|dual| primal - dual);
            json!({ "lambda": lambda, "primal": primal, "dual": dual, "gap": gap, "nonzero": nonzero })
        };
        let rows: Vec<Value> = self.points.iter().map(point).collect();
        json!({
            "kind": self.kind,
            "chosen": self.chosen,
            "lambda_end": self.end,
            "certified": self.certified,
            "rows": rows,
        })
    }

    fn text(&self, is_chosen: bool, is_named: bool, columns: Option<usize>) -> String {
        let count = self.points.len();
        let what = match self.kind {
            PathKind::Path => format!("a path of {count} breakpoints down to lambda = {}", number(self.end)),
            PathKind::Grid => format!("a grid of {count} lambdas"),
        };
        let proven = if self.certified { "all gaps certified" } else { "not all gaps certified" };
        let which = match (is_chosen, is_named) {
            (false, _) => ".\n--lambda X shows the weights at X",
            (true, false) => ".\nAbove: at the lambda that held-out examples chose",
            (true, true) => ".\nAbove: at the lambda asked for",
        };
        let mut text = format!("\n{what}, {proven}{which}\n");
        let mut table = TextTable::new(&["lambda", "primal", "dual", "gap", "nonzero"].map(|head| (head, 12)));
        let shown = |value: Option<f64>| value.map_or("-".into(), number);
        for (k, point) in self.points.iter().enumerate() {
            if count > MOST_ROWS && (MOST_ROWS / 2..count - MOST_ROWS / 2).contains(&k) {
                if k == MOST_ROWS / 2 {
                    table.note(format!("... {} more (--json lists all)", count - MOST_ROWS / 2 * 2));
                }
                continue;
            }
            let gap = point.dual.map(|dual| point.primal - dual);
            let numbers = [number(point.lambda), number(point.primal), shown(point.dual), shown(gap)];
            table.push(numbers.into_iter().chain([point.nonzero.to_string()]));
        }
        text += &table.text(columns);
        text
    }
}
