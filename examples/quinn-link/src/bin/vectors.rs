//! Runs quinn's CUBIC by the scripts of vectors, and prints its results.
//!
//! cargo run --bin vectors -- vectors > results.json

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use serde_json::{Map, Value, json};

const VECTORS: [&str; 3] = ["cubic.after-a-loss", "cubic.fast-convergence", "cubic.reno-friendly"];

fn main() -> Result<(), Box<dyn Error>> {
    let directory = env::args().nth(1).ok_or("usage: vectors DIRECTORY")?;
    let mut results = Map::new();
    for name in VECTORS {
        let text = fs::read_to_string(Path::new(&directory).join(format!("{name}.json")))?;
        let vector: Value = serde_json::from_str(&text)?;
        results.insert(name.to_owned(), quinn_link::scripted::run(&vector["script"])?);
    }
    let implementation = "quinn-proto 0.11.19, CUBIC";
    println!("{}", json!({ "implementation": implementation, "results": results }));
    Ok(())
}
