//! Writes the JavaScript and TypeScript of a WebAssembly module: `bind-page MODULE DIRECTORY`.
//!
//! The library of `wasm-bindgen` without its command, which brings a web server and a test runner.

use std::env;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [module, directory] = arguments.as_slice() else {
        eprintln!("bind-page MODULE DIRECTORY");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    let bound = bindgen.input_path(module).web(true).and_then(|bindgen| {
        bindgen
            .typescript(true)
            .remove_name_section(true)
            .remove_producers_section(true)
            .generate(directory)
    });
    match bound {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bind-page: {error:#}");
            ExitCode::FAILURE
        }
    }
}
