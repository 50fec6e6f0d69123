//! Copies into memory that there is: models are copied to be changed a little, over and over.

use super::Mrf;

impl Mrf {
    /// Becomes equal to another model, in the memory that there is: nothing is allocated where sizes are those of before,
    /// and terms that are equal already are not copied.
    pub fn copy_from(&mut self, other: &Mrf) {
        self.offsets.clone_from(&other.offsets);
        self.unary.clone_from(&other.unary);
        self.edges.clone_from(&other.edges);
        if self.terms != other.terms {
            self.terms.clone_from(&other.terms);
        }
        (self.constant, self.total) = (other.constant, other.total);
    }
}
