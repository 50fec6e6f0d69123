//! HiGHS through its C interface: a model that stays loaded while costs and bounds of variables change, and its
//! readers of MPS and LP files. The only file of this crate with `unsafe`: arrays are checked before they are handed
//! over.

#![allow(unsafe_code)] // calls of C functions

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::ptr::NonNull;

use highs_sys as sys;

use super::matrix::SparseMatrix;
use super::rows::{Bounds, Programme};

/// The tolerance of reduced costs. Bounds of searches are lowered by as much for each unit of each variable.
pub(super) const EXACT: f64 = 1e-10;

/// A model loaded into HiGHS.
#[derive(Debug)]
pub struct Highs {
    pointer: NonNull<c_void>,
    columns: usize,
    rows: usize,
}

// SAFETY: an object of HiGHS has one owner here, and is tied to no thread.
unsafe impl Send for Highs {}

impl Drop for Highs {
    fn drop(&mut self) {
        // SAFETY: made by `Highs_create`, and dropped once.
        unsafe { sys::Highs_destroy(self.pointer.as_ptr()) }
    }
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SolverStatus {
    /// With a proof that the solution is as good as asked for.
    Optimal,
    /// With a proof that nothing is feasible.
    Infeasible,
    /// By a limit, or a failure.
    Other,
}

/// The content of a file.
#[derive(Clone, Debug)]
pub struct ReadProgramme {
    /// The rows and variables.
    pub programme: Programme,
    /// The costs of the variables, to be minimised.
    pub costs: Vec<f64>,
    /// The names of the variables.
    pub names: Vec<String>,
}

/// A basis: the state of each variable and of each row.
pub(super) type Basis = (Vec<i32>, Vec<i32>);

impl Highs {
    /// Makes an object that holds no model, prints nothing and uses one thread.
    fn new() -> Result<Highs, String> {
        // SAFETY: takes nothing.
        let pointer = NonNull::new(unsafe { sys::Highs_create() }).ok_or("HiGHS has no memory")?;
        let mut highs = Highs { pointer, columns: 0, rows: 0 };
        // SAFETY: the object is alive, the name ends with 0.
        unsafe { sys::Highs_setBoolOptionValue(highs.pointer.as_ptr(), c"output_flag".as_ptr(), 0) };
        // SAFETY: as above.
        unsafe { sys::Highs_setIntOptionValue(highs.pointer.as_ptr(), c"threads".as_ptr(), 1) };
        highs.set(c"mip_rel_gap", 0.0);
        highs.set(c"dual_feasibility_tolerance", EXACT);
        Ok(highs)
    }

    /// Loads a programme without costs; its whole variables are whole if `is_integral`.
    ///
    /// # Errors
    ///
    /// HiGHS refuses the numbers, or there are too many.
    pub fn load(programme: &Programme, is_integral: bool) -> Result<Highs, String> {
        let mut highs = Highs::new()?;
        let (matrix, costs) = (&programme.matrix, vec![0.0; programme.variables()]);
        let of_variables = [matrix.width(), programme.upper.len(), programme.integral.len()];
        let of_rows = [programme.row_lower.len(), programme.row_upper.len()];
        if of_variables.iter().any(|&count| count != costs.len()) || of_rows.iter().any(|&count| count != matrix.rows())
        {
            return Err("bounds are not as many as variables and rows".into());
        }
        let number = |count: usize| i32::try_from(count).map_err(|_| format!("{count} entries are too many for HiGHS"));
        let starts = matrix.starts().iter().map(|&start| number(start)).collect::<Result<Vec<i32>, _>>()?;
        let columns: Vec<i32> = matrix.columns().iter().map(|&column| column as i32).collect();
        let kind = |&is_whole: &bool| if is_integral && is_whole { sys::VAR_TYPE_INTEGER } else { 0 };
        let kinds: Vec<i32> = programme.integral.iter().map(kind).collect();
        (highs.columns, highs.rows) = (costs.len(), matrix.rows());
        let (width, rows, entries) = (number(costs.len())?, number(matrix.rows())?, number(columns.len())?);
        // SAFETY: the lengths of the arrays are compared above; HiGHS copies them.
        let status = unsafe {
            sys::Highs_passMip(
                highs.pointer.as_ptr(),
                width,
                rows,
                entries,
                sys::MATRIX_FORMAT_ROW_WISE,
                sys::OBJECTIVE_SENSE_MINIMIZE,
                0.0,
                costs.as_ptr(),
                programme.lower.as_ptr(),
                programme.upper.as_ptr(),
                programme.row_lower.as_ptr(),
                programme.row_upper.as_ptr(),
                starts.as_ptr(),
                columns.as_ptr(),
                matrix.values().as_ptr(),
                kinds.as_ptr(),
            )
        };
        match status {
            sys::STATUS_ERROR => Err("HiGHS refuses the rows".into()),
            _ => Ok(highs),
        }
    }

    /// Sets an option that is a number.
    pub(super) fn set(&mut self, option: &CStr, value: f64) {
        // SAFETY: the object is alive, the name ends with 0.
        unsafe { sys::Highs_setDoubleOptionValue(self.pointer.as_ptr(), option.as_ptr(), value) };
    }

    /// Changes the bounds of all variables.
    pub(super) fn bound(&mut self, (lower, upper): Bounds<'_>) {
        assert!(lower.len() == self.columns && upper.len() == self.columns, "bounds of {} variables", self.columns);
        let last = self.columns as i32 - 1;
        // SAFETY: there are as many bounds as columns.
        unsafe {
            sys::Highs_changeColsBoundsByRange(self.pointer.as_ptr(), 0, last, lower.as_ptr(), upper.as_ptr());
        }
    }

    /// Solves with these costs.
    pub(super) fn run(&mut self, costs: &[f64]) -> SolverStatus {
        assert_eq!(costs.len(), self.columns, "costs of variables");
        // SAFETY: there are as many costs as columns.
        unsafe { sys::Highs_changeColsCostByRange(self.pointer.as_ptr(), 0, self.columns as i32 - 1, costs.as_ptr()) };
        self.again()
    }

    /// Solves once more.
    pub(super) fn again(&mut self) -> SolverStatus {
        // SAFETY: the object is alive and holds a model.
        unsafe { sys::Highs_run(self.pointer.as_ptr()) };
        // SAFETY: as above.
        match unsafe { sys::Highs_getModelStatus(self.pointer.as_ptr()) } {
            sys::MODEL_STATUS_OPTIMAL => SolverStatus::Optimal,
            sys::MODEL_STATUS_INFEASIBLE => SolverStatus::Infeasible,
            _ => SolverStatus::Other,
        }
    }

    /// Clears solution, basis and counters.
    pub(super) fn clear(&mut self) {
        // SAFETY: the object is alive.
        unsafe { sys::Highs_clearSolver(self.pointer.as_ptr()) };
    }

    /// Writes the values of the variables and the multipliers of the rows.
    pub(super) fn solution(&self, y: &mut Vec<f64>, duals: &mut Vec<f64>) {
        let (mut costs, mut sums) = (vec![0.0; self.columns], vec![0.0; self.rows]);
        y.clear();
        y.resize(self.columns, 0.0);
        duals.clear();
        duals.resize(self.rows, 0.0);
        let arrays = (y.as_mut_ptr(), costs.as_mut_ptr(), sums.as_mut_ptr(), duals.as_mut_ptr());
        // SAFETY: the arrays are as long as the model has columns and rows.
        unsafe { sys::Highs_getSolution(self.pointer.as_ptr(), arrays.0, arrays.1, arrays.2, arrays.3) };
    }

    /// Returns the basis of the last solution.
    pub(super) fn basis(&self) -> Basis {
        let mut basis = (vec![0; self.columns], vec![0; self.rows]);
        // SAFETY: the arrays are as long as the model has columns and rows.
        unsafe { sys::Highs_getBasis(self.pointer.as_ptr(), basis.0.as_mut_ptr(), basis.1.as_mut_ptr()) };
        basis
    }

    /// Lets the next run begin at a basis of this model.
    pub(super) fn begin_at(&mut self, basis: &Basis) {
        assert!(basis.0.len() == self.columns && basis.1.len() == self.rows, "a basis of another model");
        // SAFETY: the arrays are as long as the model has columns and rows.
        unsafe { sys::Highs_setBasis(self.pointer.as_ptr(), basis.0.as_ptr(), basis.1.as_ptr()) };
    }

    /// Returns if the last run of an integer programme found a solution, and its lower bound on all.
    pub(super) fn found(&self) -> (bool, f64) {
        let (mut status, mut bound) = (0, f64::NEG_INFINITY);
        // SAFETY: the object is alive, the names end with 0, the numbers outlive the calls.
        unsafe {
            sys::Highs_getIntInfoValue(self.pointer.as_ptr(), c"primal_solution_status".as_ptr(), &raw mut status);
            sys::Highs_getDoubleInfoValue(self.pointer.as_ptr(), c"mip_dual_bound".as_ptr(), &raw mut bound);
        }
        (status == sys::SOLUTION_STATUS_FEASIBLE, if bound.is_nan() { f64::NEG_INFINITY } else { bound })
    }

    /// Returns the seconds of all runs together, which time limits count from.
    pub(super) fn seconds(&self) -> f64 {
        // SAFETY: the object is alive.
        unsafe { sys::Highs_getRunTime(self.pointer.as_ptr()) }
    }

    /// Reads an MPS or LP file.
    ///
    /// # Errors
    ///
    /// HiGHS cannot read it, it has quadratic terms or variables that may jump to 0, or a rule of programmes is broken.
    pub fn read(path: &Path) -> Result<ReadProgramme, String> {
        let about = std::fs::metadata(path).map_err(|error| error.to_string())?;
        if !about.is_file() {
            return Err("it is no file".into());
        }
        let text = path.to_str().and_then(|path| CString::new(path).ok()).ok_or("its name is not UTF-8")?;
        let mut highs = Highs::new()?;
        let raw = highs.pointer.as_ptr();
        // SAFETY: the object is alive, the name ends with 0.
        let status = unsafe { sys::Highs_readModel(raw, text.as_ptr()) };
        if status == sys::STATUS_ERROR {
            return Err("HiGHS cannot read it: expected an .mps or .lp file of linear rows and costs".into());
        }
        if status == sys::STATUS_WARNING && path.to_string_lossy().to_lowercase().contains(".mps") {
            return Err("HiGHS leaves out some of it, such as entries of rows that are not declared".into());
        }
        // SAFETY: the object is alive, from here on; so are arrays, which are as long as it says.
        let counts = unsafe {
            if sys::Highs_getHessianNumNz(raw) > 0 {
                return Err("it has quadratic terms, expected linear costs".into());
            }
            [sys::Highs_getNumCol(raw), sys::Highs_getNumRow(raw), sys::Highs_getNumNz(raw)]
        };
        let [columns, rows, entries] = counts.map(|count| usize::try_from(count).unwrap_or(0));
        (highs.columns, highs.rows) = (columns, rows);
        let numbers = |count| (vec![0.0; count], vec![0.0; count]);
        let ((mut lower, mut upper), (mut row_lower, mut row_upper)) = (numbers(columns), numbers(rows));
        let (mut costs, mut values) = (vec![0.0; columns], vec![0.0; entries]);
        let (mut starts, mut index, mut kinds) = (vec![0; rows + 1], vec![0; entries], vec![0; columns]);
        let (mut sizes, mut sense, mut offset) = ([0; 3], 0, 0.0);
        // SAFETY: as above.
        unsafe {
            sys::Highs_getLp(
                raw,
                sys::MATRIX_FORMAT_ROW_WISE,
                &raw mut sizes[0],
                &raw mut sizes[1],
                &raw mut sizes[2],
                &raw mut sense,
                &raw mut offset,
                costs.as_mut_ptr(),
                lower.as_mut_ptr(),
                upper.as_mut_ptr(),
                row_lower.as_mut_ptr(),
                row_upper.as_mut_ptr(),
                starts.as_mut_ptr(),
                index.as_mut_ptr(),
                values.as_mut_ptr(),
                kinds.as_mut_ptr(),
            );
        }
        starts[rows] = entries as i32; // which HiGHS leaves out
        let mut text = vec![0; (about.len() as usize).max(512) + 1]; // no name is longer than the file
        let names = (0..columns).map(|column| highs.name(column, &mut text)).collect::<Result<Vec<String>, _>>()?;
        if let Some(v) = kinds.iter().position(|kind| ![0, sys::VAR_TYPE_INTEGER].contains(kind)) {
            let name = &names[v];
            return Err(format!("variable {name} is semi-continuous, expected continuous and integer ones"));
        }
        if let Some(v) = costs.iter().position(|cost| !cost.is_finite()) {
            return Err(format!("the cost of variable {} is {}, expected finite numbers", names[v], costs[v]));
        }
        if sense == sys::OBJECTIVE_SENSE_MAXIMIZE {
            costs.iter_mut().for_each(|cost| *cost = -*cost);
        }
        let starts = starts.into_iter().map(|start| start as usize).collect();
        let index = index.into_iter().map(|column| column as u32).collect();
        let matrix = SparseMatrix::new(starts, index, values, columns)?;
        let integral = kinds.iter().map(|&kind| kind == sys::VAR_TYPE_INTEGER).collect();
        let programme = Programme { matrix, row_lower, row_upper, lower, upper, integral }.checked();
        let programme = programme.map_err(|fault| with_name(fault, &names))?;
        Ok(ReadProgramme { programme, costs, names })
    }

    /// Returns the name of a column, by way of `text`, which must be longer.
    fn name(&self, column: usize, text: &mut [c_char]) -> Result<String, String> {
        text[0] = 0;
        // SAFETY: HiGHS writes a name that it has read from a file shorter than `text`, or made up, and a 0.
        let (status, name) = unsafe {
            let status = sys::Highs_getColName(self.pointer.as_ptr(), column as i32, text.as_mut_ptr());
            (status, CStr::from_ptr(text.as_ptr()))
        };
        match status == sys::STATUS_ERROR || name.is_empty() {
            true => Err("two variables have one name, or one has none".into()),
            false => Ok(name.to_string_lossy().into_owned()),
        }
    }
}

/// Adds the name of the variable that a fault gives by number.
pub fn with_name(fault: String, names: &[String]) -> String {
    let digits = |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<usize>().ok();
    let named = fault.split_once("variable ").and_then(|(_, rest)| names.get(digits(rest)?));
    named.map(|name| format!("{fault} (variable {name})")).unwrap_or(fault)
}
