//! tailroom's sender, fed with the ACKs that the kernel's sender received.
//!
//! [`recording`] reads what left host A, what was handed to it, and what the kernel's sender told
//! its control. [`replay`] hands the same ACKs to tailroom's sender ([`transport`]) at the same
//! times; it sends a new packet when the kernel did, and decides alone what is lost, what is sent
//! again, and what its control is told. [`control`] is that control: it writes down each call and
//! answers with the kernel's window. [`timestamps`] and [`arrivals`] are what a receiver knows.
//! [`comparison`] counts where both sides agree.

pub mod arrivals;
pub mod comparison;
pub mod control;
pub mod recording;
pub mod replay;
pub mod timestamps;
pub mod transport;
