//! Records one run of a scenario between two hosts of the Linux kernel.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    tailroom_kernel_link::command::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("the hosts of a recording are Linux's: run this on Linux");
    ExitCode::FAILURE
}
