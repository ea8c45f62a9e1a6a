//! `cargo xtask test`: every check, in the order in which failures are cheapest to find.

use std::time::{Duration, Instant};

use crate::needs::{Need, provide};
use crate::step::{Outcome, cargo, run, say, step};
use crate::{debian, dependencies, fuzz, hosts, kernels, loom, peers, python};

/// The two crates that users build without default features, too.
const CORE: [&str; 4] = ["-p", "superchunk-kernels", "-p", "superchunk"];
const WASM: &str = "wasm32-unknown-unknown";
/// The targets that are compiled for, but never run: Windows and macOS.
const OTHER_SYSTEMS: [&str; 2] = ["x86_64-pc-windows-gnu", "aarch64-apple-darwin"];

/// The features of all builds of the tests, so that each crate is compiled only once: the views of the
/// crate `ndarray`, and the variable that lets `lesser kernels` choose instructions.
pub(crate) const TEST_FEATURES: [&str; 2] =
    ["--features", "superchunk/ndarray,superchunk-kernels/__internal-test"];

/// A check that can be run alone.
struct Check {
    name: &'static str,
    needs: fn() -> Vec<Need>,
    run: fn() -> Outcome,
}

static CHECKS: [Check; 12] = [
    Check { name: "format", needs: Vec::new, run: format },
    Check { name: "clippy", needs: Vec::new, run: clippy },
    Check { name: "dependencies", needs: Vec::new, run: dependencies::check },
    Check { name: "tests", needs: needs_of_tests, run: tests },
    Check { name: "lesser-kernels", needs: Vec::new, run: kernels::lesser },
    Check { name: "loom", needs: Vec::new, run: loom::loom },
    Check { name: "docs", needs: Vec::new, run: docs },
    Check { name: "web", needs: || vec![Need::Target(WASM)], run: web },
    Check {
        name: "other-systems",
        needs: || OTHER_SYSTEMS.map(Need::Target).into(),
        run: other_systems,
    },
    Check { name: "neon", needs: Vec::new, run: kernels::neon_compiles },
    Check { name: "fuzz", needs: fuzz::needs, run: fuzz::smoke },
    Check { name: "hosts", needs: python::needs, run: hosts },
];

/// Runs all checks, or those that the options name; the first that fails ends it.
pub(crate) fn test(options: &[String]) -> Outcome {
    let Options { checks, may_install } = Options::parse(options)?;
    let start = Instant::now();
    let needs: Vec<Need> = checks.iter().flat_map(|check| (check.needs)()).collect();
    step("setup", || provide(&needs, may_install))?;
    let mut times = vec![("setup", start.elapsed())];
    for check in checks {
        let start = Instant::now();
        step(check.name, check.run)?;
        times.push((check.name, start.elapsed()));
    }
    say(&table(&times));
    say(&format!("== all passed, {:.0} s", start.elapsed().as_secs_f64()));
    Ok(())
}

fn table(times: &[(&str, Duration)]) -> String {
    let row = |(name, time): &(&str, Duration)| format!("{name:16}{:7.1} s", time.as_secs_f64());
    times.iter().map(row).collect::<Vec<_>>().join("\n")
}

struct Options {
    checks: Vec<&'static Check>,
    may_install: bool,
}

impl Options {
    fn parse(options: &[String]) -> Outcome<Self> {
        let mut parsed = Self { checks: Vec::new(), may_install: true };
        let mut words = options.iter();
        while let Some(option) = words.next() {
            match option.as_str() {
                "--no-install" => parsed.may_install = false,
                "--only" => {
                    let name = words.next().ok_or("--only requires the name of a check")?;
                    parsed.checks.push(check_called(name)?);
                }
                _ => return Err(format!("expected --only NAME or --no-install, got '{option}'")),
            }
        }
        if parsed.checks.is_empty() {
            parsed.checks = CHECKS.iter().collect();
        }
        Ok(parsed)
    }
}

fn check_called(name: &str) -> Outcome<&'static Check> {
    CHECKS.iter().find(|check| check.name == name).ok_or_else(|| {
        let names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
        format!("--only: expected one of {}, got '{name}'", names.join(", "))
    })
}

fn format() -> Outcome {
    run(&mut cargo(&["fmt", "--all", "--check"]))
}

fn clippy() -> Outcome {
    let deny = ["--", "-D", "warnings"];
    let all = ["clippy", "--workspace", "--all-targets", "--all-features"];
    run(cargo(&all).args(deny))?;
    run(cargo(&["clippy", "--no-default-features"]).args(CORE).args(deny))
}

fn needs_of_tests() -> Vec<Need> {
    let mut needs = peers::needs();
    needs.extend([Need::Package(&debian::JQ), Need::Package(&debian::MAN)]);
    needs
}

/// Unit, integration and document tests.
fn tests() -> Outcome {
    // Without `--tests` cargo links every example, too; `house` compiles and runs them all.
    for kind in ["--tests", "--doc"] {
        let mut command = cargo(&["test", "--workspace", kind]);
        run(command.args(TEST_FEATURES).envs(peers::variables()))?;
    }
    Ok(())
}

fn docs() -> Outcome {
    let mut command = cargo(&["doc", "--workspace", "--no-deps", "--all-features"]);
    run(command.env("RUSTDOCFLAGS", "-D warnings"))
}

/// The library builds for the web; the kernels also with the vector instructions there.
fn web() -> Outcome {
    let build = ["build", "--profile", "unoptimised", "--target", WASM];
    run(cargo(&build).args(["-p", "superchunk"]).env("RUSTFLAGS", "-D warnings"))?;
    let mut kernels = cargo(&build);
    kernels.args(["-p", "superchunk-kernels"]);
    // Another folder: changed flags would rebuild everything in the first one.
    kernels.args(["--target-dir", "target/wasm-simd128"]);
    run(kernels.env("RUSTFLAGS", "-C target-feature=+simd128 -D warnings"))
}

/// The library and the program compile for Windows and macOS. Nothing is linked, which would need
/// the linker and the system libraries of the target.
fn other_systems() -> Outcome {
    for target in OTHER_SYSTEMS {
        let mut check = cargo(&["check", "--profile", "unoptimised", "--target", target]);
        run(check.args(["-p", "superchunk", "-p", "superchunk-cli"]))?;
    }
    Ok(())
}

/// Every host by itself, then the package of each as its users install it.
fn hosts() -> Outcome {
    hosts::test()?;
    python::test()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Outcome<Options> {
        Options::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn checks_are_chosen_by_name() {
        let all = parse(&[]).unwrap();
        assert!(all.checks.len() == CHECKS.len() && all.may_install);
        let two = parse(&["--only", "fuzz", "--no-install", "--only", "docs"]).unwrap();
        let names: Vec<&str> = two.checks.iter().map(|check| check.name).collect();
        assert_eq!(names, ["fuzz", "docs"]);
        assert!(!two.may_install);
    }

    #[test]
    fn other_options_are_refused_with_the_names_of_all_checks() {
        for words in [&["--only"][..], &["--only", "x"], &["--x"]] {
            assert!(parse(words).is_err(), "{words:?}");
        }
        let refusal = parse(&["--only", "x"]).err().unwrap();
        assert!(refusal.contains("format") && refusal.contains("hosts"), "{refusal}");
    }
}
