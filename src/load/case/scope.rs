//! What surrounds a step: its test, its file and the catalogue.

use miette::SourceSpan;

use super::needs::Needs;
use crate::load::catalogue::Catalogued;
use crate::load::text::diagnostic::Lint;
use crate::load::text::read::Reader;
use crate::model::CaseId;
use crate::model::case::Fixture;
use crate::model::spec::{Revisions, Role};

/// The test, file and catalogue that a step belongs to.
pub(super) struct Scope<'a> {
    pub(super) case: &'a CaseId,
    pub(super) test: &'a str,
    pub(super) role: Option<Role>,
    pub(super) revisions: Revisions,
    pub(super) fixture: &'a Fixture,
    /// `false` where the file has no `given`, and the fixture is empty.
    pub(super) is_given: bool,
    pub(super) needs: &'a Needs,
    pub(super) catalogue: &'a Catalogued,
}

impl Scope<'_> {
    /// Reports a name that no tool of the fixture has. The help begins with `place`, before the known names.
    pub(super) fn tool(&self, reader: &mut Reader, name: &str, span: SourceSpan, place: &str) {
        if self.fixture.tool(name).is_some() || self.needs.named().any(|needed| needed == name) {
            return;
        }
        // The mistake may be a misspelt `given`.
        if !self.is_given && reader.failed() {
            return;
        }
        let what = format!("the test `{}` names the tool `{name}`, which the fixture does not have", self.test);
        let unknown = reader.mistake(Lint::UnknownTool, what).at(span, "unknown tool");
        reader.push(unknown.known(name, place, self.fixture.tools.iter().map(|tool| tool.name.as_str())));
    }
}
