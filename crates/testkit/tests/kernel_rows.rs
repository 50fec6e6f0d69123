//! Rows of kernel matrices allocate nothing once their cache is full: counted by the allocator.

#[path = "../../infer/tests/common/counting.rs"]
mod counting;

use counting::allocations;
use multiplane_core::kernel::{KernelMatrix, RowMove};
use multiplane_core::rng::Rng;
use multiplane_tasks::data::SparseRows;
use multiplane_tasks::kernel::{Kernel, KernelRows, Rbf};

/// Neither computed rows nor those read again allocate, dense or by columns, alone or together. (One test function: the
/// counter is global.)
#[test]
fn rows_do_not_allocate_when_warm() {
    for density in [0.02, 0.7, 1.0] {
        let mut rng = Rng::new(1, 0);
        let mut rows = SparseRows::new(60);
        for _ in 0..500 {
            let indices: Vec<u32> = (0..60).filter(|_| rng.unit() < density).collect();
            let values: Vec<f64> = indices.iter().map(|_| rng.unit()).collect();
            rows.push(&indices, &values);
        }
        let mut matrix = KernelRows::<f32>::new(Kernel::Rbf(Rbf::default()), rows, 20 * 500 * 4, 1).unwrap();
        let mut out = vec![0.0; matrix.len()];
        let mut group = [RowMove { row: 0, factor: 0.1, start: 0 }; 11];
        let mut ask = |steps: usize| {
            for _ in 0..steps {
                group.iter_mut().for_each(|to| to.row = rng.below(500) as usize);
                matrix.add_rows(&group, &mut out);
                matrix.add_row(group[0].row, 0.1, &mut out);
                matrix.entry(group[1].row, group[2].row);
            }
        };
        ask(20);
        let before = allocations();
        ask(200);
        assert_eq!(allocations() - before, 0, "{density} of the features stored");
    }
}
