//! Replays recorded callbacks of a congestion control of the Linux kernel through tailroom's own.
//!
//! A recording says what the kernel's sender told its control at each callback (packets
//! acknowledged, RTTs, time, congestion) and which window came out. The same input goes to
//! tailroom's control here, and its window is compared after every callback, in two ways:
//!
//! * [`counted`]: in whole packets, as the kernel counts. The replay is never set right by the
//!   recording, so that one wrong callback shows in all that follow.
//! * [`continuous`]: the window that the engine's sender would have, which is a fraction. It begins
//!   at the kernel's window after each congestion.
//!
//! A [`rate_based`] control is compared in whole packets and in its pacing rate.
//!
//! In these replays the kernel's sender feeds tailroom's control. In a [`chain`] tailroom's own sender
//! does, from the ACKs on.

pub mod chain;
pub mod continuous;
pub mod counted;
pub mod law;
pub mod outcome;
pub mod rate_based;
pub mod trace;
