//! Additive kernels of histograms by maps of a few numbers: `k(a, b)` is near the product of the maps of a and b
//! (Vedaldi and Zisserman, Efficient additive kernels via explicit feature maps, PAMI 2012).

use std::f64::consts::PI;

/// The kernel that bins of histograms are compared by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BinKernel {
    /// `ab`.
    #[default]
    Linear,
    /// `min(a, b)`.
    Intersection,
    /// `2ab / (a + b)`.
    ChiSquare,
}

impl BinKernel {
    /// The most numbers in a map.
    pub const MOST: usize = 3;

    /// Returns how many numbers the map of a bin has.
    pub fn numbers(self) -> usize {
        if self == BinKernel::Linear { 1 } else { Self::MOST }
    }

    /// Returns the map of a bin, of a number at least 0; 0 behind [`numbers`](Self::numbers).
    ///
    /// ```
    /// use multiplane_infer::boxes::BinKernel;
    /// let [a, b] = [0.2, 0.3].map(|bin| BinKernel::Intersection.map(bin));
    /// let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    /// assert!((product - 0.2).abs() < 0.03);
    /// ```
    pub fn map(self, bin: f64) -> [f64; Self::MOST] {
        // Samples of the kernel's spectrum, one at 0 and one a period on; periods have the least error for bins up to
        // 50 times apart.
        let (period, spectrum): (f64, fn(f64) -> f64) = match self {
            BinKernel::Linear => return [bin, 0.0, 0.0],
            BinKernel::Intersection => (0.8, |at| 2.0 / (PI * (1.0 + 4.0 * at * at))),
            BinKernel::ChiSquare => (0.58, |at| 1.0 / (PI * at).cosh()),
        };
        if bin <= 0.0 {
            return [0.0; Self::MOST];
        }
        let (sine, cosine) = (period * bin.ln()).sin_cos();
        let wave = (2.0 * bin * period * spectrum(period)).sqrt();
        [(bin * period * spectrum(0.0)).sqrt(), wave * cosine, wave * sine]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products of maps are near the kernels, by a share of the geometric mean of the bins.
    #[test]
    fn products_are_near_kernels() {
        type Case = (BinKernel, fn(f64, f64) -> f64, f64);
        let cases: [Case; 3] = [
            (BinKernel::Linear, |a, b| a * b / (a * b).sqrt(), 1e-12),
            (BinKernel::Intersection, |a, b| a.min(b) / (a * b).sqrt(), 0.22),
            (BinKernel::ChiSquare, |a, b| 2.0 * (a * b).sqrt() / (a + b), 0.1),
        ];
        for (kernel, expected, error) in cases {
            let (mut worst, a) = (0.0_f64, 0.01);
            for b in (0..=100).map(|k| a * 50.0_f64.powf(f64::from(k) / 100.0)) {
                let product: f64 = kernel.map(a).iter().zip(kernel.map(b)).map(|(a, b)| a * b).sum();
                worst = worst.max((product / (a * b).sqrt() - expected(a, b)).abs());
            }
            assert!(worst <= error, "{kernel:?}: {worst}");
            assert_eq!(kernel.map(0.0), [0.0; BinKernel::MOST]);
            assert!(kernel.map(0.3)[kernel.numbers()..].iter().all(|rest| *rest == 0.0));
        }
    }
}
