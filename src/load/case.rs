//! A case file as a [`Case`], with one [`Test`] for each test and row.
//!
//! Takes a file's tree and the requirement catalogue, gives the case and the places of its parts in the file. Must not
//! know how tests are run.

pub(super) mod any_server;
pub(super) mod capabilities;
pub(super) mod elicit;
pub(super) mod expect;
pub(super) mod fixture;
pub(super) mod implied;
pub(super) mod lint;
pub(super) mod methods;
pub(super) mod mutants;
pub(super) mod needs;
pub(super) mod premise;
pub(super) mod scope;
pub(super) mod step;
pub(super) mod vacuous;
pub(super) mod vocabulary;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use miette::SourceSpan;

use crate::load::catalogue::Catalogued;
use crate::load::text::diagnostic::Lint;
use crate::load::text::expand::{RowNodes, RowValues, Uses};
use crate::load::text::node::{Kind, Member, Node};
use crate::load::text::read::{Object, Reader};
use crate::model::CaseId;
use crate::model::case::{CanaryState, Case, Control, Expectation, Fixture, Need, Row, STEP_LIMIT, Step, Test, Then};
use crate::model::spec::{Revision, Revisions, Role, Transport};
use crate::model::template::{Canary, CanaryKind};
use fixture::fixture;
use needs::Needs;
use scope::Scope;
use step::{STEP, step};

/// A case, and the places of its parts.
pub(super) struct Reading {
    pub(super) case: Case,
    pub(super) places: Places,
}

/// The places of a case's parts in its file.
pub(super) struct Places {
    /// Each row's id, and the keys of its values.
    pub(super) rows: Vec<(SourceSpan, Vec<SourceSpan>)>,
    /// Beside each test of [`Case::tests`]: its id.
    pub(super) tests: Vec<SourceSpan>,
    /// The places of the values that some test uses.
    pub(super) used: BTreeSet<usize>,
    /// The rows that some test runs with.
    pub(super) run: BTreeSet<String>,
}

const FILE: [&str; 12] =
    ["$schema", "title", "note", "role", "since", "until", "transports", "needs", "heavy", "rows", "given", "tests"];
const TEST: [&str; 16] = [
    "title",
    "note",
    "rows",
    "control",
    "since",
    "until",
    "transports",
    "needs",
    "heavy",
    "step-limit",
    "request-timeout",
    "when",
    "then",
    "declares",
    "initialized",
    "steps",
];
/// The keys of a row that are not values.
const ROW: [&str; 6] = ["note", "since", "until", "transports", "heavy", "step-limit"];

/// The limits on where a test applies, which a file, a row and a test can each set.
#[derive(Clone, Default)]
struct Limits {
    note: Vec<String>,
    revisions: Revisions,
    transports: Option<Vec<Transport>>,
    needs: Needs,
    heavy: bool,
    step_limit: Option<u32>,
}

impl Limits {
    fn read(reader: &mut Reader, object: Object<'_>, role: Option<Role>) -> Self {
        Self {
            note: reader.note(object),
            revisions: reader.revisions(object),
            transports: transports(reader, object),
            needs: object.get("needs").map(|node| Needs::read(reader, node, role)).unwrap_or_default(),
            heavy: heavy(reader, object),
            step_limit: step_limit(reader, object),
        }
    }

    fn and(&self, other: &Self) -> Self {
        let transports = match (&self.transports, &other.transports) {
            (Some(ours), Some(theirs)) => Some(ours.iter().copied().filter(|one| theirs.contains(one)).collect()),
            (ours, theirs) => ours.clone().or_else(|| theirs.clone()),
        };
        Self {
            note: other.note.clone(),
            revisions: self.revisions.intersect(other.revisions),
            transports,
            needs: self.needs.and(&other.needs),
            heavy: self.heavy || other.heavy,
            step_limit: self.step_limit.into_iter().chain(other.step_limit).min(),
        }
    }

    /// Returns whether no revision or no transport is left.
    fn never(&self) -> bool {
        let revisions = Revision::all().any(|revision| self.revisions.contains(revision));
        !revisions || self.transports.as_ref().is_some_and(Vec::is_empty)
    }
}

/// The number of rows that a file may have. Each row is compared with the others.
const ROWS: usize = 500;
/// The number of tests that a file may have, counted once for each row.
const TESTS: usize = 4_000;

/// One row: its values as they are written, and its limits.
struct RowReading<'n> {
    nodes: RowNodes<'n>,
    limits: Limits,
}

/// The fixture with the values of one row. A file without rows has one fixture; a file without `given` has an empty one.
struct Served<'a, 'n> {
    row: Option<&'a RowReading<'n>>,
    fixture: Option<Arc<Fixture>>,
    is_given: bool,
}

/// The parts of a file that all of its tests share.
struct Shared<'a> {
    id: &'a CaseId,
    title: &'a str,
    role: Option<Role>,
    limits: Limits,
    catalogue: &'a Catalogued,
}

/// Reads a case file.
pub(super) fn case(reader: &mut Reader, id: CaseId, root: &Node, catalogue: &Catalogued) -> Option<Reading> {
    let what = "the case file";
    let object = reader.object(root, what, &FILE)?;
    if let Some(node) = reader.need(object, what, "$schema") {
        reader.text(node, "`$schema`");
    }
    let title = reader.need(object, what, "title").and_then(|node| title(reader, node)).unwrap_or_default();
    let role = reader.need(object, what, "role").and_then(|node| reader.word(node, "`role`", Role::ALL));
    let limits = Limits::read(reader, object, role);
    let rows = object.get("rows").map(|node| rows(reader, node)).unwrap_or_default();
    let given = object.get("given");
    if given.is_none() && role != Some(Role::Server) {
        reader.need(object, what, "given");
    }
    let tests = reader.need(object, what, "tests").and_then(|node| reader.members(node, "`tests`")).unwrap_or_default();
    if let Some(node) = object.get("tests").filter(|node| is_empty(node)) {
        let none = reader.mistake(Lint::WrongCount, "`tests` has no test").at(node.span, "no test in it");
        reader.push(none.help("add one, as in `\"accepts\": {\"when\": {…}, \"then\": {…}}`"));
    }

    let shared = Shared { id: &id, title: &title, role, limits, catalogue };
    let mut uses = Uses::default();
    let served = serve(reader, given, &shared, &rows, &mut uses);
    let mut places = Places {
        rows: rows.iter().map(|row| row.nodes.places()).collect(),
        tests: Vec::new(),
        run: BTreeSet::new(),
        used: BTreeSet::new(),
    };
    let mut read = Vec::new();
    for member in tests {
        if read.len() > TESTS {
            let many = reader.mistake(Lint::TooLarge, format!("the file has more than {TESTS} tests with its rows"));
            reader.push(many.at(member.key_span, "not read from here on").help("split it into several files"));
            break;
        }
        for (served, test) in self::tests(reader, member, &shared, &served, &mut uses) {
            places.tests.push(member.key_span);
            places.run.extend(served.row.map(|row| row.nodes.id.to_owned()));
            read.push(test);
        }
    }
    uses.report_missing(reader, &rows.iter().map(|row| &row.nodes).collect::<Vec<_>>());
    places.used = uses.used;
    any_server::extend(&mut read);
    let tests = read.into_iter().map(Arc::new).collect();
    let rows = rows.into_iter().map(RowReading::into_row).collect();
    let (path, note, role) = (reader.file().name().to_owned(), shared.limits.note, shared.role?);
    Some(Reading { case: Case { path, note, role, rows, tests, title: title.clone(), id }, places })
}

/// Returns whether a node is an object without members.
fn is_empty(node: &Node) -> bool {
    matches!(&node.kind, Kind::Object(members) if members.is_empty())
}

fn title(reader: &mut Reader, node: &Node) -> Option<String> {
    let title = reader.text(node, "`title`")?;
    lint::title(reader, title, node.span);
    Some(title.to_owned())
}

fn rows<'n>(reader: &mut Reader, node: &'n Node) -> Vec<RowReading<'n>> {
    let members = reader.members(node, "`rows`").unwrap_or_default();
    if is_empty(node) {
        reader.push(
            reader
                .mistake(Lint::WrongCount, "`rows` has no row")
                .at(node.span, "no row in it")
                .help("leave `rows` out"),
        );
    }
    if members.len() > ROWS {
        let many = reader.mistake(Lint::TooLarge, format!("`rows` has {} rows, more than {ROWS}", members.len()));
        reader.push(many.at(node.span, "too many rows").help("split the file into several"));
        return Vec::new();
    }
    let mut rows = Vec::new();
    for member in members {
        reader.id(&member.key, member.key_span, "the row");
        let what = format!("the row `{}`", member.key);
        let Some(values) = reader.members(&member.value, &what) else { continue };
        let bindings = values.iter().filter(|value| !ROW.contains(&&*value.key)).collect();
        rows.push(RowReading {
            limits: Limits::read_row(reader, &member.value),
            nodes: RowNodes { id: &member.key, id_span: member.key_span, bindings },
        });
    }
    rows
}

impl Limits {
    /// Reads the limits of a row, in which `needs` is an ordinary name of a value.
    fn read_row(reader: &mut Reader, node: &Node) -> Self {
        let object = Object { node };
        Self {
            note: reader.note(object),
            revisions: reader.revisions(object),
            transports: transports(reader, object),
            heavy: heavy(reader, object),
            step_limit: step_limit(reader, object),
            ..Self::default()
        }
    }
}

fn heavy(reader: &mut Reader, object: Object<'_>) -> bool {
    object.get("heavy").and_then(|node| reader.flag(node, "`heavy`")).unwrap_or(false)
}

/// Reads `step-limit`, in seconds: at least 1, and less than the default.
fn step_limit(reader: &mut Reader, object: Object<'_>) -> Option<u32> {
    let node = object.get("step-limit")?;
    let seconds = reader.integer(node, "`step-limit`", 1, i64::from(STEP_LIMIT) - 1)?;
    u32::try_from(seconds).ok()
}

/// Reads `transports`. A word with a mistake limits nothing, so that the mistake is reported once.
fn transports(reader: &mut Reader, object: Object<'_>) -> Option<Vec<Transport>> {
    let words = object.get("transports").map(|node| reader.words(node, "`transports`", Transport::ALL));
    words.filter(|words| !words.is_empty())
}

impl RowReading<'_> {
    fn into_row(self) -> Row {
        let bindings = self.nodes.bindings.iter().map(|one| ((*one.key).to_owned(), one.value.value())).collect();
        Row { id: self.nodes.id.to_owned(), note: self.limits.note, bindings }
    }
}

impl RowNodes<'_> {
    fn places(&self) -> (SourceSpan, Vec<SourceSpan>) {
        (self.id_span, self.bindings.iter().map(|binding| binding.key_span).collect())
    }
}

/// Reads the fixture once for each row.
fn serve<'a, 'n>(
    reader: &mut Reader,
    given: Option<&Node>,
    shared: &Shared<'_>,
    rows: &'a [RowReading<'n>],
    uses: &mut Uses,
) -> Vec<Served<'a, 'n>> {
    let rows: Vec<Option<&RowReading<'n>>> = if rows.is_empty() { vec![None] } else { rows.iter().map(Some).collect() };
    rows.into_iter()
        .map(|row| {
            let Some(given) = given else { return Served { row, fixture: Some(Arc::default()), is_given: false } };
            let given = RowValues { row: row.map(|row| &row.nodes), uses }.fill(reader, given);
            Served { row, fixture: fixture(reader, &given, shared.role).map(Arc::new), is_given: true }
        })
        .collect()
}

/// Reads one test once for each of its rows.
fn tests<'a, 'n>(
    reader: &mut Reader,
    member: &Member,
    shared: &Shared<'_>,
    served: &'a [Served<'a, 'n>],
    uses: &mut Uses,
) -> Vec<(&'a Served<'a, 'n>, Test)> {
    reader.id(&member.key, member.key_span, "the test");
    let Some(object) = reader.object(&member.value, &format!("the test `{}`", member.key), &TEST) else {
        return Vec::new();
    };
    let written = Written {
        member,
        object,
        title: object.get("title").and_then(|node| title(reader, node)),
        control: object.get("control").and_then(|node| control(reader, node)),
        limits: Limits::read(reader, object, shared.role),
    };
    if let Some(node) = object.get("control").filter(|_| written.control == Some(Control::Row))
        && served.iter().all(|one| one.row.is_none())
    {
        let message = format!("the test `{}` is the control of a row, and the file has no rows", member.key);
        let rowless = reader.mistake(Lint::ControlWithoutRows, message).at(node.span, "no row");
        reader.push(rowless.help("write `\"control\": \"file\"`"));
    }
    if object.get("when").is_none() && object.get("steps").is_none() {
        if ["when", "steps"].iter().any(|key| reader.is_misspelt(object, key)) {
            return Vec::new();
        }
        let missing = reader.mistake(Lint::MissingKey, format!("the test `{}` has no `when`", member.key));
        let help = "add `when` and `then`, as in `\"when\": {\"call\": \"send\"}, \"then\": \"observe\"`, or a list of `steps`";
        reader.push(missing.at(member.key_span, "no `when` and no `steps` in this test").help(help));
        return Vec::new();
    }
    let chosen = chosen(reader, &written, served);
    if chosen.is_empty() {
        examine(reader, &written, shared, served, uses);
    }
    chosen.into_iter().filter_map(|served| Some((served, test(reader, &written, shared, served, uses)?))).collect()
}

/// Reads a test whose rows are all unknown, and reports the mistakes that it would have with any row of the file.
fn examine(
    reader: &mut Reader,
    written: &Written<'_>,
    shared: &Shared<'_>,
    served: &[Served<'_, '_>],
    uses: &mut Uses,
) {
    let mut own = Uses::default();
    let mut found = served.iter().map(|served| {
        let mut apart = Reader::new(reader.file());
        _ = test(&mut apart, written, shared, served, &mut own);
        apart.into_found()
    });
    let mut common = found.next().unwrap_or_default();
    for other in found {
        common.retain(|one| other.iter().any(|known| known.same(one)));
    }
    for mistake in common {
        reader.push(mistake);
    }
    uses.add_common(own, served.len());
}

/// Reads the scope of a control: a word, or the names of tests.
fn control(reader: &mut Reader, node: &Node) -> Option<Control> {
    if matches!(node.kind, Kind::Array(_)) {
        let names = reader.one_or_more(node, "`control`");
        return Some(Control::Tests(
            names.iter().filter_map(|name| reader.text(name, "`control`")).map(str::to_owned).collect(),
        ));
    }
    let word = reader.word(node, "`control`", &["row", "file"])?;
    Some(if word == "row" { Control::Row } else { Control::File })
}

/// A test before the values of a row are filled in.
struct Written<'n> {
    member: &'n Member,
    object: Object<'n>,
    title: Option<String>,
    control: Option<Control>,
    limits: Limits,
}

/// The rows that a test runs with: those that it names, or all.
fn chosen<'a, 'n>(reader: &mut Reader, written: &Written<'_>, served: &'a [Served<'a, 'n>]) -> Vec<&'a Served<'a, 'n>> {
    let Some(node) = written.object.get("rows") else { return served.iter().collect() };
    let mut names = BTreeSet::new();
    let known: Vec<&str> = served.iter().filter_map(|one| one.row).map(|row| row.nodes.id).collect();
    for item in
        reader.items(node, "the `rows` of a test").map(|_| reader.one_or_more(node, "`rows`")).unwrap_or_default()
    {
        let Some(name) = reader.text(item, "an item of `rows`") else { continue };
        if !known.contains(&name) {
            let what =
                format!("the test `{}` names the row `{name}`, which the file does not have", written.member.key);
            let unknown = reader.mistake(Lint::UnknownRow, what).at(item.span, "unknown row");
            reader.push(unknown.known(name, "the rows of the file are", known.iter().copied()));
        } else if !names.insert(name) {
            let twice = reader.mistake(Lint::WrongCount, format!("`rows` has `{name}` twice"));
            reader.push(twice.at(item.span, "again here").help("remove one of them"));
        }
    }
    served.iter().filter(|one| one.row.is_some_and(|row| names.contains(row.nodes.id))).collect()
}

fn test(
    reader: &mut Reader,
    written: &Written<'_>,
    shared: &Shared<'_>,
    served: &Served<'_, '_>,
    uses: &mut Uses,
) -> Option<Test> {
    let member = written.member;
    let row = served.row.map(|row| row.limits.clone()).unwrap_or_default();
    let limits = shared.limits.and(&row).and(&written.limits);
    if limits.never() {
        let with = served.row.map(|row| format!(" with the row `{}`", row.nodes.id)).unwrap_or_default();
        let never = reader.mistake(Lint::NeverApplies, format!("the test `{}`{with} never runs", member.key));
        let help = "the `since`, `until` and `transports` of the file, the row and the test have nothing in common";
        reader.push(never.at(member.key_span, "no revision or transport is left").help(help));
    }
    let fixture = served.fixture.clone()?;
    let scope = Scope {
        case: shared.id,
        test: &member.key,
        role: shared.role,
        revisions: limits.revisions,
        fixture: &fixture,
        is_given: served.is_given,
        needs: &limits.needs,
        catalogue: shared.catalogue,
    };
    let mut row_values = RowValues { row: served.row.map(|row| &row.nodes), uses };
    let steps = steps(reader, written.object, &scope, &mut row_values)?;
    let typed = fixture.is_typed().then_some(Need::Typed);
    let mut test = Test {
        case: shared.id.clone(),
        id: (*member.key).to_owned(),
        row: served.row.map(|row| row.nodes.id.to_owned()),
        title: written.title.clone().unwrap_or_else(|| shared.title.to_owned()),
        note: limits.note,
        line: reader.line(member.key_span),
        role: shared.role?,
        control: written.control.clone(),
        revisions: limits.revisions,
        transports: limits.transports,
        reach: limits.needs.reach(served.is_given),
        needs: limits.needs.features.into_iter().chain(typed).collect(),
        heavy: limits.heavy,
        // A control tells whether the target answers at all, however slow the machine is.
        step_limit: limits.step_limit.filter(|_| written.control.is_none()),
        request_timeout: request_timeout(reader, written.object, shared.role),
        given: fixture,
        steps,
        hash: OnceLock::new(),
    };
    doubt_unseen_fetches(&mut test);
    Some(test)
}

/// Marks what shows nothing: a canary with a name is reached only through the proxy of the environment, which some
/// runtimes do not use, so that an untouched one has not been asked for, or was not seen.
fn doubt_unseen_fetches(test: &mut Test) {
    let is_untouched = |one: &Expectation| one.canary == Some(CanaryState::Untouched);
    let by_name = |canary: &&Canary| matches!(canary.kind, CanaryKind::HttpByName | CanaryKind::HttpsByName);
    // Few tests have such a check, and a walk through the templates of all would delay each start.
    if !test.checks().flat_map(|check| &check.alternatives).any(is_untouched)
        || !test.templates().into_iter().any(|template| template.canaries().iter().any(by_name))
    {
        return;
    }
    for step in &mut test.steps {
        let Then::Checks(checks) = &mut step.then else { continue };
        for one in checks.iter_mut().flat_map(|check| &mut check.alternatives).filter(|one| is_untouched(one)) {
            one.not_asked = true;
            one.name.get_or_insert_with(|| "no request came through the proxy".to_owned());
        }
    }
}

/// Reads the time limit of a client's requests, in milliseconds.
fn request_timeout(reader: &mut Reader, test: Object<'_>, role: Option<Role>) -> Option<u32> {
    let member = test.member("request-timeout")?;
    if role == Some(Role::Server) {
        let mismatch = reader.mistake(Lint::RoleMismatch, "`request-timeout` is allowed only in tests of a client");
        let mismatch = mismatch.at(member.key_span, "the server is under test here");
        reader.push(mismatch.help("remove `request-timeout`"));
    }
    let limit = reader.integer(&member.value, "`request-timeout`", 1, 5_000)?;
    u32::try_from(limit).ok()
}

/// Reads `when` and `then`, or `steps`; `None` if any of them has a mistake.
fn steps(
    reader: &mut Reader,
    test: Object<'_>,
    scope: &Scope<'_>,
    row_values: &mut RowValues<'_>,
) -> Option<Vec<Step>> {
    let Some(list) = test.get("steps") else {
        reader.need(test, &format!("the test `{}`", scope.test), "then");
        let node = row_values.fill(reader, test.node);
        return step(reader, Object { node: &node }, scope, 0).map(|step| vec![step]);
    };
    if let Some(member) = STEP.iter().find_map(|key| test.member(key)) {
        let both = reader.mistake(Lint::ConflictingKeys, format!("a test with `steps` cannot have `{}`", member.key));
        reader.push(both.at(member.key_span, "belongs into a step").help("move it into the first of the `steps`"));
    }
    let items = reader.items(list, "`steps`")?;
    if items.len() < 2 {
        let few = reader.mistake(Lint::WrongCount, "`steps` must have two or more steps");
        let help = "write a single step as `when` and `then` of the test itself";
        reader.push(few.at(list.span, format!("{} in it", items.len())).help(help));
    }
    let read: Vec<Option<Step>> = items
        .iter()
        .enumerate()
        .map(|(place, item)| {
            let item = row_values.fill(reader, item);
            reader.object(&item, "the step", &STEP).and_then(|object| step(reader, object, scope, place))
        })
        .collect();
    read.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use crate::load::{Source, load};

    #[test]
    fn only_an_untouched_canary_by_name_shows_nothing() {
        let library = load(&[Source::Embedded]).expect("the embedded cases are sound");
        let kinds = |row: &str| {
            let path = format!("sep-2106/external-ref/called/{row}");
            let tests = library.cases.iter().flat_map(|case| &case.tests).filter(|test| test.path() == path);
            let alternatives = tests.flat_map(|test| test.checks().flat_map(|check| &check.alternatives));
            alternatives.map(|one| one.not_asked).collect::<Vec<_>>()
        };
        assert_eq!(
            (kinds("http"), kinds("http-by-name"), kinds("https-by-name")),
            (vec![false], vec![true], vec![true])
        );
    }
}
