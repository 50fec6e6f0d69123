//! The gap-criterion cache: a cached corner is used while its gap is large enough (Osokin et al. 2016, 3.2).

/// Parameters of the gap-criterion cache.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GapCache {
    /// The cached gap must be at least this share of the block's last exact gap (F).
    pub factor: f64,
    /// And at least this share of the mean of all blocks' gaps at the last gap pass (nu).
    pub nu: f64,
    /// Most planes kept per example, but planes with mass stay (max).
    pub max_planes: u32,
}

impl Default for GapCache {
    fn default() -> Self {
        GapCache { factor: 0.25, nu: 0.01, max_planes: 100 }
    }
}

impl GapCache {
    /// Whether a cached corner of gap `cached` is good enough for a block whose last exact gap was `block_gap`,
    /// with a mean gap of `mean_gap`.
    pub fn is_hit(&self, cached: f64, block_gap: f64, mean_gap: f64) -> bool {
        cached > 0.0 && cached >= (self.factor * block_gap).max(self.nu * mean_gap)
    }
}
