//! A target as `target.toml` describes it: its setup, its command, its features, its known failures, and what it leaves
//! to the authors of servers and clients.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use camino::Utf8PathBuf;

use super::callable::Callable;
use super::case::Need;
use super::endpoint::Endpoint;
use super::program::Program;
use super::release::{Release, Releases};
use super::spec::{Revision, Role, Transport, words};
use super::survey::{Declared, Survey};
use super::{Pattern, RequirementId, TargetId};

/// A target, or one variant of it.
#[derive(Clone, Debug)]
pub struct Target {
    /// The name.
    pub id: TargetId,
    /// A one-line description for people.
    pub title: String,
    /// The programming language of its users.
    pub language: Option<String>,
    /// The name of the API that the variant uses, as the SDK's documentation spells it.
    pub api: Option<String>,
    /// The questions about parts that the adapter writes itself, because the SDK leaves them to its users, with the words; or
    /// after “but”, the condition on which it works.
    pub by_hand: BTreeMap<String, String>,
    /// The path of its `target.toml`; `None` for an embedded target.
    pub file: Option<Utf8PathBuf>,
    /// The folder of its `target.toml`, in which its commands run.
    pub folder: Utf8PathBuf,
    /// The commands that prepare the target, and the files that they depend on.
    pub setup: Setup,
    /// The kind of target, with its command or address.
    pub drives: TargetKind,
    /// Environment variables for the target's processes.
    pub env: BTreeMap<String, String>,
    /// Names of further variables whose values are hidden in output; a name after `-` is not hidden.
    pub secrets: Vec<String>,
    /// The roles, transports, revisions and features that the target supports: those of the variant.
    pub claims: Claims,
    /// The claims of all variants together, which the adapter's response to `hello` must confirm.
    pub announced: Claims,
    /// The tools of a fixed server that casebook may call.
    pub callable: Callable,
    /// The known failures, each with its reason.
    pub known: Vec<Known>,
    /// The command that runs a program of the folder `repro/`, whose path is added; empty if there are none.
    pub repro: Vec<String>,
    /// The requirements that the SDK's documentation leaves to the author of a server or client.
    pub author: Vec<LeftToAuthor>,
    /// The folder of its snapshots, and of those of its other variants; `None` if it has none.
    pub snapshots: Option<Utf8PathBuf>,
    /// The reason why nobody has run the target yet.
    pub unverified: Option<String>,
    /// The programs that the setup requires.
    pub needs: Vec<Program>,
    /// The package under test, if `target.toml` names it. The adapter's response to `hello` must agree.
    pub package: Option<Package>,
    /// The declarations of a server that the user named by its command or URL, without a `target.toml`.
    pub survey: Option<Survey>,
}

impl Target {
    /// Returns whether the target is a server with tools of its own.
    pub fn is_fixed_server(&self) -> bool {
        matches!(self.drives, TargetKind::Fixed(Fixed::Server(_) | Fixed::Running(_)))
    }

    /// Returns whether the target has no `target.toml`, because the user named its command or URL.
    pub fn is_ad_hoc(&self) -> bool {
        self.survey.is_some()
    }

    /// Returns whether one process of an adapter serves both targets: variants with the same command.
    pub fn shares_adapter(&self, other: &Self) -> bool {
        let is_same_command = match (&self.drives, &other.drives) {
            (TargetKind::Adapter(own), TargetKind::Adapter(other)) => own == other,
            _ => false,
        };
        is_same_command && self.id.name == other.id.name && self.folder == other.folder && self.env == other.env
    }

    /// Returns whether a server may have tools on a revision: it neither lacks them nor declared in a survey that it has
    /// none.
    pub fn may_have_tools(&self, revision: Revision) -> bool {
        let declared = self.survey.as_ref().and_then(|survey| survey.revisions.get(&revision));
        !self.claims.lacks.contains(&Need::Tools) && declared.is_none_or(Declared::has_tools)
    }

    /// Returns the known failures, and the requirements that are left to the author.
    pub fn excuses(&self) -> impl Iterator<Item = Excuse<'_>> {
        let known = self.known.iter().map(|Known { test, requirement, reason, .. }| Excuse {
            list: "[[known]]",
            test,
            requirement,
            reason,
        });
        let author = self.author.iter().map(|LeftToAuthor { test, requirement, reason, .. }| Excuse {
            list: "[[author]]",
            test,
            requirement,
            reason,
        });
        known.chain(author)
    }
}

/// A package in a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The name in the registry.
    pub name: String,
    /// Its version.
    pub version: String,
    /// `true` for a build of a checkout, which can have the same version as a release.
    pub is_dev: bool,
    /// The versions of packages that it depends on and that decide what is observed, where another release is built.
    pub dependencies: BTreeMap<String, String>,
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, version, is_dev, .. } = self;
        write!(f, "{name} {version}{}", if *is_dev { "+dev" } else { "" })
    }
}

words! {
    /// The kind of a target in `target.toml`.
    Kind {
        /// A program that implements the adapter protocol.
        Adapter = "adapter",
        /// An existing server or client, without an adapter.
        Fixed = "fixed",
    }
}

/// The kind of a target, with its command or address.
#[derive(Clone, Debug)]
pub enum TargetKind {
    /// The command and arguments of an adapter, which builds servers and clients from fixtures.
    Adapter(Vec<String>),
    /// A server with tools of its own, or a client with a script of its own.
    Fixed(Fixed),
    /// The client of one target, connected with the server of another.
    Pair(TargetPair),
}

/// A target without an adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// The command of a server over stdio.
    Server(Vec<String>),
    /// The address of a running server, for Streamable HTTP.
    Running(Endpoint),
    /// The command of a client. casebook adds a server's address as the last argument.
    Client(Vec<String>),
}

impl Fixed {
    /// Returns the role and the transport of the target.
    pub fn speaks(&self) -> (Role, Transport) {
        match self {
            Self::Server(_) => (Role::Server, Transport::Stdio),
            Self::Running(_) => (Role::Server, Transport::Http),
            Self::Client(_) => (Role::Client, Transport::Http),
        }
    }
}

/// The preparation of a target.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The commands, run one after another in the target's folder.
    pub commands: Vec<Vec<String>>,
    /// The files, relative to the folder, whose change makes the commands necessary again.
    pub inputs: Vec<Utf8PathBuf>,
    /// The commands that build the target on a checkout of its SDK, in place of the others. Empty if there is no way.
    pub on_checkout: Vec<Vec<String>>,
    /// The commands that build the target on another release of its SDK. Empty if there is no way.
    pub on_version: Vec<Vec<String>>,
    /// The command that prints the releases of the SDK as JSON, before any set-up. Empty if there is none.
    pub releases: Vec<String>,
    /// The range of releases on which the adapter works.
    pub supports: Option<Releases>,
    /// What the target is built on.
    pub base: Base,
}

/// What a target is built on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// The release that its own files lock.
    #[default]
    Locked,
    /// A checkout of its SDK.
    Checkout(Checkout),
    /// Another release of its SDK.
    Release(Release),
}

impl Setup {
    /// The checkout of the SDK, if the target is built on one.
    pub fn checkout(&self) -> Option<&Checkout> {
        if let Base::Checkout(checkout) = &self.base { Some(checkout) } else { None }
    }

    /// The release of the SDK, if the target is built on another one than the locked one.
    pub fn release(&self) -> Option<&Release> {
        if let Base::Release(release) = &self.base { Some(release) } else { None }
    }
}

/// A checkout of an SDK, which a target is built on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// Its folder, in which nothing is written.
    pub folder: Utf8PathBuf,
    /// The folder of its copy, in which the commands of the set-up build.
    pub copy: Utf8PathBuf,
}

/// The features that a target claims to support. The plan relies on them, and the adapter's response to `hello` must
/// agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// The roles.
    pub roles: Vec<Role>,
    /// The transports.
    pub transports: Vec<Transport>,
    /// The revisions.
    pub revisions: Vec<Revision>,
    /// The features that the target lacks, of those that a case can require.
    pub lacks: Vec<Need>,
    /// The changes of the specification that the target implements before a release that it speaks has them: folders of
    /// requirements, as in `sep-2106`.
    pub implements: Vec<String>,
}

/// The reason of a known failure that nobody has looked at yet. Reports count them apart.
pub const UNTRIAGED: &str = "untriaged";

/// A known failure. It excuses verdicts on one requirement, not whole tests.
#[derive(Clone, Debug)]
pub struct Known {
    /// The tests.
    pub test: Pattern,
    /// The requirement.
    pub requirement: RequirementId,
    /// A description of the target's behaviour.
    pub reason: String,
    /// The same in a few words, for the cell of a table.
    pub short: Option<String>,
    /// The address of the issue, where one was reported.
    pub issue: Option<String>,
    /// The path, below the target's folder `repro/`, of a program that shows the failure without the adapter.
    pub repro: Option<Utf8PathBuf>,
    /// Set if other variants have the entry too, and this variant claims less than the target. The failing tests may
    /// then be those of the others, so that the entry is never stale here.
    pub is_shared: bool,
}

/// A requirement that the SDK's documentation orders its users to meet themselves. A test that violates it shows nothing
/// of the SDK.
#[derive(Clone, Debug)]
pub struct LeftToAuthor {
    /// The tests.
    pub test: Pattern,
    /// The requirement.
    pub requirement: RequirementId,
    /// The order of the documentation, in short.
    pub reason: String,
    /// What the author does, in a few words, for the cell of a table.
    pub short: Option<String>,
    /// The address of the documentation.
    pub url: String,
    /// As in [`Known`].
    pub is_shared: bool,
}

/// The parts that entries of `[[known]]` and `[[author]]` have in common.
#[derive(Clone, Copy, Debug)]
pub struct Excuse<'t> {
    /// The list in `target.toml`.
    pub list: &'static str,
    /// The tests.
    pub test: &'t Pattern,
    /// The requirement.
    pub requirement: &'t RequirementId,
    /// The reason.
    pub reason: &'t str,
}

/// The two targets of a pair, both with adapters.
#[derive(Clone, Debug)]
pub struct TargetPair {
    /// The target whose client sends the requests.
    pub client: Arc<Target>,
    /// The target whose server has the fixture.
    pub server: Arc<Target>,
}

impl TargetPair {
    /// Returns the id of the pair: the ids of its client and its server.
    pub fn id(&self) -> TargetId {
        TargetId::of_pair(&self.client.id, &self.server.id)
    }

    /// Returns the revisions that both targets speak, the newest first.
    pub fn revisions(&self) -> Vec<Revision> {
        let speaks = |target: &Target, revision: &Revision| target.claims.revisions.contains(revision);
        Revision::all().rev().filter(|one| speaks(&self.client, one) && speaks(&self.server, one)).collect()
    }

    /// Returns whether a side lacks a feature that the tests of pairs need of it.
    fn lacks(&self, need: Need) -> bool {
        let (of_client, of_server) = match need {
            Need::ElicitationForm => (true, true),
            Need::VersionsNegotiation => (true, false),
            Need::Tools
            | Need::ToolsOutputSchema
            | Need::ToolsListChanged
            | Need::VersionsOlder
            | Need::ProgressUnasked
            | Need::Typed => (false, true),
        };
        of_client && self.client.claims.lacks.contains(&need) || of_server && self.server.claims.lacks.contains(&need)
    }

    /// Returns the pair as a target, for the tests of these revisions.
    pub fn target(self, revisions: Vec<Revision>) -> Target {
        let Self { client, server } = &self;
        let transports = client.claims.transports.iter().filter(|one| server.claims.transports.contains(one));
        let lacks = Need::ALL.iter().copied().filter(|need| self.lacks(*need)).collect();
        let (roles, transports) = (vec![Role::Pair], transports.copied().collect());
        let claims = Claims { roles, transports, revisions, lacks, implements: Vec::new() };
        let package = |target: &Target| target.package.as_ref().map_or(target.id.to_string(), ToString::to_string);
        Target {
            id: self.id(),
            title: format!("{} as client, {} as server", package(client), package(server)),
            file: None,
            folder: server.folder.clone(),
            setup: Setup::default(),
            env: BTreeMap::new(),
            secrets: client.secrets.iter().chain(&server.secrets).cloned().collect(),
            announced: claims.clone(),
            claims,
            callable: Callable::default(),
            known: Vec::new(),
            repro: Vec::new(),
            author: Vec::new(),
            snapshots: None,
            language: None,
            api: None,
            by_hand: BTreeMap::new(),
            unverified: None,
            needs: client.needs.iter().chain(&server.needs).cloned().collect(),
            package: None,
            survey: None,
            drives: TargetKind::Pair(self),
        }
    }
}
