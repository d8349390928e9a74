//! Code of the caller's that a run holds: only the caller could copy it.

use std::ops::{Deref, DerefMut};

/// A control, a discipline or a source of the caller's. [`Simulation::copy`] makes no copy of a run
/// that holds one. A copy of a part of a run, as a [`Link`], has a guest in its place that fails.
///
/// [`Simulation::copy`]: crate::simulation::Simulation::copy
/// [`Link`]: crate::link::Link
pub(crate) struct CallersCode<T: Guest + ?Sized>(pub(crate) Box<T>);

/// Why the guest in a copy fails.
pub(crate) const COPIED: &str =
    "this is a copy, and only the caller could copy code of the caller's";

/// What a run asks of code of the caller's.
pub(crate) trait Guest {
    /// A guest that fails at once, for this reason.
    fn failing(reason: String) -> Box<Self>;
}

/// Stands for code that was named and never found, or that cannot be copied: says why.
pub(crate) struct Missing(pub(crate) String);

impl<T: Guest + ?Sized> Clone for CallersCode<T> {
    fn clone(&self) -> Self {
        CallersCode(T::failing(COPIED.to_owned()))
    }
}

impl<T: Guest + ?Sized> Deref for CallersCode<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Guest + ?Sized> DerefMut for CallersCode<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
