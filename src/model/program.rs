//! A program that a target's setup requires, and the version that a machine has.

use std::fmt;
use std::str::FromStr;

/// A required program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The name on the `PATH`.
    pub name: String,
    /// The oldest sufficient version; `None` accepts any.
    pub least: Option<Version>,
}

impl Program {
    /// Returns whether the program that was found satisfies the requirement.
    pub fn is_met_by(&self, found: &Found) -> bool {
        match (found, &self.least) {
            (Found::Missing, _) => false,
            (Found::Version(version), Some(least)) => version >= least,
            (Found::Unversioned, least) => least.is_none(),
            (Found::Version(_), None) => true,
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.least {
            Some(least) => write!(f, "{} >= {least}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// The programs that casebook may execute to learn their version, by the argument that makes them print it and do
/// nothing else. For any other program, casebook only looks up whether it exists.
const VERSIONED: [(&str, &[&str]); 3] = [
    (
        "--version",
        &[
            "bash", "bun", "bundle", "bundler", "cabal", "cargo", "clang", "clang++", "cmake", "composer", "conda",
            "corepack", "crystal", "dart", "deno", "docker", "dotnet", "elixir", "g++", "gcc", "gem", "ghc", "git",
            "gradle", "java", "javac", "julia", "make", "meson", "mix", "mvn", "nim", "ninja", "node", "npm", "npx",
            "opam", "pdm", "perl", "php", "pip", "pip3", "pipenv", "pipx", "pnpm", "podman", "poetry", "python",
            "python3", "rake", "ruby", "rustc", "rustup", "stack", "swift", "swiftc", "uv", "uvx", "yarn",
        ],
    ),
    ("version", &["go", "zig"]),
    ("-version", &["kotlin", "kotlinc", "ocaml", "scala", "scalac"]),
];

/// Returns the argument that makes a program print its version, or `None` for unknown programs.
pub fn version_argument(program: &str) -> Option<&'static str> {
    VERSIONED.iter().find(|(_, programs)| programs.contains(&program)).map(|(argument, _)| *argument)
}

/// The programs that run another program or package, which their arguments name.
const LAUNCHERS: [&str; 30] = [
    "bun", "bunx", "cargo", "deno", "docker", "dotnet", "env", "exec", "go", "java", "nice", "node", "nodejs", "npm",
    "npx", "perl", "php", "pipx", "pnpm", "pnpx", "podman", "poetry", "python", "python3", "ruby", "sh", "bash", "uv",
    "uvx", "yarn",
];
/// The words of their command lines that name no program.
const SUBCOMMANDS: [&str; 8] = ["compose", "container", "dlx", "exec", "run", "start", "tool", "x"];

/// Returns whether a program runs another one, which its arguments name.
pub fn is_launcher(program: &str) -> bool {
    let stem = program.trim_end_matches(|one: char| one.is_ascii_digit() || one == '.');
    LAUNCHERS.contains(&program) || LAUNCHERS.contains(&stem)
}

/// Returns whether a word of the command line of a launcher names a subcommand and no program.
pub fn is_subcommand(word: &str) -> bool {
    SUBCOMMANDS.contains(&word)
}

/// The result of looking for a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The program exists in this version.
    Version(Version),
    /// The program exists, but printed no version or may not be executed.
    Unversioned,
    /// There is no program with that name.
    Missing,
}

/// A version: numbers separated by dots.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(Vec<u64>);

impl Version {
    /// Returns the first version in a text: the first number with a dot, or else the first number.
    pub fn within(text: &str) -> Option<Self> {
        let numbers = || text.split(|one: char| !one.is_ascii_digit() && one != '.');
        let numbers = || numbers().map(|one| one.trim_matches('.')).filter(|one| !one.is_empty());
        let dotted = numbers().find(|one| one.contains('.'));
        dotted.or_else(|| numbers().next())?.parse().ok()
    }
}

impl FromStr for Version {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        text.split('.').map(|part| part.parse().map_err(drop)).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&parts.join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_found_in_the_output_of_a_program() {
        for (output, version) in [
            ("v20.20.2\n", "20.20.2"),
            ("cargo 1.95.0 (f2d3ce0bd 2026-03-21)", "1.95.0"),
            ("go version go1.26.8 linux/amd64", "1.26.8"),
            ("openjdk 21 2023-09-19\nOpenJDK Runtime Environment (build 21+35-2513)", "21"),
            ("\u{1b}[1mApache Maven 3.8.7\u{1b}[m", "3.8.7"),
        ] {
            assert_eq!(Version::within(output).expect(output).to_string(), version);
        }
        assert_eq!(Version::within("no version here"), None);
    }

    #[test]
    fn program_is_met_by_its_least_version_and_newer_ones() {
        let program = |least: &str| Program { name: "p".to_owned(), least: least.parse().ok() };
        let found = |text: &str| Found::Version(text.parse().expect("a version"));
        assert!(program("3.11").is_met_by(&found("3.11.7")) && program("3.9").is_met_by(&found("3.11")));
        assert!(!program("3.11").is_met_by(&found("3.9.20")) && !program("17").is_met_by(&found("11.0.1")));
        assert!(program("any").is_met_by(&Found::Unversioned) && !program("1").is_met_by(&Found::Unversioned));
        assert!(!program("any").is_met_by(&Found::Missing));
    }

    #[test]
    fn only_known_programs_have_a_version_argument() {
        let known: Vec<_> = VERSIONED.iter().flat_map(|(_, programs)| *programs).collect();
        assert!(known.iter().enumerate().all(|(place, one)| !known[..place].contains(one)), "each is listed once");
        assert_eq!((version_argument("python3"), version_argument("go")), (Some("--version"), Some("version")));
        // A shell or an interpreter would run a file named `version` in the current folder.
        for program in ["sh", "dash", "lua", "crontab", "../node", ""] {
            assert_eq!(version_argument(program), None, "{program}");
        }
    }
}
