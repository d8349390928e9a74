//! Reads the files that a scenario names: the engine itself touches no file system.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use tailroom_engine::scenario::FileLoader;

/// A trace longer than this is a mistake (a Mahimahi trace of 1 Gbit/s holds 12 MB for 60 s).
const LARGEST_FILE_BYTES: u64 = 64 << 20;

/// Paths in a scenario are relative to the directory of the scenario file.
pub(crate) struct Directory {
    base: PathBuf,
}

impl Directory {
    pub(crate) fn new(base: PathBuf) -> Self {
        Directory { base }
    }
}

impl FileLoader for Directory {
    fn load(&self, path: &str) -> Result<String, String> {
        let mut bytes = Vec::new();
        File::open(self.base.join(path))
            .and_then(|file| file.take(LARGEST_FILE_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|error| error.to_string())?;
        if bytes.len() as u64 > LARGEST_FILE_BYTES {
            return Err("it is larger than 64 MiB".to_owned());
        }
        String::from_utf8(bytes).map_err(|error| {
            format!("its byte {} is not UTF-8", error.utf8_error().valid_up_to() + 1)
        })
    }
}
