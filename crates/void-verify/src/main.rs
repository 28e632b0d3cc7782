//! `void-verify FILE|- [--head HEX64] [--from SEQ] [--json]`: 0 chain intact, 1 problems, 2 usage or
//! unreadable, 3 intact but without its beginning.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::thread;

use void_verify::{Hash, Options, parse_hash, verify};

const USAGE: &str = "\
usage: void-verify FILE|- [--head HEX64] [--from SEQ] [--json]
  FILE          an audit export, - for standard input
  --head HEX64  a head you noted earlier (64 lower-case hex digits); proves the tail up to it
  --from SEQ    the file is meant to be a part that begins with this entry; 1 if left out
  --json        the report as one line of JSON
exit status: 0 chain intact, 1 problems, 2 wrong usage or unreadable file,
             3 what is there is intact, but the beginning is missing
";

const PROBLEMS: u8 = 1;
const NO_BEGINNING: u8 = 3;

#[derive(Debug, PartialEq, Eq)]
enum Command {
    Help,
    Verify {
        file: OsString,
        head: Option<Hash>,
        from: u64,
        json: bool,
    },
}

fn main() -> ExitCode {
    let outcome = match parse(std::env::args_os().skip(1)) {
        Ok(Command::Help) => print(USAGE).map(|()| ExitCode::SUCCESS),
        Ok(Command::Verify {
            file,
            head,
            from,
            json,
        }) => run(&file, head, from, json),
        Err(problem) => Err(format!("{problem}\n{USAGE}")),
    };
    outcome.unwrap_or_else(|problem| {
        let _ = write!(io::stderr(), "void-verify: {problem}");
        ExitCode::from(2)
    })
}

fn parse(mut args: impl Iterator<Item = OsString>) -> Result<Command, String> {
    let (mut file, mut head, mut from, mut json) = (None, None, None, false);
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("--help" | "-h") => return Ok(Command::Help),
            Some("--json") => json = true,
            Some("--head") if head.is_none() => {
                let hex = args.next().unwrap_or_default();
                let hash = parse_hash(hex.as_encoded_bytes());
                head = Some(hash.ok_or("--head takes 64 lower-case hex digits")?);
            }
            Some("--head") => return Err("--head twice".to_owned()),
            Some("--from") if from.is_none() => {
                let seq = args.next().unwrap_or_default();
                let seq = seq.to_str().and_then(|seq| seq.parse().ok());
                let seq = seq.filter(|seq| *seq > 0);
                from = Some(seq.ok_or("--from takes the number of an entry, from 1 on")?);
            }
            Some("--from") => return Err("--from twice".to_owned()),
            Some(flag) if flag.starts_with('-') && flag != "-" => {
                return Err(format!("unknown option {flag:?}"));
            }
            _ if file.is_none() => file = Some(arg),
            _ => return Err("more than one file".to_owned()),
        }
    }
    let file = file.ok_or("no file")?;
    Ok(Command::Verify {
        file,
        head,
        from: from.unwrap_or(1),
        json,
    })
}

fn run(file: &OsString, head: Option<Hash>, from: u64, json: bool) -> Result<ExitCode, String> {
    let reader: Box<dyn Read> = match file.to_str() {
        Some("-") => Box::new(io::stdin().lock()),
        _ => Box::new(File::open(file).map_err(|error| format!("{file:?}: {error}\n"))?),
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let report = verify(reader, &Options { head, threads })
        .map_err(|error| format!("{file:?}: {error}\n"))?;
    print(&if json {
        report.to_json() + "\n"
    } else {
        report.to_string()
    })?;
    if !report.is_intact() {
        return Ok(ExitCode::from(PROBLEMS));
    }
    if !report.begins_with(from) {
        let _ = writeln!(
            io::stderr(),
            "void-verify: {}",
            report.missing_beginning(from)
        );
        return Ok(ExitCode::from(NO_BEGINNING));
    }
    Ok(ExitCode::SUCCESS)
}

fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| format!("standard output: {error}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_understood_or_refused() {
        let parse = |line: &str| parse(line.split_whitespace().map(OsString::from));
        let zeros = "0".repeat(64);
        let verify = |file: &str, head, json| Command::Verify {
            file: file.into(),
            head,
            from: 1,
            json,
        };
        assert_eq!(parse("a.jsonl"), Ok(verify("a.jsonl", None, false)));
        assert_eq!(
            parse(&format!("--json - --head {zeros}")),
            Ok(verify("-", Some([0; 32]), true))
        );
        assert_eq!(parse("a --help"), Ok(Command::Help));
        for refused in [
            "",
            "a b",
            "--head",
            "a --head",
            "a --head 00",
            "a --what",
            "a --from",
            "a --from 0",
            "a --from -1",
            "a --from x",
            "a --from 2 --from 2",
            "--json",
        ] {
            assert!(parse(refused).is_err(), "{refused}");
        }
        assert!(parse(&format!("a --head {zeros} --head {zeros}")).is_err());
    }
}
