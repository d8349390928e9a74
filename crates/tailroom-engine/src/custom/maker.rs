//! A function that makes a component of the caller's.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::parameters::{BadParameter, Ranges};

/// Makes components; two makers are equal if they are the same function.
pub struct Maker<F: ?Sized>(pub(crate) Arc<F>);

impl<F: ?Sized> Clone for Maker<F> {
    fn clone(&self) -> Self {
        Maker(Arc::clone(&self.0))
    }
}

impl<F: ?Sized> Deref for Maker<F> {
    type Target = F;

    fn deref(&self) -> &F {
        &self.0
    }
}

impl<F: ?Sized> PartialEq for Maker<F> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<F: ?Sized> fmt::Debug for Maker<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Maker")
    }
}

impl<F: ?Sized> Ranges for Maker<F> {
    fn check_ranges(&self) -> Result<(), BadParameter> {
        Ok(())
    }
}
