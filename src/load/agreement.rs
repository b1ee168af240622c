//! The file `agreement.json`: the scenarios of the official conformance suite, with the requirements and tests that check
//! the same.
//!
//! Takes the tree of the file, and gives the scenarios. With cases, it reports scenarios that name an unknown requirement
//! or test, or a test that does not check the requirement. Must not know baselines.

use std::sync::Arc;

use super::capabilities::decider;
use super::diagnostic::{File, Lint};
use super::json;
use super::node::{Kind, Member, Node};
use super::read::{Object, Reader};
use super::seeds::Names;
use crate::jsonrpc::pointer::is_within;
use crate::model::RequirementId;
use crate::model::baseline::{Agreement, Scenario};
use crate::model::capability::Decider;
use crate::model::case::{Library, Test};
use crate::model::spec::Role;

/// Reads the embedded file, which a test has checked.
pub(super) fn embedded() -> Agreement {
    let text = super::source::agreement_text().expect("the file is beside the embedded cases");
    let mut reader = Reader::new(Arc::new(File::new("cases/agreement.json", text.to_owned())));
    let root = json::parse(&mut reader).expect("the file is JSON");
    agreement(&mut reader, &root, None).expect("the file has the keys of its schema")
}

/// Reads the scenarios of both roles.
pub(super) fn agreement(reader: &mut Reader, root: &Node, library: Option<&Library>) -> Option<Agreement> {
    let what = "a file of scenarios";
    let object = reader.object(root, what, &["$schema", "suite", "server", "client"])?;
    let suite = reader.need(object, what, "suite").and_then(|node| reader.text(node, "`suite`")).map(str::to_owned);
    let checked = library.map(|library| Checked { library, names: Names::of(library) });
    let mut reading = Reading { reader, checked };
    let (servers, clients) = (reading.role(object, Role::Server), reading.role(object, Role::Client));
    Some(Agreement { suite: suite?, scenarios: servers.into_iter().chain(clients).collect() })
}

/// The cases that the file is checked with.
struct Checked<'l> {
    library: &'l Library,
    names: Names,
}

struct Reading<'r> {
    reader: &'r mut Reader,
    checked: Option<Checked<'r>>,
}

impl Reading<'_> {
    fn role(&mut self, object: Object<'_>, role: Role) -> Vec<Scenario> {
        let Some(node) = self.reader.need(object, "a file of scenarios", role.as_ref()) else { return Vec::new() };
        let members = self.reader.members(node, &format!("`{role}`")).unwrap_or_default();
        members.iter().filter_map(|member| self.scenario(member, role)).collect()
    }

    fn scenario(&mut self, scenario: &Member, role: Role) -> Option<Scenario> {
        let checks = self.reader.members(&scenario.value, "a scenario")?.iter();
        let checks = checks.filter_map(|check| {
            let items = self.reader.items(&check.value, "a check of the official suite")?;
            let deciders = items.iter().filter_map(|item| self.check(item, role)).collect();
            Some(((*check.key).to_owned(), deciders))
        });
        Some(Scenario { role, name: (*scenario.key).to_owned(), checks: checks.collect() })
    }

    fn check(&mut self, item: &Node, role: Role) -> Option<Decider> {
        let what = "a check of casebook";
        let checked = self.checked.as_ref().map(|checked| (checked.library, &checked.names));
        let found = decider(self.reader, what, item, checked)?;
        let Some((library, _)) = checked else { return Some(found) };
        let is_named =
            |one: &Member| *one.key == *"tests" && !matches!(&one.value.kind, Kind::Array(items) if items.is_empty());
        if !item.members().iter().any(is_named) {
            let every = self.reader.mistake(Lint::WrongCount, format!("{what} names no tests"));
            let help = "name the tests that do the same as the official suite, in `tests`";
            self.reader.push(every.at(item.span, "all tests would count").help(help));
        }
        for prefix in &found.tests {
            if !is_checked(library, &found.requirement, prefix, role) {
                let why = format!("no {role} test of `{prefix}` checks `{}`", found.requirement);
                let unchecked = self.reader.mistake(Lint::UnknownTest, why);
                let help = "name tests that have this requirement in their `then`";
                self.reader.push(unchecked.at(item.span, "not checked there").help(help));
            }
        }
        Some(found)
    }
}

/// Returns whether a test below a prefix checks a requirement. A part of the cases may be read without the others.
fn is_checked(library: &Library, requirement: &RequirementId, prefix: &str, role: Role) -> bool {
    let folder = prefix.split('/').next().unwrap_or_default();
    let mut cases = library.cases.iter().filter(|case| case.id.folder() == folder).peekable();
    let has_check = |test: &Test| test.checks().any(|check| check.requirement == *requirement);
    let is_one = |test: &Arc<Test>| test.role == role && is_within(&test.path(), prefix) && has_check(test);
    cases.peek().is_none() || cases.any(|case| case.tests.iter().any(is_one))
}
