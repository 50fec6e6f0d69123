//! Tables as people have them, and the faults in them.

use super::*;
use crate::format::StreamRules;
use crate::rules::Column;
use crate::text::{self, assert_errors};

fn parse(lines: Lines) -> Result<Classified, DataError> {
    text::parse::<RowReader<TableReader>, _>(lines)
}

/// A header, blanks and blank lines make no difference; zeros are left out but keep their columns.
#[test]
fn rows_are_read() {
    for text in ["0.5,1,0,3\n0,0,0,-7\n", "\na,b,c,label\r\n 0.5 ,1.0,-0,3e0\r\n\n0,0,0,\t-7"] {
        let data = parse(Lines::from_bytes("f", text.as_bytes()).unwrap()).unwrap();
        assert_eq!(data.labels, [3, -7]);
        assert_eq!((data.rows.columns(), data.rows.nonzeros()), (3, 2));
        assert_eq!(data.rows.row(0).iter().collect::<Vec<_>>(), [(0, 0.5), (1, 1.0)]);
    }
}

fn ruled(text: &str, rules: ReadRules) -> Result<Classified, String> {
    let lines = Lines::from_bytes("f", text.as_bytes()).unwrap();
    text::parse_with::<RowReader<TableReader>, _>(lines, &rules).map_err(|error| error.to_string())
}

fn column(name: &str) -> ReadRules {
    ReadRules { label_column: Some(Column(name.into())), ..ReadRules::default() }
}

/// Tabs, semicolons and commas, quoted or not, and a label in any column: the same table. Names are kept, and labels
/// are numbered in alphabetical order.
#[test]
fn tables_as_people_have_them() {
    let plain = parse(Lines::from_bytes("f", b"a,b,kind\n1,0,x\n0,2,\"c, d\"\n0,0,x\n").unwrap()).unwrap();
    assert_eq!((&plain.labels[..], &plain.names[..]), (&[1, 0, 1][..], &["c, d".to_owned(), "x".to_owned()][..]));
    assert_eq!(plain.features.as_ref().unwrap().iter().collect::<Vec<_>>(), ["a", "b"]);
    for text in
        ["a\tb\tkind\n1\t0\tx\n0\t2\tc, d\n0\t0\tx\n", "\"a\" ;b; kind\n\"1\";0;x\r\n0; 2 ;\"c, d\"\n\n0;0;\"x\""]
    {
        assert_eq!(parse(Lines::from_bytes("f", text.as_bytes()).unwrap()), Ok(plain.clone()), "{text}");
    }
    let second = "a,kind,b\n1,x,0\n0,\"c, d\",2\n0,x,0\n";
    for name in ["kind", "2", "-2"] {
        assert_eq!(ruled(second, column(name)), Ok(plain.clone()), "{name}");
    }
    let quotes = parse(Lines::from_bytes("f", b"1,\"a \"\"b\"\"\"\n").unwrap()).unwrap();
    assert_eq!(quotes.names, ["a \"b\""]);
    let bar = ReadRules { separator: Some('|'), ..ReadRules::default() };
    assert_eq!(ruled("1|2|3\n", bar).unwrap().rows.columns(), 2);
    let twice = parse(Lines::from_bytes("f", b"a,a,kind\n1,0,x\n").unwrap()).unwrap();
    assert_eq!(twice.features, None, "names that come twice name nothing");
}

/// Columns that are left out are neither features nor the label, and count where columns are told by their numbers.
#[test]
fn columns_are_ignored() {
    let ignoring = |names: &[&str]| names.iter().map(|name| Column((*name).into())).collect::<Vec<_>>();
    let rules = |names: &[&str]| ReadRules { ignored: ignoring(names), ..ReadRules::default() };
    let plain = parse(Lines::from_bytes("f", b"a,b,kind\n1,0,x\n0,2,y\n").unwrap()).unwrap();
    let text = "id,a,when,b,kind,note\nr7,1,mon,0,x,\nr8,0,tue,2,y,?\n";
    for names in [&["id", "when", "note"][..], &["-1", "1", "3"], &["note", "1", "id", "when"]] {
        assert_eq!(ruled(text, rules(names)), Ok(plain.clone()), "{names:?}");
    }
    let fifth = ReadRules { label_column: column("5").label_column, ..rules(&["id", "when", "note"]) };
    assert_eq!(ruled(text, fifth), Ok(plain.clone()));
    let (_, headless) = text.split_once('\n').unwrap();
    let found = ruled(headless, rules(&["1", "3", "6"])).unwrap();
    assert_eq!((&found.rows, &found.labels, found.features), (&plain.rows, &plain.labels, None));
    let known = ReadRules { unlabelled: true, features: Some(2), names: plain.features.clone(), ..rules(&["id"]) };
    assert_eq!(ruled("b,id,a\n4,x,3\n", known).unwrap().rows.row(0).iter().collect::<Vec<_>>(), [(0, 3.0), (1, 4.0)]);
    let refused = |names: &[&str]| ruled(text, rules(names)).unwrap_err();
    assert_eq!(
        refused(&["id", "note"]),
        "f:2:6: found `mon` as value, expected a finite number; to leave this column out: set data.ignore=3 (or \
         =when)"
    );
    assert_eq!(refused(&["ID"]), "f:1:1: found no column `ID` (data.ignore): did you mean `id`?");
    assert!(refused(&["7"]).ends_with("or a number from 1 to 6 (from -1 counted from the last)"));
    let both = ReadRules { label_column: column("id").label_column, ..rules(&["1"]) };
    assert_eq!(
        ruled(text, both).unwrap_err(),
        "f:1:1: found column `id` as data.label_column and among data.ignore, expected one of both"
    );
    assert_eq!(
        ruled("1,2,3\n1,2\n", rules(&["1"])).unwrap_err(),
        "f:2:4: found 2 columns, expected 3 as on line 1, separated by commas"
    );
    assert_eq!(
        ruled("1,2\n", rules(&["1"])).unwrap_err(),
        "f:1:4: found 1 column beside those of data.ignore, expected at least two columns, separated by commas"
    );
}

/// Of a name that comes twice both columns go, and pandas' index, which has no name, goes by its number.
#[test]
fn names_may_be_twice_or_missing() {
    let ignoring = |name: &str| ReadRules { ignored: vec![Column(name.into())], ..ReadRules::default() };
    let plain = parse(Lines::from_bytes("f", b"a,kind\n1,x\n0,y\n").unwrap()).unwrap();
    assert_eq!(ruled("id,a,id,kind\n7,1,8,x\n7,0,9,y\n", ignoring("id")), Ok(plain.clone()));
    assert_eq!(ruled(",a,kind\n0,1,x\n1,0,y\n", ignoring("1")), Ok(plain));
}

/// Columns that a model was trained without are left out, and may be missing; where numbers cannot tell, it
/// is asked for.
#[test]
fn models_remember_what_is_left_out() {
    let mut names = Strings::new();
    names.intern("a");
    names.intern("b");
    let by_model = |ignored: &str, names: Option<Arc<Strings>>| ReadRules {
        unlabelled: true,
        features: Some(2),
        names,
        ignored: vec![Column(ignored.into())],
        ignored_by_model: true,
        ..ReadRules::default()
    };
    let rows = |text: &str, rules: ReadRules| {
        ruled(text, rules).map(|data| (data.rows.row(0).iter().collect::<Vec<_>>(), data.labels[0]))
    };
    let (row, none) = (vec![(0, 3.0), (1, 4.0)], Classified::NO_LABEL);
    for ignored in ["id", "1"] {
        for (text, label) in
            [("id,a,b\n9,3,4\n", none), ("a,b\n3,4\n", none), ("id,a,b,k\n9,3,4,7\n", 7), ("b,a,k\n4,3,7\n", 7)]
        {
            let known = by_model(ignored, Some(Arc::new(names.clone())));
            assert_eq!(rows(text, known), Ok((row.clone(), label)), "{ignored}: {text}");
        }
    }
    let numbered = by_model("1", None);
    assert_eq!(rows("9,3,4,7\n", numbered.clone()), Ok((row.clone(), 7)));
    assert_eq!(rows("3,4\n", numbered.clone()), Ok((row, none)));
    assert_eq!(
        rows("9,3,4\n", numbered).unwrap_err(),
        "f:1:6: found 3 columns, and the model has 2 features and was trained without others: say whether these are \
         here: \
         data.ignore=1, or data.ignore=[]"
    );
}

/// If a model knows its features, their number or names tell whether there is a label, and names may come in any
/// order.
#[test]
fn models_tell_the_label() {
    let mut names = Strings::new();
    names.intern("a");
    names.intern("b");
    let known = ReadRules { unlabelled: true, features: Some(2), names: Some(Arc::new(names)), ..ReadRules::default() };
    let rows = |text: &str| {
        let data = ruled(text, known.clone()).unwrap();
        let row = |i: usize| data.rows.row(i).iter().collect::<Vec<_>>();
        ((0..data.rows.len()).map(row).collect::<Vec<_>>(), data.labels)
    };
    let none = Classified::NO_LABEL;
    assert_eq!(rows("3,4\n"), (vec![vec![(0, 3.0), (1, 4.0)]], vec![none]));
    assert_eq!(rows("3,4,7\n1,1,\n"), (vec![vec![(0, 3.0), (1, 4.0)], vec![(0, 1.0), (1, 1.0)]], vec![7, none]));
    assert_eq!(rows("b,a\n4,3\n"), (vec![vec![(0, 3.0), (1, 4.0)]], vec![none]));
    assert_eq!(rows("b,kind,a\n4,7,3\n"), (vec![vec![(0, 3.0), (1, 4.0)]], vec![7]));
    let refused = |text: &str| ruled(text, known.clone()).unwrap_err();
    assert_eq!(refused("a,c\n1,2\n"), "f:1:4: found no column `b`, which the model was trained on");
    assert_eq!(
        refused("a,c,d,e\n1,2,3,4\n"),
        "f:1:3: found `c` as column, expected a column that the model was trained on (`a`, `b`) or the label \
         (data.label_column): leave others out by data.ignore"
    );
    assert_eq!(
        refused("d,a,b,e\n1,2,3,4\n"),
        "f:1:1: found columns `d`, `e` that the model was not trained on, expected one at most, the label: name it by \
         data.label_column, and leave others out by data.ignore"
    );
    assert_eq!(refused("a,b,b,k\n1,2,3,4\n"), "f:1:5: found `b` as column, expected each column of the model once");
    let width = |found: &str| {
        format!("found {found}, expected 2, the features of the model, or 3 with a label, separated by commas")
    };
    assert_eq!(refused("1\n"), format!("f:1:2: {}", width("1 column")));
    assert_eq!(refused("\n1,2,3,4\n"), format!("f:2:8: {}", width("4 columns")));
    for asked in ["kind", "99"] {
        let rules = ReadRules { label_column: column(asked).label_column, ..known.clone() };
        let error = ruled("a,b,score\n1,2,3\n", rules).unwrap_err();
        assert!(error.contains(&format!("found no column `{asked}` (data.label_column)")), "{error}");
    }
    let numbered = ReadRules { names: None, ..known.clone() };
    assert_eq!(ruled("p,q,r,s\n", numbered.clone()).unwrap_err(), format!("f:1:8: {}", width("4 columns")));
    let first = ReadRules { label_column: column("1").label_column, ..numbered };
    assert_eq!(ruled("7,1,2\n", first.clone()).unwrap().labels, [7]);
    assert_eq!(ruled("7,1,2,3\n", first).unwrap_err(), format!("f:1:8: {}", width("4 columns")));
    assert_eq!(
        ruled("a,b\n", column("c")).unwrap_err(),
        "f:1:1: found no column `c` (data.label_column), expected `a`, `b`, or a number from 1 to 2 (from -1 counted \
         from the last)"
    );
    assert_eq!(
        ruled("a,Kind\n", column("kind")).unwrap_err(),
        "f:1:1: found no column `kind` (data.label_column): did you mean `Kind`?"
    );
    // Of test data, which have labels, the names tell the label, too, whatever its number was in training.
    let test = ReadRules { unlabelled: false, features: None, ..known.clone() };
    let numbered = ReadRules { label_column: column("1").label_column, ..test.clone() };
    for rules in [&test, &numbered] {
        assert_eq!(ruled("b,kind,a\n4,7,3\n", rules.clone()).unwrap().labels, [7]);
    }
    let missing = "f:1:4: found no column of labels, expected one beside the columns of the features";
    assert_eq!(ruled("a,b\n1,2\n", test).unwrap_err(), missing);
    for name in ["0", "3", "-3", "-9223372036854775808"] {
        assert!(ruled("1,2\n", column(name)).unwrap_err().contains("found no column"), "{name}");
    }
}

/// Windows of a table are its rows in order, each with all columns; no header is looked for later on.
#[test]
fn windows_are_the_table() {
    let text = b"a,b,label\n1,0,3\n\n0,0,-7\n0.5,2,3\n";
    let whole = parse(Lines::from_bytes("f", text).unwrap()).unwrap();
    let begin = |text: &[u8]| (FORMAT.windows.unwrap())(Lines::from_bytes("f", text).unwrap(), StreamRules::default());
    for most in 2..5 {
        let (mut all, mut windows) = (Classified::default(), begin(text));
        while let Some(window) = windows.next(most).unwrap() {
            let part = window.get::<Classified>().unwrap();
            assert_eq!(part.rows.columns(), 2);
            all.rows.append(&part.rows, 0..part.rows.len());
            all.labels.extend(&part.labels);
        }
        all.rows.widen(2);
        all.features = whole.features.clone();
        assert_eq!(all, whole);
    }
    let mut late = begin(b"1,2,3\n1,3,4\na,b,c\n");
    assert_eq!(late.next(2).unwrap().unwrap().len(), 2);
    assert_eq!(
        late.next(2).unwrap_err().to_string(),
        "f:3:1: found `a` as value, expected a finite number; to leave this column out: set data.ignore=1"
    );
    assert!(begin(b"a,b\n").next(2).unwrap().is_none(), "a header alone has no rows");
}

/// Each fault is told with its place and the rule that it breaks.
#[test]
fn faults_are_named() {
    assert_errors(
        parse,
        &[
            (b"", "f: found an empty file, expected rows of numbers and a label"),
            (b" \n\n", "f: found only blank lines or comments, expected rows of numbers and a label"),
            (b"a,b\n", "f: found a header and nothing else, expected rows of numbers and a label"),
            (b"1|2|3\n4|5|6\n", "f:1:6: found 1 column, expected at least two columns, separated by commas"),
            (b"1,2,3\n\n1,2\n", "f:3:4: found 2 columns, expected 3 as on line 1, separated by commas"),
            (b"1;2;3\n1;2;3;4\n", "f:2:8: found 4 columns, expected 3 as on line 1, separated by semicolons"),
            (
                b"1,2,3\na,2,3\n",
                "f:2:1: found `a` as value, expected a finite number; if this column is the label: set \
                 data.label_column=1",
            ),
            (
                b"kind,b,c\nx y,5,6\n",
                "f:2:1: found `x y` as value, expected a finite number; if this column is the label: set \
                 data.label_column=1 (or =kind)",
            ),
            (
                b"a,b,c\nd,e,f\n",
                "f:2:1: found `d` as value, expected a finite number; to leave this column out: set data.ignore=1 \
                 (or =a)",
            ),
            (
                b"a,1,c,label\n4,5,6,7\n",
                "f:1:1: found `a` as value, expected a finite number; to leave this column out: set data.ignore=1",
            ),
            (
                b"x1,2,3\n4,5,6\n",
                "f:1:1: found `x1` as value, expected a finite number; if this column is the label: set \
                 data.label_column=1",
            ),
            (
                b"O.5,3\n",
                "f:1:1: found `O.5` as value, expected a finite number; if this column is the label: set \
                 data.label_column=1",
            ),
            (
                b"1, x,3\n",
                "f:1:4: found `x` as value, expected a finite number; if this column is the label: set \
                 data.label_column=2",
            ),
            (b"1,,3\n", "f:1:3: found nothing as value, expected a finite number"),
            (
                b"a;b;kind\n1,5;2;x\n",
                "f:2:1: found `1,5` as value, expected a finite number; decimal commas are not read: write points",
            ),
            (b"a,b,kind\n1,,x\n", "f:2:3: found nothing as value of `b`, expected a finite number"),
            (b"a,b,kind\nNA,1,x\n", "f:2:1: found `NA` as value of `a`, expected a finite number"),
            (b"nan,2,3\n", "f:1:1: found `nan` as value, expected a finite number"),
            (b"1,1e999,3\n", "f:1:3: found `1e999` as value, expected a finite number"),
            (b"1,2,3.5\n", "f:1:5: found `3.5` as label, expected an integer"),
            (b"1,2,\n", "f:1:5: found nothing as label, expected an integer or a name"),
            (
                b"1,2,x\n1,2,3\n",
                "f:2:5: found `3` as label, expected a name as on line 1: labels are all integers or all names",
            ),
            (
                b"1,2,\"x\n\"",
                "f:1:5: found a quotation mark and none that ends the field, expected it on the same line",
            ),
            (
                b"1,2,\"x\" y\n",
                "f:1:9: found `y` after a quoted field, expected the end of the line or what divides columns (commas)",
            ),
        ],
    );
}
