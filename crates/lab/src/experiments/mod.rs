//! The experiments, one file each; those that share their runs share a file.

mod bcpl;
mod combinations;
mod div_m_best;
mod gaps_cache;
mod gaps_grid;
mod gaps_path;
mod gaps_rates;
mod gaps_theory;
mod mp_bcfw;
mod mp_bcfw_time;
mod sfd;
mod sfd_boxes;
mod sfd_tables;

use crate::reproduce::experiment::Experiment;

/// All experiments, in the order in which they are listed.
pub(crate) static EXPERIMENTS: &[&Experiment] = &[
    &mp_bcfw::FIG4,
    &mp_bcfw_time::FIG5,
    &mp_bcfw_time::FIG6,
    &gaps_grid::GRID,
    &gaps_path::PATH,
    &gaps_cache::STALENESS,
    &gaps_cache::CACHE,
    &gaps_theory::THEORY,
    &gaps_rates::RATES,
    &div_m_best::FIG2,
    &div_m_best::FIG3,
    &div_m_best::SIDE_CHAINS,
    &bcpl::CURVES,
    &sfd::FIG1,
    &sfd::FIG2,
    &sfd_tables::TABLES,
    &sfd_boxes::BOXES,
    &combinations::COMBINATIONS,
];
