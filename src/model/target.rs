//! One system under test: how it is set up and started, what it claims, what is known to fail.

use std::collections::BTreeMap;
use std::fmt;

use camino::Utf8PathBuf;

use super::program::Program;
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
    pub drives: TargetKind,
    /// Environment variables that its processes get.
    pub env: BTreeMap<String, String>,
    /// Further variables whose values are hidden, and with a `-` before it one whose value isn't.
    pub secrets: Vec<String>,
    /// What it says it can do.
    pub claims: Claims,
    /// Failures that are known, each with its reason.
    pub known: Vec<Known>,
    /// Tests that are known to fail now and then, each with its reason.
    pub flaky: Vec<Flaky>,
    /// Where its snapshots are; nowhere, for one that has none.
    pub snapshots: Option<Utf8PathBuf>,
    /// Why nobody has run it, where nobody has.
    pub unverified: Option<String>,
    /// The programs without which it can't be set up.
    pub needs: Vec<Program>,
    /// What is under test, where its file says so; the adapter's `hello` must agree.
    pub package: Option<Package>,
}

impl Target {
    /// Which tests its excuses mean.
    pub fn excused(&self) -> impl Iterator<Item = &Pattern> {
        self.known.iter().map(|known| &known.test).chain(self.flaky.iter().map(|flaky| &flaky.test))
    }
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
pub enum TargetKind {
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

/// A test that is known to fail now and then. It excuses what another attempt showed to hold.
#[derive(Clone, Debug)]
pub struct Flaky {
    /// Which tests.
    pub test: Pattern,
    /// Why.
    pub reason: String,
    /// Where it is reported.
    pub issue: Option<String>,
}
