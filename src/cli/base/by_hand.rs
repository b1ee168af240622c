//! The target and the test of `casebook serve` and `casebook drive`.
//!
//! Takes the arguments of these commands, gives one target and one planned test. Must not start anything.

use crate::drive::Cancel;
use crate::drive::HandError;
use crate::report::Untrusted;
use std::cmp::Reverse;
use std::sync::Arc;
use tokio::sync::watch;

use camino::{Utf8Path, Utf8PathBuf};

use super::chosen::plan_problem;
use super::chosen::targets;
use super::exit::Exit;
use super::problem::Problem;
use super::sources::CaseArgs;
use crate::drive::Leading;
use crate::judge::is_decidable;
use crate::load::target::REFERENCE;
use crate::load::{LoadError, Source, load};
use crate::model::Pattern;
use crate::model::applicability::Applicability;
use crate::model::case::Library;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::Target;
use crate::plan::{Plan, Planned, Selection, plan, unmatched};

/// A target, and the test to run with it.
pub(in crate::cli) struct Chosen {
    pub(in crate::cli) target: Arc<Target>,
    pub(in crate::cli) planned: Planned,
}

/// The arguments of the command line.
pub(in crate::cli) struct Typed<'a> {
    pub(in crate::cli) target: &'a str,
    pub(in crate::cli) case: &'a str,
    pub(in crate::cli) role: Role,
    pub(in crate::cli) revision: Option<Revision>,
    pub(in crate::cli) transport: Option<Transport>,
}

/// The servers that casebook plays for a client without an adapter, one after the other.
pub(in crate::cli) struct Plays {
    pub(in crate::cli) library: Library,
    pub(in crate::cli) servers: Vec<Played>,
}

/// A server that casebook plays.
pub(in crate::cli) struct Played {
    /// The tests that the server decides, those of the preferred revision first.
    pub(in crate::cli) tests: Vec<Planned>,
    /// The same tests, and the controls that govern them.
    pub(in crate::cli) all: Vec<Planned>,
    /// The revisions that the server speaks, the newest first.
    pub(in crate::cli) revisions: Vec<Revision>,
}

impl Plays {
    /// Finds the tests of clients that a name selects, over HTTP if the user selects no transport: a server for each
    /// fixture of a case file, or for each script if the command leads the client through a test.
    pub(in crate::cli) fn choose(
        case: &str,
        revision: Option<Revision>,
        transport: Option<Transport>,
        cases: &CaseArgs,
        leading: Leading,
    ) -> Result<Self, Problem> {
        let (sources, name) = source(case, cases)?;
        let pattern: Pattern = name.parse().map_err(|error| Problem::new(Exit::Usage, format!("{error}")))?;
        let library = load(&sources)?;
        let typed = Typed { target: REFERENCE, case, role: Role::Client, revision, transport };
        typed.check_role(&library, &pattern)?;
        let selection = Selection {
            only: vec![pattern.clone()],
            role: Some(Role::Client),
            revision: revision.into_iter().collect(),
            transport: transport.into_iter().collect(),
            heavy: true,
            every_transport: true,
            ..Selection::default()
        };
        // The reference speaks everything, so that its plan has all tests.
        let plan =
            plan(&library, &[one_target(REFERENCE, &library)?], &selection).map_err(|error| plan_problem(&error))?;
        let mut all: Vec<Planned> = plan.tests().map(|(_, planned)| planned.clone()).collect();
        let is_http = |one: &Planned| one.id.transport == Transport::Http;
        let has_http = all.iter().any(|one| pattern.matches(&one.id) && is_http(one));
        all.retain(|one| is_http(one) == has_http);
        all.sort_by_key(|one| Reverse(one.id.revision));
        let mut servers: Vec<Played> = Vec::new();
        for one in all.iter().filter(|one| pattern.matches(&one.id)) {
            match servers.iter_mut().find(|server| server.serves(one, leading)) {
                Some(server) => server.tests.push(one.clone()),
                None => servers.push(Played { tests: vec![one.clone()], all: Vec::new(), revisions: Vec::new() }),
            }
        }
        // Where the name selects several, those that messages alone cannot decide are left out.
        if servers.len() > 1 {
            servers.retain(|server| server.tests.iter().any(|one| is_decidable(&one.test)));
        }
        for server in &mut servers {
            let first = &server.tests[0];
            let mut revisions: Vec<_> = server.tests.iter().map(|one| one.id.revision).collect();
            revisions.dedup();
            server.revisions = first.test.given.revision.map_or(revisions, |own| vec![own]);
            server.all = all.iter().filter(|one| one.id.case == first.id.case).cloned().collect();
        }
        servers.sort_by_key(|server| server.tests[0].index);
        Ok(Self { library, servers })
    }
}

impl Played {
    /// Returns whether this server decides another test too.
    fn serves(&self, other: &Planned, leading: Leading) -> bool {
        let first = &self.tests[0];
        let is_same_file = first.id.case == other.id.case && first.test.given == other.test.given;
        is_same_file && (leading == Leading::Itself || first.test.path() == other.test.path())
    }
}

impl Typed<'_> {
    /// Finds the target and the test: of the newest revision, and over HTTP if the user selects no transport.
    pub(in crate::cli) fn choose(&self, cases: &CaseArgs) -> Result<Chosen, Problem> {
        let (sources, name) = source(self.case, cases)?;
        let pattern: Pattern = name.parse().map_err(|error| Problem::new(Exit::Usage, format!("{error}")))?;
        let library = load(&sources)?;
        let target = one_target(self.target, &library)?;
        self.check_role(&library, &pattern)?;
        let selection = Selection {
            only: vec![pattern.clone()],
            role: Some(self.role),
            revision: self.revision.into_iter().collect(),
            transport: self.transport.into_iter().collect(),
            heavy: true,
            every_transport: true,
            ..Selection::default()
        };
        // Known failures do not matter for one test by hand, and their patterns may be about other cases. Any installed
        // version of the package can be used by hand.
        let target = Arc::unwrap_or_clone(target);
        let target = Arc::new(Target { known: Vec::new(), author: Vec::new(), package: None, ..target });
        let mut plan = plan(&library, &[Arc::clone(&target)], &selection).map_err(|error| plan_problem(&error))?;
        for group in &mut plan.groups {
            group.tests.retain(|planned| pattern.matches(&planned.id));
        }
        self.check_one(&plan)?;
        let newest = plan.tests().map(|(_, planned)| planned).max_by_key(|planned| {
            (planned.id.revision, planned.id.transport == Transport::Http, Reverse(planned.index))
        });
        let planned = newest.ok_or_else(|| plan_problem(&unmatched(&pattern, &library)))?.clone();
        Ok(Chosen { target, planned })
    }

    fn check_role(&self, library: &Library, pattern: &Pattern) -> Result<(), Problem> {
        let tests = library.cases.iter().flat_map(|case| &case.tests);
        let selected: Vec<_> = tests.filter(|test| pattern.matches_path(&test.path())).collect();
        if selected.is_empty() {
            return Err(plan_problem(&unmatched(pattern, library)));
        }
        if selected.iter().all(|test| matches!(test.reach, Applicability::FixedOnly(_))) {
            let text = format!(
                "`{}` has no fixture, because it is for servers without an adapter; choose another case of \
                 `casebook list`",
                pattern.as_str()
            );
            return Err(Problem::new(Exit::Usage, text));
        }
        if selected.iter().any(|test| test.role == self.role) {
            return Ok(());
        }
        let (tests, remedy) = match self.role {
            Role::Server => ("clients", "to run a client, use `casebook drive`"),
            Role::Client | Role::Pair => ("servers", "to serve its fixture, use `casebook serve`"),
        };
        Err(Problem::new(Exit::Usage, format!("`{}` tests {tests}; {remedy}", pattern.as_str())))
    }

    /// Checks that the arguments select one fixture of a server, or one script of a client.
    fn check_one(&self, plan: &Plan) -> Result<(), Problem> {
        let mut different: Vec<&Planned> = Vec::new();
        for (_, planned) in plan.tests() {
            let same = |known: &&Planned| match self.role {
                Role::Server => known.test.given == planned.test.given,
                Role::Client | Role::Pair => known.test.path() == planned.test.path(),
            };
            if !different.iter().any(same) {
                different.push(planned);
            }
        }
        let [_, _, ..] = different.as_slice() else { return Ok(()) };
        let kind = if self.role == Role::Server { "fixtures" } else { "scripts" };
        Err(self.ambiguous(kind, different.iter().map(|planned| planned.test.path())))
    }

    /// The error for a name that selects several of something.
    fn ambiguous(&self, kind: &str, paths: impl Iterator<Item = String>) -> Problem {
        let names: Vec<_> = paths.map(|path| format!("  {}", self.name(&path))).collect();
        let text = format!("`{}` has {} {kind}; choose one:\n{}", self.case, names.len(), names.join("\n"));
        Problem::new(Exit::Usage, text)
    }

    /// Returns the argument that selects a test: for a case file, the path of the file with the rest of the name.
    fn name(&self, test: &str) -> String {
        match file(self.case) {
            Some((root, _)) => format!("{test} --cases {root}"),
            None => test.to_owned(),
        }
    }
}

/// Returns the sources and the name of a case. The path of a case file is also the source.
fn source(typed: &str, cases: &CaseArgs) -> Result<(Vec<Source>, String), LoadError> {
    Ok(match file(typed) {
        Some((root, name)) => (vec![Source::Folder(root)], name),
        None => (cases.sources()?, typed.to_owned()),
    })
}

/// Splits the path of a case file into the folder of cases and the name of the case; `None` for a name.
fn file(typed: &str) -> Option<(Utf8PathBuf, String)> {
    let path = Utf8Path::new(typed);
    let folder = path.parent().filter(|_| path.extension() == Some("json"))?;
    let root = folder.parent()?;
    let root = if root.as_str().is_empty() { Utf8Path::new(".") } else { root };
    Some((root.to_owned(), format!("{}/{}", folder.file_name()?, path.file_stem()?)))
}

/// Finds the one target. A target with variants is several servers, of which the user chooses one.
fn one_target(typed: &str, library: &Library) -> Result<Arc<Target>, Problem> {
    let found = targets(&[typed.to_owned()], library)?;
    if let [one] = found.as_slice() {
        return Ok(Arc::clone(one));
    }
    // The target may have been named by its path, and only that finds it again.
    let variants = found.iter().filter_map(|target| target.id.variant.as_ref());
    let names: Vec<_> = variants.map(|variant| format!("  {typed}:{variant}")).collect();
    Err(Problem::new(Exit::Usage, format!("`{typed}` has variants; choose one:\n{}", names.join("\n"))))
}

/// The most characters of a target's text that are shown.
pub(in crate::cli) const SHOWN: usize = 16_000;

/// Waits for a request to stop: for `wanted`, or for a stronger one.
pub(in crate::cli) async fn stopped(cancel: &mut watch::Receiver<Cancel>, wanted: Cancel) {
    let is_reached = |cancel: &Cancel| *cancel == wanted || *cancel == Cancel::Now;
    if cancel.wait_for(is_reached).await.is_err() {
        std::future::pending::<()>().await;
    }
}

pub(in crate::cli) fn problem(chosen: &Chosen, error: &HandError) -> Problem {
    let exit = match error {
        HandError::Declined(_) => Exit::Unexpected,
        HandError::Start(_) | HandError::Broke(_) => Exit::Target,
        HandError::Canary(_) => Exit::System,
    };
    let words = format!("{} on {}: {error}", chosen.target.id, chosen.planned.id);
    Problem::new(exit, Untrusted(&words).block(SHOWN))
}
