//! One system under test: how it is set up and started, what it claims, what is known to fail.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use camino::Utf8PathBuf;

use super::spec::{Revision, Role, Transport, words};
use super::{Pattern, RequirementId, TargetId};

/// One target, or one variant of it.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name.
    pub id: TargetId,
    /// One line for people.
    pub title: String,
    /// Its `target.toml`; an embedded one has none.
    pub file: Option<Utf8PathBuf>,
    /// The folder of its `target.toml`; its commands run there.
    pub folder: Utf8PathBuf,
    /// Commands that make it ready, and the files that make them necessary again.
    pub setup: Setup,
    /// What is under test, and how it comes to be there.
    pub drives: Drives,
    /// Environment variables that its processes get.
    pub env: BTreeMap<String, String>,
    /// What it says it can do.
    pub claims: Claims,
    /// Failures that are known, each with its reason.
    pub known: Vec<Known>,
    /// Where its snapshots are; nowhere, for one that has none.
    pub snapshots: Option<Utf8PathBuf>,
    /// Why nobody has run it, where nobody has.
    pub unverified: Option<String>,
    /// What is under test, where its file says so; the adapter's `hello` must agree.
    pub package: Option<Package>,
    /// The programs without which it can't be set up.
    pub needs: Vec<Program>,
}

/// A package of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name, as the registry has it.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

words! {
    /// What a target's file is of.
    Kind {
        /// A program that speaks the adapter protocol.
        Adapter = "adapter",
        /// A server or a client as it is.
        Fixed = "fixed",
    }
}

/// What is under test, and how it comes to be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drives {
    /// The command, with its arguments, of a program that builds what a case describes, by the adapter protocol.
    Adapter(Vec<String>),
    /// Something that has its tools, or its script, inside already.
    Fixed(Fixed),
}

/// Something that nobody wrote an adapter for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// The command of a server over stdio.
    Server(Vec<String>),
    /// The address of a server that runs, for Streamable HTTP.
    Running(String),
    /// The command of a client, which gets a server's address as its last argument.
    Client(Vec<String>),
}

impl Fixed {
    /// The side that it is, and what it speaks over.
    pub fn speaks(&self) -> (Role, Transport) {
        match self {
            Self::Server(_) => (Role::Server, Transport::Stdio),
            Self::Running(_) => (Role::Server, Transport::Http),
            Self::Client(_) => (Role::Client, Transport::Http),
        }
    }
}

/// A program that has to be on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name on the PATH.
    pub name: String,
    /// The oldest version that will do; any, where there is none.
    pub least: Option<Version>,
}

impl Program {
    /// Whether what was found will do.
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

/// What a machine has of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// This version.
    Version(Version),
    /// A program that doesn't say its version.
    Unversioned,
    /// None of that name.
    Missing,
}

/// A version: numbers with dots between.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(Vec<u64>);

impl Version {
    /// The first in a text: one with a dot, or else a single number.
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

/// What makes a target ready.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Commands, run one after another in the target's folder.
    pub commands: Vec<Vec<String>>,
    /// Files whose change makes the commands necessary again, relative to the folder.
    pub inputs: Vec<Utf8PathBuf>,
}

/// What a target says it can do. The plan believes it; the adapter's `hello` must agree.
#[derive(Clone, Debug)]
pub struct Claims {
    /// The sides that it has.
    pub roles: Vec<Role>,
    /// What it speaks over.
    pub transports: Vec<Transport>,
    /// The revisions that it speaks.
    pub revisions: Vec<Revision>,
    /// The features that it lacks, of those that a case can need.
    pub lacks: Vec<super::case::Need>,
}

/// A failure that is known. It excuses the verdicts of one requirement, not the tests.
#[derive(Clone, Debug)]
pub struct Known {
    /// Which tests.
    pub test: Pattern,
    /// Which requirement.
    pub requirement: RequirementId,
    /// What the target does.
    pub reason: String,
    /// Where it is reported.
    pub issue: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_whatever_a_program_says() {
        for (said, version) in [
            ("v20.20.2\n", "20.20.2"),
            ("cargo 1.95.0 (f2d3ce0bd 2026-03-21)", "1.95.0"),
            ("go version go1.26.8 linux/amd64", "1.26.8"),
            ("openjdk 21 2023-09-19\nOpenJDK Runtime Environment (build 21+35-2513)", "21"),
            ("\u{1b}[1mApache Maven 3.8.7\u{1b}[m", "3.8.7"),
        ] {
            assert_eq!(Version::within(said).expect(said).to_string(), version);
        }
        assert_eq!(Version::within("no version here"), None);
    }

    #[test]
    fn a_program_is_met_by_its_least_version_and_newer_ones() {
        let program = |least: &str| Program { name: "p".to_owned(), least: least.parse().ok() };
        let found = |text: &str| Found::Version(text.parse().expect("a version"));
        assert!(program("3.11").is_met_by(&found("3.11.7")) && program("3.9").is_met_by(&found("3.11")));
        assert!(!program("3.11").is_met_by(&found("3.9.20")) && !program("17").is_met_by(&found("11.0.1")));
        assert!(program("any").is_met_by(&Found::Unversioned) && !program("1").is_met_by(&Found::Unversioned));
        assert!(!program("any").is_met_by(&Found::Missing));
    }
}
