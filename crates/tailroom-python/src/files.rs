//! Reads the files that a scenario names; the engine itself does not access the file system.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use tailroom_engine::scenario::FileLoader;

/// Longest file; a longer one is a mistake (a Mahimahi trace of 1 Gbit/s has 12 MB for 60 s, a list
/// of 1,000,000 flows about 100 MB).
const LARGEST_FILE_BYTES: u64 = 512 << 20;

/// The directory of the scenario file, to which paths in the scenario are relative.
pub(crate) struct Directory {
    base: PathBuf,
    /// The paths that a scenario may name; any if left out.
    permitted: Option<Vec<String>>,
}

impl Directory {
    pub(crate) fn new(base: PathBuf, permitted: Option<Vec<String>>) -> Self {
        Directory { base, permitted }
    }

    fn permits(&self, path: &str) -> bool {
        self.permitted.as_ref().is_none_or(|paths| paths.iter().any(|known| known == path))
    }
}

impl FileLoader for Directory {
    fn load(&self, path: &str) -> Result<String, String> {
        if !self.permits(path) {
            return Err(
                "only the scenario file that was opened may name files, below its directory \
                        or with --allow-files"
                    .to_owned(),
            );
        }
        let place = self.base.join(path);
        if place.extension().is_some_and(|ending| ending == "parquet") {
            return csv_of_parquet(&place);
        }
        let mut bytes = Vec::new();
        File::open(place)
            .and_then(|file| file.take(LARGEST_FILE_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|error| error.to_string())?;
        if bytes.len() as u64 > LARGEST_FILE_BYTES {
            return Err("it is larger than 512 MiB".to_owned());
        }
        String::from_utf8(bytes).map_err(|error| {
            format!("its byte {} is not UTF-8", error.utf8_error().valid_up_to() + 1)
        })
    }
}

/// Converts a list of flows from Parquet to the CSV that the engine reads.
fn csv_of_parquet(path: &Path) -> Result<String, String> {
    Python::attach(|py| {
        let module = py.import("tailroom.traffic_import.flow_list")?;
        module.getattr("csv_of_parquet")?.call1((path,))?.extract()
    })
    .map_err(|error: PyErr| Python::attach(|py| error.value(py).to_string()))
}
