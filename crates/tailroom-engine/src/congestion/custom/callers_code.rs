//! Code of the caller's that a run holds: only the caller could copy it.

use std::ops::{Deref, DerefMut};

/// A control, a discipline or a source of the caller's. [`Simulation::copy`] makes no copy of a run
/// that holds one.
///
/// [`Simulation::copy`]: crate::simulation::Simulation::copy
pub(crate) struct CallersCode<T: ?Sized>(pub(crate) Box<T>);

impl<T: ?Sized> Clone for CallersCode<T> {
    fn clone(&self) -> Self {
        unreachable!("no run with code of the caller's is copied")
    }
}

impl<T: ?Sized> Deref for CallersCode<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> DerefMut for CallersCode<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
