//! Names the build: a hash of every source that a result depends on.
//!
//! Results are the same on every machine, so the sources name them, not the compiled code. The hash
//! is FNV-1a (Fowler, Noll, Vo), which is plain arithmetic and the same with every compiler.

use std::path::{Path, PathBuf};
use std::{fs, io};

const OFFSET_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

fn main() -> io::Result<()> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![workspace.join("Cargo.lock")];
    for part in ["tailroom-engine/src", "tailroom-python/src"] {
        add_files(&workspace.join("crates").join(part), &mut files)?;
    }
    files.sort();
    let mut hash = OFFSET_BASIS;
    for file in &files {
        println!("cargo:rerun-if-changed={}", file.display());
        // The name's end separates one file from the next.
        let name =
            file.strip_prefix(&workspace).unwrap_or(file).to_string_lossy().replace('\\', "/");
        hash = fold(hash, name.as_bytes());
        hash = fold(hash, &fs::read(file)?);
    }
    println!("cargo:rustc-env=TAILROOM_BUILD={hash:032x}");
    println!("cargo:rustc-env=TAILROOM_PROFILE={}", profile());
    Ok(())
}

/// The profile of this build, by the folder in which Cargo puts it: target/PROFILE/build/...
fn profile() -> String {
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    let build = out.ancestors().find(|folder| folder.ends_with("build"));
    let profile = build.and_then(Path::parent).and_then(Path::file_name).unwrap_or_default();
    profile.to_string_lossy().into_owned()
}

fn add_files(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            add_files(&path, files)?;
        } else {
            files.push(path);
        }
    }
    println!("cargo:rerun-if-changed={}", directory.display());
    Ok(())
}

fn fold(hash: u128, bytes: &[u8]) -> u128 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}
