//! Charts of ordinary and of hostile data.

use super::*;

/// A chart of one solid curve with both axes logarithmic or both linear.
fn chart(points: Vec<(f64, f64)>, log: bool) -> Chart {
    let series = vec![Series { name: "a<b & \"c\"".to_owned(), points, band: Vec::new(), dashed: false, color: 9 }];
    let [title, x_label, y_label] = ["<gap>", "oracle calls", "gap"].map(str::to_owned);
    Chart { title, x_label, y_label, x_log: log, y_log: log, target: Some(1e-3), series }
}

/// The paths stroked in the curve's colour: first the curve, then its sample in the legend.
fn curve_of(svg: &str) -> &str {
    let line = svg.lines().find(|line| line.contains(r##"stroke="#009E73""##)).expect("a curve");
    line.split('"').nth(1).expect("a path")
}

/// The same chart gives the same bytes, and lengths have at most two decimals.
#[test]
fn text_is_deterministic_and_short() {
    let points: Vec<(f64, f64)> = (1..90).map(|i| (f64::from(i).exp2(), 1.0 / f64::from(i))).collect();
    let svg = chart(points.clone(), true).svg();
    assert_eq!(svg, chart(points, true).svg());
    for line in svg.lines().filter(|line| line.starts_with("<path")) {
        let decimals = line.split('.').skip(1).map(|rest| rest.bytes().take_while(u8::is_ascii_digit).count());
        assert!(decimals.max().unwrap_or(0) <= 2, "{line}");
    }
}

/// Names and title cannot break out of their elements.
#[test]
fn names_are_escaped() {
    let svg = chart(vec![(1.0, 1.0)], true).svg();
    assert!(svg.contains("<title>&lt;gap&gt;</title>"));
    assert!(svg.contains(">a&lt;b &amp; &quot;c&quot;</text>"));
}

/// No input panics, and none puts a number into the file that is not finite.
#[test]
fn odd_input_is_drawn_without_panic() {
    let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, -0.0, 5e-324, 1e-99, 1.0, 1.0 + 1e-15, 1e99, f64::MAX];
    let pairs = odd.iter().flat_map(|&x| odd.map(|y| vec![(x, y), (1.0, x), (y, y)]));
    let cases = [vec![], vec![(1.0, 1.0)], vec![(2.0, 3.0); 5], vec![(0.0, 0.0); 2], vec![(-3.0, -3.0)]];
    for points in pairs.chain(cases) {
        for log in [false, true] {
            let svg = Chart { target: points.first().map(|point| point.1), ..chart(points.clone(), log) }.svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{points:?} log {log}");
        }
    }
    let empty = Chart { series: Vec::new(), target: None, ..chart(Vec::new(), true) };
    assert!(empty.svg().contains("nothing to draw"));
}

/// Points that a logarithmic axis cannot show interrupt the line.
#[test]
fn gaps_interrupt_the_line() {
    let points = [1.0, 0.5, 0.0, 0.2, f64::NAN, 0.1, 0.05].iter().zip(1..).map(|(&y, x)| (f64::from(x), y));
    let svg = chart(points.collect(), true).svg();
    assert_eq!(curve_of(&svg).matches('M').count(), 3);
    assert_eq!(curve_of(&svg).matches('L').count(), 2);
}

/// Long curves are thinned to about 800 points, and a single outlier survives it.
#[test]
fn long_curves_are_thinned() {
    let mut points: Vec<(f64, f64)> = (0..50_000).map(|i| (f64::from(i), f64::from(i % 97))).collect();
    points[31_234].1 = 1000.0;
    let plain = chart(points, false);
    let pixels: Vec<ChartPoint> = plain.series[0].points.iter().map(|&(x, y)| Some((x / 100.0, -y))).collect();
    assert!(thin(&pixels).contains(&31_234));
    let svg = plain.svg();
    assert!((100..=850).contains(&curve_of(&svg).matches('L').count()));
}

/// Names that are too long for the legend keep start and end, and even then it stands beside the curves.
#[test]
fn long_names_fit_beside_the_plot() {
    let name = "bcpfw-gap-cache with a long description, delay 100 µs";
    assert_eq!(shorten(name), "bcpfw-gap-cache w…, delay 100 µs");
    let mut chart = chart(vec![(1.0, 1.0), (2.0, 0.5)], false);
    chart.series[0].name = name.to_owned();
    let svg = chart.svg();
    let entry = svg.lines().find(|line| line.contains('…')).and_then(|line| line.split('"').nth(1));
    let left: f64 = entry.and_then(|x| x.parse().ok()).expect("the entry's x");
    let end = curve_of(&svg).rsplit('L').next().and_then(|point| point.split(' ').next());
    let end: f64 = end.and_then(|x| x.parse().ok()).expect("the curve's last x");
    assert!(end < left - 40.0 && left + 32.0 * 6.8 < WIDTH, "curve to {end}, names from {left}");
}

/// A band is one light area, the y axis reaches its ends, and what the axes cannot show is left out.
#[test]
fn bands_are_areas() {
    let mut chart = chart(vec![(1.0, 1.0), (2.0, 1.0)], true);
    assert!(!chart.svg().contains("fill-opacity"));
    chart.series[0].band = vec![(1.0, 0.5, 2.0), (1.5, f64::NAN, 2.0), (2.0, 1e-3, 1e3)];
    let svg = chart.svg();
    let area = svg.lines().find(|line| line.contains("fill-opacity")).expect("an area");
    assert_eq!(area.matches('L').count(), 3, "four corners: {area}");
    assert!(!svg.contains("NaN") && svg.contains(">100</text>"), "{svg}");
}
