//! Quantities in results and scenarios: numbers with units.

use serde::{Serialize, Serializer};

use super::limit::QueueLimit;
use super::{Kind, Quantity};

impl<K: Kind> Serialize for Quantity<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for QueueLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
