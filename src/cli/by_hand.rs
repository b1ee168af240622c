//! The one test that `casebook serve` and `casebook drive` are about: what was typed, and which target, fixture and
//! script it means.

use std::sync::Arc;

use camino::Utf8Path;

use super::run::{plan_problem, targets};
use super::{CaseArgs, Exit, Problem};
use crate::load::{LoadError, Source, load};
use crate::model::Pattern;
use crate::model::applicability::Applicability;
use crate::model::case::Library;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::Target;
use crate::plan::{Plan, Planned, Selection, plan, unmatched};

/// A target and what it is to do.
pub(super) struct Chosen {
    pub(super) target: Arc<Target>,
    pub(super) planned: Planned,
}

/// What was typed.
pub(super) struct Typed<'a> {
    pub(super) target: &'a str,
    pub(super) case: &'a str,
    pub(super) role: Role,
    pub(super) revision: Option<Revision>,
    pub(super) transport: Option<Transport>,
}

impl Typed<'_> {
    /// Finds what it means: on the newest revision that there is, and over HTTP where nothing else is said.
    pub(super) fn choose(&self, cases: &CaseArgs) -> Result<Chosen, Problem> {
        let (sources, name) = source(self.case, cases)?;
        let pattern: Pattern = name.parse().map_err(|error| Problem::new(Exit::Usage, format!("{error}")))?;
        let library = load(&sources)?;
        let target = one_target(self.target)?;
        self.check_role(&library, &pattern)?;
        let selection = Selection {
            only: vec![pattern.clone()],
            role: Some(self.role),
            revision: self.revision.into_iter().collect(),
            transport: self.transport.into_iter().collect(),
            heavy: true,
            ..Selection::default()
        };
        // What is known to fail has no say here, and may be about other cases.
        let target = Arc::new(Target { known: Vec::new(), flaky: Vec::new(), ..Arc::unwrap_or_clone(target) });
        let mut plan = plan(&library, &[Arc::clone(&target)], &selection).map_err(|error| plan_problem(&error))?;
        for group in &mut plan.groups {
            group.tests.retain(|planned| pattern.matches(&planned.id));
        }
        self.check_one(&plan)?;
        let newest = plan.tests().map(|(_, planned)| planned).max_by_key(|planned| {
            (planned.id.revision, planned.id.transport == Transport::Http, std::cmp::Reverse(planned.index))
        });
        let planned = newest.ok_or_else(|| plan_problem(&unmatched(&pattern, &library)))?.clone();
        Ok(Chosen { target, planned })
    }

    fn check_role(&self, library: &Library, pattern: &Pattern) -> Result<(), Problem> {
        let tests = library.cases.iter().flat_map(|case| &case.tests);
        let meant: Vec<_> = tests.filter(|test| pattern.matches_path(&test.path())).collect();
        if meant.is_empty() {
            return Err(plan_problem(&unmatched(pattern, library)));
        }
        if meant.iter().all(|test| matches!(test.reach, Applicability::FixedOnly(_))) {
            let text = format!("`{}` has no fixture: it is asked of servers as they are", pattern.as_str());
            return Err(Problem::new(Exit::Usage, text));
        }
        if meant.iter().any(|test| test.role == self.role) {
            return Ok(());
        }
        let (has, does) = match self.role {
            Role::Server => ("clients", "`casebook drive` drives a client through it"),
            Role::Client => ("servers", "`casebook serve` serves its fixture"),
        };
        Err(Problem::new(Exit::Usage, format!("`{}` is about {has}: {does}", pattern.as_str())))
    }

    /// For a server all tests with one fixture are the same; for a client each is another script.
    fn check_one(&self, plan: &Plan) -> Result<(), Problem> {
        let mut different: Vec<&Planned> = Vec::new();
        for (_, planned) in plan.tests() {
            let same = |known: &&Planned| match self.role {
                Role::Server => known.test.given == planned.test.given,
                Role::Client => known.test.path() == planned.test.path(),
            };
            if !different.iter().any(same) {
                different.push(planned);
            }
        }
        let [_, _, ..] = different.as_slice() else { return Ok(()) };
        let what = if self.role == Role::Server { "fixtures" } else { "scripts" };
        let names: Vec<_> = different.iter().map(|planned| format!("  {}", planned.test.path())).collect();
        let text = format!("`{}` has {} {what}; name one:\n{}", self.case, names.len(), names.join("\n"));
        Err(Problem::new(Exit::Usage, text))
    }
}

/// A path of a case file brings its folder of cases along.
fn source(typed: &str, cases: &CaseArgs) -> Result<(Vec<Source>, String), LoadError> {
    let path = Utf8Path::new(typed);
    let parts = || {
        let folder = path.parent()?;
        let root = folder.parent()?;
        let root = if root.as_str().is_empty() { Utf8Path::new(".") } else { root };
        Some((root.to_owned(), format!("{}/{}", folder.file_name()?, path.file_stem()?)))
    };
    Ok(match parts().filter(|_| path.extension() == Some("json")) {
        Some((root, name)) => (vec![Source::Folder(root)], name),
        None => (cases.sources()?, typed.to_owned()),
    })
}

/// The one target that was typed; its variants are different servers.
fn one_target(typed: &str) -> Result<Arc<Target>, Problem> {
    let found = targets(&[typed.to_owned()])?;
    if let [one] = found.as_slice() {
        return Ok(Arc::clone(one));
    }
    let names: Vec<_> = found.iter().map(|target| format!("  {}", target.id)).collect();
    Err(Problem::new(Exit::Usage, format!("`{typed}` has variants; name one:\n{}", names.join("\n"))))
}
