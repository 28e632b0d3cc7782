//! The forced command: hands its arguments and `SSH_ORIGINAL_COMMAND` to the library and exits with its code.

use std::process::ExitCode;

#[expect(
    clippy::disallowed_methods,
    reason = "the one environment variable of this program is read here and nowhere else"
)]
fn main() -> ExitCode {
    void_act::main_with(
        std::env::args_os().skip(1),
        std::env::var_os("SSH_ORIGINAL_COMMAND"),
    )
}
