//! Reads the files that a scenario names; the engine itself does not access the file system.

use std::cell::Cell;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use tailroom_engine::scenario::FileLoader;

/// Longest file; a longer one is a mistake (a Mahimahi trace of 1 Gbit/s has 12 MB for 60 s, a list
/// of 1,000,000 flows about 100 MB).
const LARGEST_FILE_BYTES: u64 = 512 << 20;

/// The directory of the scenario file, to which paths in the scenario are relative.
pub(crate) struct Directory {
    base: PathBuf,
    /// The paths that the scenario may name wherever they are, and what to do about others; any
    /// path if left out.
    outside: Option<(Vec<String>, String)>,
    /// The exception that ended the reading of a file although it says nothing about the file, such
    /// as Ctrl-C.
    interruption: Cell<Option<PyErr>>,
}

impl Directory {
    pub(crate) fn new(base: PathBuf, outside: Option<(Vec<String>, String)>) -> Self {
        Directory { base, outside, interruption: Cell::new(None) }
    }

    /// The exception that ended the reading of a file, such as Ctrl-C.
    pub(crate) fn interruption(&self) -> Option<PyErr> {
        self.interruption.take()
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

    /// Refuses a path out of the directory, unless the caller permits it.
    fn check(&self, path: &str) -> Result<(), String> {
        match &self.outside {
            Some((permitted, remedy)) if !permitted.iter().any(|known| known == path) => {
                let problem = "it is not below the directory of the scenario file";
                self.holds(path).then_some(()).ok_or_else(|| format!("{problem} ({remedy})"))
            }
            _ => Ok(()),
        }
    }

    /// Whether a path stays below the directory, with its symbolic links followed.
    fn holds(&self, path: &str) -> bool {
        let base = if self.base.as_os_str().is_empty() { Path::new(".") } else { &self.base };
        if let (Ok(base), Ok(place)) = (base.canonicalize(), self.base.join(path).canonicalize()) {
            return place.starts_with(base);
        }
        // What does not exist cannot be read either.
        let is_inside = |step| matches!(step, Component::Normal(_) | Component::CurDir);
        Path::new(path).components().all(is_inside)
    }
}

impl FileLoader for Directory {
    fn load(&self, path: &str, most_bytes: u64) -> Result<Option<String>, String> {
        self.check(path)?;
        let place = self.base.join(path);
        let most_bytes = most_bytes.min(LARGEST_FILE_BYTES);
        // To open a pipe would wait for its writer, and a scenario may be read more than once.
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
