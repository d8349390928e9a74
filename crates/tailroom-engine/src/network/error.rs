//! Why a network cannot run.

use std::error::Error;
use std::fmt;

use crate::parameters::BadParameter;

/// A value of a [`Network`](super::Network) with which a run would panic, not end, or return numbers
/// without a meaning.
///
/// It displays as the place, the problem and the remedy: `links[0].rate: 0 bit/s is out of range; write
/// at least 1 bit/s`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetworkError {
    /// A field of the network itself.
    Run(BadParameter),
    /// A field of a link.
    Link {
        /// Index into [`Network::links`](super::Network::links).
        link: usize,
        /// The field, the problem and the remedy.
        bad: BadParameter,
    },
    /// A field of a pool, or its links.
    Pool {
        /// Index into [`Network::pools`](super::Network::pools).
        pool: usize,
        /// The field, the problem and the remedy.
        bad: BadParameter,
    },
    /// A field of a group of flows.
    Group {
        /// Index into [`Network::groups`](super::Network::groups).
        group: usize,
        /// The field, the problem and the remedy.
        bad: BadParameter,
    },
    /// A field of a flow.
    Flow {
        /// Index into [`Network::flows`](super::Network::flows).
        flow: usize,
        /// The field, the problem and the remedy.
        bad: BadParameter,
    },
}

impl NetworkError {
    /// The field, the problem and the remedy.
    pub fn bad_parameter(&self) -> &BadParameter {
        match self {
            NetworkError::Run(bad)
            | NetworkError::Link { bad, .. }
            | NetworkError::Pool { bad, .. }
            | NetworkError::Group { bad, .. }
            | NetworkError::Flow { bad, .. } => bad,
        }
    }
}

impl Error for NetworkError {}

impl fmt::Display for NetworkError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkError::Run(_) => {}
            NetworkError::Link { link, .. } => write!(formatter, "links[{link}].")?,
            NetworkError::Pool { pool, .. } => write!(formatter, "pools[{pool}].")?,
            NetworkError::Group { group, .. } => write!(formatter, "groups[{group}].")?,
            NetworkError::Flow { flow, .. } => write!(formatter, "flows[{flow}].")?,
        }
        self.bad_parameter().fmt(formatter)
    }
}
