//! Reads the files that a scenario names; the engine itself does not access the file system.

use std::cell::Cell;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use tailroom_engine::scenario::{self, FileLoader, Scenario};

use crate::error::Failure;

/// Longest file; a longer one is a mistake (a Mahimahi trace of 1 Gbit/s has 12 MB for 60 s, a list
/// of 1,000,000 flows about 100 MB).
const LARGEST_FILE_BYTES: u64 = 512 << 20;

/// Reads a scenario, and the files that it names.
pub(crate) fn parse(
    text: &str,
    overrides: &[(String, String)],
    seed: Option<u64>,
    files: &Directory,
) -> Result<Scenario, Failure> {
    scenario::parse(text, overrides, seed, files).map_err(|error| {
        files.interruption.take().map_or(Failure::Scenario(error), Failure::Python)
    })
}

/// The directory of the scenario file, to which paths in the scenario are relative.
pub(crate) struct Directory {
    base: PathBuf,
    /// The paths that a scenario may name; any if left out.
    permitted: Option<Vec<String>>,
    /// The exception that ended the reading of a file although it says nothing about the file, such
    /// as Ctrl-C.
    interruption: Cell<Option<PyErr>>,
}

impl Directory {
    pub(crate) fn new(base: PathBuf, permitted: Option<Vec<String>>) -> Self {
        Directory { base, permitted, interruption: Cell::new(None) }
    }

    /// A list of flows in Parquet as the CSV that the engine reads. Ctrl-C acts while Python reads it.
    fn csv_of_parquet(&self, path: &Path, most_bytes: u64) -> Result<Option<String>, String> {
        Python::attach(|py| {
            let module = py.import("tailroom.traffic_import.flow_list")?;
            module.getattr("csv_of_parquet")?.call1((path, most_bytes))?.extract()
        })
        .map_err(|error: PyErr| {
            Python::attach(|py| {
                let reason = error.value(py).to_string();
                if !error.is_instance_of::<PyException>(py) {
                    self.interruption.set(Some(error));
                }
                reason
            })
        })
    }

    fn permits(&self, path: &str) -> bool {
        self.permitted.as_ref().is_none_or(|paths| paths.iter().any(|known| known == path))
    }
}

impl FileLoader for Directory {
    fn load(&self, path: &str, most_bytes: u64) -> Result<Option<String>, String> {
        if !self.permits(path) {
            return Err(
                "only the scenario file that was opened may name files, below its directory \
                        or with --allow-files"
                    .to_owned(),
            );
        }
        let place = self.base.join(path);
        let most_bytes = most_bytes.min(LARGEST_FILE_BYTES);
        // To open a pipe would wait for its writer, and a scenario is read more than once.
        if place.metadata().is_ok_and(|known| !known.is_file() && !known.is_dir()) {
            return Err("it is a pipe or a device, not a file".to_owned());
        }
        if place.extension().is_some_and(|ending| ending == "parquet") {
            return self.csv_of_parquet(&place, most_bytes);
        }
        let mut bytes = Vec::new();
        File::open(place)
            .and_then(|file| file.take(most_bytes + 1).read_to_end(&mut bytes))
            .map_err(|error| error.to_string())?;
        if bytes.len() as u64 > most_bytes {
            return Ok(None);
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            format!("its byte {} is not UTF-8", error.utf8_error().valid_up_to() + 1)
        })?;
        Ok(Some(text))
    }
}
