//! Hints to the memory: values that will be needed soon.
//!
//! The only unsafe code of the engine. A hint changes no value and reads none, so that no result
//! depends on it; on processors other than x86-64 there is none.

/// Number of flows from which on hints are worth their time: each flow has 1.5 kB, and the second-level
/// cache of a core some 1 MB.
pub(crate) const MANY_FLOWS: usize = 500;
/// Bytes that the memory hands over at once.
const LINE: usize = 64;

/// Fetches a value into the cache.
#[inline]
pub(crate) fn prefetch<T>(value: &T) {
    let start = std::ptr::from_ref(value).cast::<i8>();
    for offset in (0..size_of::<T>()).step_by(LINE) {
        fetch_line(start.wrapping_add(offset));
    }
}

/// Fetches the beginning of a value into the cache.
#[inline]
pub(crate) fn prefetch_start<T>(value: &T) {
    fetch_line(std::ptr::from_ref(value).cast::<i8>());
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the standard library has no safe function for it")]
#[inline]
fn fetch_line(address: *const i8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: the instruction is part of every x86-64 processor (SSE), and it never faults, whatever
    // the address: it neither reads nor writes as far as the program can tell.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn fetch_line(_address: *const i8) {}
