//! A small SVG line chart: the curves of some runs on linear or logarithmic axes.
//!
//! The text depends on the input alone, so the same records give the same bytes. Cost: linear in the points.
//! Long curves are thinned as in M4 (Jugel et al. 2014) to the first, last, lowest and highest point of each
//! column of pixels, which leaves the drawn line as it was.

use crate::axis::{ChartAxis, coordinate};
use crate::numbers::label;
use crate::report::escape;
use std::fmt::Write;

const WIDTH: f64 = 720.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 386.0;

/// Curves with more points than this are thinned.
const MANY_POINTS: usize = 800;

/// Width of the columns that thinning works by, in units of the view box: about 200 columns of 4 points.
const COLUMN: f64 = 3.0;

/// Okabe and Ito's colours (2008) without yellow, which a white ground swallows.
const PALETTE: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"];

/// A point in axis coordinates or in the view box; `None` where the axes cannot show it.
type ChartPoint = Option<(f64, f64)>;

/// One curve.
pub(crate) struct Series {
    /// Its name in the legend, which cuts the middle out of more than 32 characters.
    pub name: String,
    /// (x, y), x not decreasing. A point that the axes cannot show (not finite, or not positive on a
    /// logarithmic axis) interrupts the line.
    pub points: Vec<(f64, f64)>,
    /// (x, lowest y, highest y) of what the curve is a middle of, x not decreasing; none if it stands for itself.
    pub band: Vec<(f64, f64, f64)>,
    /// Dashed instead of solid.
    pub dashed: bool,
    /// Index into a palette of seven colours, modulo seven. Curves alike in colour and dash end in different
    /// markers, of which there are four.
    pub color: usize,
}

/// A line chart in a view box of 720 x 440, its legend beside the plot.
pub(crate) struct Chart {
    /// Heading and `<title>`.
    pub title: String,
    /// The name of x, and its unit.
    pub x_label: String,
    /// The name of y, and its unit.
    pub y_label: String,
    /// True if x is logarithmic.
    pub x_log: bool,
    /// True if y is logarithmic.
    pub y_log: bool,
    /// A thin horizontal line at this y, e.g. the gap at which runs stop; the y axis always reaches it.
    pub target: Option<f64>,
    /// The curves, in the order of the legend.
    pub series: Vec<Series>,
}

/// The width of a chart's legend, and its range of x: charts that stand one below the other share one.
#[derive(Default)]
pub(crate) struct ChartFrame {
    /// Letters of the longest name in the legend.
    longest: usize,
    /// The range of x in axis coordinates.
    x: Option<(f64, f64)>,
}

impl ChartFrame {
    /// The frame that has room for both.
    pub(crate) fn joined(self, other: ChartFrame) -> ChartFrame {
        let x = match (self.x, other.x) {
            (Some((low, high)), Some((other_low, other_high))) => Some((low.min(other_low), high.max(other_high))),
            (x, other) => x.or(other),
        };
        ChartFrame { longest: self.longest.max(other.longest), x }
    }
}

/// The rectangle between (`LEFT`, `TOP`) and (`right`, `BOTTOM`) with its axes.
struct Plot {
    right: f64,
    x: ChartAxis,
    y: ChartAxis,
}

impl Chart {
    /// The chart as one SVG element without ids, scripts or references: a file, or part of a page.
    pub(crate) fn svg(&self) -> String {
        self.svg_within(&self.frame())
    }

    /// The frame that it has by itself.
    pub(crate) fn frame(&self) -> ChartFrame {
        let longest = self.names().iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let points = self.series.iter().flat_map(|series| &series.points);
        let shown = points.filter(|(_, y)| coordinate(*y, self.y_log).is_some());
        let range =
            shown.filter_map(|(x, _)| coordinate(*x, self.x_log)).map(|x| ChartFrame { longest, x: Some((x, x)) });
        range.reduce(ChartFrame::joined).unwrap_or(ChartFrame { longest, x: None })
    }

    /// The names of the legend.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.series.iter().map(|s| shorten(&s.name)).collect();
        if let Some(y) = self.target.filter(|&y| coordinate(y, self.y_log).is_some()) {
            names.push(format!("target {}", label(y, 3)));
        }
        names
    }

    /// The same in a frame that others share.
    pub(crate) fn svg_within(&self, frame: &ChartFrame) -> String {
        let place =
            |&(x, y): &(f64, f64)| -> ChartPoint { Some((coordinate(x, self.x_log)?, coordinate(y, self.y_log)?)) };
        let curves = self.series.iter().map(|series| series.points.iter().map(place).collect());
        let curves: Vec<Vec<ChartPoint>> = curves.collect();
        let shown = || curves.iter().flatten().flatten();
        let bands: Vec<Vec<(f64, f64, f64)>> = self.series.iter().map(|series| self.band_of(series)).collect();
        let ends = bands.iter().flatten().flat_map(|&(_, low, high)| [low, high]);
        let target = self.target.and_then(|y| coordinate(y, self.y_log));

        let names = self.names();
        let plot = Plot {
            right: WIDTH - 20.0 - if names.is_empty() { 0.0 } else { 56.0 + 6.8 * frame.longest as f64 },
            x: ChartAxis::covering(frame.x.into_iter().flat_map(|(low, high)| [low, high]), self.x_log),
            y: ChartAxis::covering(shown().map(|point| point.1).chain(target).chain(ends), self.y_log),
        };

        let mut out = String::new();
        self.open(&plot, &mut out);
        plot.draw_grid(&mut out);
        if shown().next().is_none() {
            let middle = ((LEFT + plot.right) / 2.0, (TOP + BOTTOM) / 2.0);
            text(&mut out, middle, r#"text-anchor="middle""#, "nothing to draw");
        }
        let entries = draw_names(&names, plot.right + 18.0, &mut out);
        if let (Some(y), Some(&entry)) = (target, entries.get(self.series.len())) {
            draw_target(entry, 28.0, &mut out);
            draw_target(plot.pixel((plot.x.low, y)), plot.right - LEFT, &mut out);
        }
        for (series, band) in self.series.iter().zip(&bands) {
            series.draw_band(&plot, band, &mut out);
        }
        let mut markers = String::new(); // drawn last: no curve hides the end of another
        for (i, (series, curve)) in self.series.iter().zip(&curves).enumerate() {
            let alike = |other: &&Series| other.style() == series.style();
            let shape = self.series[..i].iter().filter(alike).count();
            let pixels: Vec<ChartPoint> = curve.iter().map(|place| place.map(|at| plot.pixel(at))).collect();
            let (x, y) = entries[i];
            for line in [&pixels[..], &[Some((x, y)), Some((x + 28.0, y))]] {
                series.draw_line(line, &mut out);
                if !series.is_strokes() {
                    series.draw_marker(line, shape, &mut markers);
                }
            }
        }
        out += &markers;
        out += "</svg>\n";
        out
    }

    /// The part of a band that the axes can show, in axis coordinates.
    fn band_of(&self, series: &Series) -> Vec<(f64, f64, f64)> {
        let place = |&(x, low, high): &(f64, f64, f64)| {
            Some((coordinate(x, self.x_log)?, coordinate(low, self.y_log)?, coordinate(high, self.y_log)?))
        };
        series.band.iter().filter_map(place).collect()
    }

    /// Opens the element; ground, heading and axis labels.
    fn open(&self, plot: &Plot, out: &mut String) {
        let title = escape(&self.title);
        *out += r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 440" role="img" fill="#333" "##;
        *out += r#"font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="12">"#;
        let _ = writeln!(out, "\n<title>{title}</title>");
        *out += r##"<rect width="720" height="440" rx="6" fill="#fff"/>"##;
        *out += "\n";
        // A long heading gets smaller letters rather than running out of the picture.
        let size = number((1050.0 / self.title.chars().count().max(1) as f64).min(16.0));
        let heading = format!(r##"font-size="{size}" font-weight="600" fill="#111""##);
        text(out, (LEFT, 28.0), &heading, &self.title);
        let (x, y) = ((LEFT + plot.right) / 2.0, (TOP + BOTTOM) / 2.0);
        let centred = r#"font-size="13" text-anchor="middle""#;
        text(out, (x, 426.0), centred, &self.x_label);
        let upward = format!(r#"{centred} transform="rotate(-90 18 {})""#, number(y));
        text(out, (18.0, y), &upward, &self.y_label);
    }
}

impl Series {
    /// Colour and dash as drawn.
    fn style(&self) -> (&'static str, bool) {
        (PALETTE[self.color % PALETTE.len()], self.dashed)
    }

    /// The line through these points of the view box, interrupted at each `None`.
    fn draw_line(&self, pixels: &[ChartPoint], out: &mut String) {
        let mut path = String::new();
        let mut joined_from = None;
        for i in thin(pixels) {
            let Some((x, y)) = pixels[i] else { continue };
            let joined = joined_from.is_some_and(|j: usize| pixels[j..i].iter().all(Option::is_some));
            // `h0` makes a point between two interruptions a dot, by the round line cap.
            let (pen, dot) = if joined { ("L", "") } else { ("M", "h0") };
            let _ = write!(path, "{pen}{} {}{dot}", number(x), number(y));
            joined_from = Some(i);
        }
        let (color, dashed) = self.style();
        let dashes = if dashed { r#" stroke-dasharray="4 5""# } else { "" };
        let _ = write!(out, r#"<path d="{path}" fill="none" stroke="{color}" stroke-width="1.8""#);
        let _ = writeln!(out, r#" stroke-linecap="round" stroke-linejoin="round"{dashes}/>"#);
    }

    /// The band as one area in a light tone of the curve's colour.
    fn draw_band(&self, plot: &Plot, band: &[(f64, f64, f64)], out: &mut String) {
        let above = band.iter().map(|&(x, _, high)| plot.pixel((x, high)));
        let below = band.iter().rev().map(|&(x, low, _)| plot.pixel((x, low)));
        let corners: Vec<String> = above.chain(below).map(|(x, y)| format!("{} {}", number(x), number(y))).collect();
        if band.len() > 1 {
            let (outline, color) = (corners.join("L"), self.style().0);
            let _ = writeln!(out, r#"<path d="M{outline}z" fill="{color}" fill-opacity="0.18"/>"#);
        }
    }

    /// Returns true if it is made of vertical strokes, which have no end that a marker could show.
    fn is_strokes(&self) -> bool {
        let mut pieces = self.points.windows(2).filter(|pair| pair.iter().all(|(_, y)| y.is_finite())).peekable();
        pieces.peek().is_some() && pieces.all(|pair| pair[0].0 == pair[1].0)
    }

    /// Marker number `shape` at the last of these points that can be shown.
    fn draw_marker(&self, pixels: &[ChartPoint], shape: usize, out: &mut String) {
        let Some(&(x, y)) = pixels.iter().flatten().last() else { return };
        let outline = match shape % 4 {
            0 => "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
            1 => "m-4 -4h8v8h-8z",
            2 => "m0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z",
            _ => "m0 -5l5.5 9h-11z",
        };
        let (x, y, color) = (number(x), number(y), self.style().0);
        let _ = writeln!(out, r##"<path d="M{x} {y}{outline}" fill="{color}" stroke="#fff"/>"##);
    }
}

impl Plot {
    /// Returns the place in the view box of a point in axis coordinates.
    fn pixel(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let share = |axis: &ChartAxis, at: f64| (at - axis.low) / (axis.high - axis.low);
        let across = share(&self.x, x) * (self.right - LEFT);
        (LEFT + across, BOTTOM - share(&self.y, y) * (BOTTOM - TOP))
    }

    /// Grid lines and labels at labelled ticks, strokes at the others, and the two axes.
    fn draw_grid(&self, out: &mut String) {
        let (mut grid, mut strokes) = (String::new(), String::new());
        let right = number(self.right);
        for (at, name) in self.x.ticks() {
            let (x, _) = self.pixel((at, self.y.low));
            let _ = match name {
                Some(_) => write!(grid, "M{} {TOP}V{BOTTOM}", number(x)),
                None => write!(strokes, "M{} {BOTTOM}v-4", number(x)),
            };
            let name = name.unwrap_or_default();
            text(out, (x, BOTTOM + 18.0), r#"text-anchor="middle""#, &name);
        }
        for (at, name) in self.y.ticks() {
            let (_, y) = self.pixel((self.x.low, at));
            let _ = match name {
                Some(_) => write!(grid, "M{LEFT} {}H{right}", number(y)),
                None => write!(strokes, "M{LEFT} {}h4", number(y)),
            };
            let name = name.unwrap_or_default();
            text(out, (LEFT - 8.0, y + 4.0), r#"text-anchor="end""#, &name);
        }
        let axes = format!("M{LEFT} {TOP}V{BOTTOM}H{right}");
        for (path, color) in [(grid, "#e2e2e2"), (strokes, "#999"), (axes, "#777")] {
            let _ = writeln!(out, r#"<path d="{path}" fill="none" stroke="{color}"/>"#);
        }
    }
}

/// The names of the legend, in smaller letters where they are many; returns the left end of each sample line.
fn draw_names(names: &[String], left: f64, out: &mut String) -> Vec<(f64, f64)> {
    let spacing = ((BOTTOM - TOP) / names.len().max(1) as f64).min(22.0);
    let size = spacing.min(12.0);
    let mut entries = Vec::new();
    for (row, name) in names.iter().enumerate() {
        let y = TOP + (row as f64 + 0.5) * spacing;
        let attributes = format!(r#"font-size="{}""#, number(size));
        text(out, (left + 40.0, y + size / 3.0), &attributes, name);
        entries.push((left, y));
    }
    entries
}

/// A piece of the target line, or its sample in the legend.
fn draw_target((x, y): (f64, f64), length: f64, out: &mut String) {
    let (x, y, length) = (number(x), number(y), number(length));
    let _ = writeln!(out, r##"<path d="M{x} {y}h{length}" stroke="#444" stroke-dasharray="2 3"/>"##);
}

/// A text element, unless empty; `attributes` is markup, `content` is not.
fn text(out: &mut String, (x, y): (f64, f64), attributes: &str, content: &str) {
    if !content.is_empty() {
        let (x, y, content) = (number(x), number(y), escape(content));
        let _ = writeln!(out, r#"<text x="{x}" y="{y}" {attributes}>{content}</text>"#);
    }
}

/// A length in the view box with at most two decimals.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A name short enough for the legend; its end stays, since the names of runs often differ there.
fn shorten(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    if chars.len() <= 32 {
        return name.to_owned();
    }
    let (start, end) = (&chars[..17], &chars[chars.len() - 14..]);
    start.iter().chain(&['…']).chain(end).collect()
}

/// The points that draw the same line at the resolution of a screen, by index; none that are `None`.
fn thin(pixels: &[ChartPoint]) -> Vec<usize> {
    let valid = pixels.iter().enumerate().filter_map(|(i, place)| place.map(|(x, y)| (i, x, y)));
    let valid: Vec<(usize, f64, f64)> = valid.collect();
    if valid.len() <= MANY_POINTS {
        return valid.iter().map(|point| point.0).collect();
    }
    let mut kept = Vec::new();
    for column in valid.chunk_by(|a, b| (a.1 / COLUMN).floor() == (b.1 / COLUMN).floor()) {
        let lowest = column.iter().min_by(|a, b| a.2.total_cmp(&b.2));
        let highest = column.iter().max_by(|a, b| a.2.total_cmp(&b.2));
        let extremes = [column.first(), lowest, highest, column.last()];
        kept.extend(extremes.into_iter().flatten().map(|point| point.0));
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests;
