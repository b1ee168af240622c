//! A case file: what its rows and tests say, one [`Test`] for each test with each of its rows.
//!
//! Takes a file's tree and the catalogue, gives a [`Case`] and where its parts stand in the file.
//! Must not know how tests are run.

use std::collections::BTreeSet;
use std::sync::Arc;

use miette::SourceSpan;

use super::diagnostic::Lint;
use super::expand::{RowNodes, RowValues};
use super::fixture::fixture;
use super::lint;
use super::needs::Needs;
use super::node::{Member, Node};
use super::read::{Object, Reader};
use super::step::{STEP, Scope, step};
use crate::model::CaseId;
use crate::model::case::{Case, Control, Fixture, Row, STEP_LIMIT, Step, Test};
use crate::model::spec::{Catalogue, Revision, Revisions, Role, Transport};

/// A case, and where its parts stand.
pub(super) struct Reading {
    pub(super) case: Case,
    pub(super) places: Places,
}

/// Where the parts of a case stand in its file.
pub(super) struct Places {
    /// Each row's id, and the keys of its values.
    pub(super) rows: Vec<(SourceSpan, Vec<SourceSpan>)>,
    /// Beside each test of [`Case::tests`]: its id.
    pub(super) tests: Vec<SourceSpan>,
    /// Where the values stand that some test looked at.
    pub(super) used: BTreeSet<usize>,
    /// The rows that some test runs with.
    pub(super) run: BTreeSet<String>,
}

const FILE: [&str; 14] = [
    "$schema",
    "title",
    "note",
    "role",
    "since",
    "until",
    "transports",
    "needs",
    "isolated",
    "heavy",
    "step-limit",
    "rows",
    "given",
    "tests",
];
const TEST: [&str; 16] = [
    "title",
    "note",
    "rows",
    "control",
    "since",
    "until",
    "transports",
    "needs",
    "isolated",
    "heavy",
    "step-limit",
    "when",
    "then",
    "declares",
    "initialized",
    "steps",
];
/// Keys of a row that are no values.
const ROW: [&str; 6] = ["note", "since", "until", "transports", "heavy", "step-limit"];

/// What file, row and test can each say of where a test applies.
#[derive(Clone, Default)]
struct Limits {
    note: Vec<String>,
    revisions: Revisions,
    transports: Option<Vec<Transport>>,
    needs: Needs,
    heavy: bool,
    isolated: bool,
    step_limit: Option<u32>,
}

impl Limits {
    fn read(reader: &mut Reader, object: Object<'_>, role: Option<Role>) -> Self {
        let mut flag =
            |key: &str| object.get(key).and_then(|node| reader.flag(node, &format!("`{key}`"))).unwrap_or(false);
        let (heavy, isolated) = (flag("heavy"), flag("isolated"));
        Self {
            note: reader.note(object),
            revisions: reader.revisions(object),
            transports: transports(reader, object),
            needs: object.get("needs").map(|node| Needs::read(reader, node, role)).unwrap_or_default(),
            heavy,
            isolated,
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
            isolated: self.isolated || other.isolated,
            step_limit: self.step_limit.into_iter().chain(other.step_limit).min(),
        }
    }

    /// Whether no revision or no transport is left.
    fn never(&self) -> bool {
        let revisions = Revision::all().any(|revision| self.revisions.contains(revision));
        !revisions || self.transports.as_ref().is_some_and(Vec::is_empty)
    }
}

/// The number of rows that a file may have, and of tests with them: each is compared with the others.
const ROWS: usize = 500;
const TESTS: usize = 4_000;

/// One row, as written and as it narrows.
struct RowReading<'n> {
    nodes: RowNodes<'n>,
    limits: Limits,
}

/// The fixture with one row's values; without rows there is one, of no row. A file that gives none has an empty one.
struct Served<'a, 'n> {
    row: Option<&'a RowReading<'n>>,
    fixture: Option<Arc<Fixture>>,
    is_given: bool,
}

/// What all tests of a file share.
struct Shared<'a> {
    id: &'a CaseId,
    title: &'a str,
    role: Option<Role>,
    limits: Limits,
    requirements: &'a Catalogue,
}

/// Reads a case file.
pub(super) fn case(reader: &mut Reader, id: CaseId, root: &Node, requirements: &Catalogue) -> Option<Reading> {
    let what = "a case file";
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
    if let Some(node) = object.get("tests").filter(|_| tests.is_empty()) {
        reader.push(reader.mistake(Lint::WrongCount, "a case file has a test").at(node.span, "none here"));
    }

    let shared = Shared { id: &id, title: &title, role, limits, requirements };
    let mut used = BTreeSet::new();
    let served = serve(reader, given, &shared, &rows, &mut used);
    let mut places = Places {
        rows: rows.iter().map(|row| row.nodes.places()).collect(),
        tests: Vec::new(),
        run: BTreeSet::new(),
        used: BTreeSet::new(),
    };
    let mut read = Vec::new();
    for member in tests {
        if read.len() > TESTS {
            let many = reader.mistake(Lint::TooLarge, format!("the file has more than {TESTS} tests, rows counted"));
            reader.push(many.at(member.key_span, "not read from here on").help("write several files"));
            break;
        }
        for (served, test) in self::tests(reader, member, &shared, &served, &mut used) {
            places.tests.push(member.key_span);
            places.run.extend(served.row.map(|row| row.nodes.id.to_owned()));
            read.push(Arc::new(test));
        }
    }
    places.used = used;
    let rows = rows.into_iter().map(RowReading::into_row).collect();
    let (path, note, role) = (reader.file().name().to_owned(), shared.limits.note, shared.role?);
    Some(Reading { case: Case { path, note, role, rows, tests: read, title: title.clone(), id }, places })
}

fn title(reader: &mut Reader, node: &Node) -> Option<String> {
    let title = reader.text(node, "`title`")?;
    lint::title(reader, title, node.span);
    Some(title.to_owned())
}

fn rows<'n>(reader: &mut Reader, node: &'n Node) -> Vec<RowReading<'n>> {
    let members = reader.members(node, "`rows`").unwrap_or_default();
    if members.is_empty() {
        reader.push(
            reader.mistake(Lint::WrongCount, "`rows` has no row").at(node.span, "none here").help("leave `rows` out"),
        );
    }
    if members.len() > ROWS {
        let many = reader.mistake(Lint::TooLarge, format!("`rows` has {} rows, more than {ROWS}", members.len()));
        reader.push(many.at(node.span, "too many").help("write several files"));
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
    /// As [`Limits::read`], but `needs` and `isolated` are names of values like any other in a row.
    fn read_row(reader: &mut Reader, node: &Node) -> Self {
        let object = Object { node };
        Self {
            note: reader.note(object),
            revisions: reader.revisions(object),
            transports: transports(reader, object),
            heavy: object.get("heavy").and_then(|node| reader.flag(node, "`heavy`")).unwrap_or(false),
            step_limit: step_limit(reader, object),
            ..Self::default()
        }
    }
}

/// `step-limit`: less than the usual one, and enough for a busy machine.
fn step_limit(reader: &mut Reader, object: Object<'_>) -> Option<u32> {
    let node = object.get("step-limit")?;
    let seconds = reader.integer(node, "`step-limit`", 1, i64::from(STEP_LIMIT) - 1)?;
    u32::try_from(seconds).ok()
}

/// `transports`; words that can't be read narrow nothing, so that one mistake isn't reported twice.
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

/// The fixture, once a row.
fn serve<'a, 'n>(
    reader: &mut Reader,
    given: Option<&Node>,
    shared: &Shared<'_>,
    rows: &'a [RowReading<'n>],
    used: &mut BTreeSet<usize>,
) -> Vec<Served<'a, 'n>> {
    let rows: Vec<Option<&RowReading<'n>>> = if rows.is_empty() { vec![None] } else { rows.iter().map(Some).collect() };
    rows.into_iter()
        .map(|row| {
            let Some(given) = given else { return Served { row, fixture: Some(Arc::default()), is_given: false } };
            let given = RowValues { row: row.map(|row| &row.nodes), used }.fill(reader, given);
            Served { row, fixture: fixture(reader, &given, shared.role).map(Arc::new), is_given: true }
        })
        .collect()
}

/// One test with each of its rows.
fn tests<'a, 'n>(
    reader: &mut Reader,
    member: &Member,
    shared: &Shared<'_>,
    served: &'a [Served<'a, 'n>],
    used: &mut BTreeSet<usize>,
) -> Vec<(&'a Served<'a, 'n>, Test)> {
    reader.id(&member.key, member.key_span, "the test");
    let Some(object) = reader.object(&member.value, &format!("the test `{}`", member.key), &TEST) else {
        return Vec::new();
    };
    let written = Written {
        member,
        object,
        title: object.get("title").and_then(|node| title(reader, node)),
        control: object.get("control").and_then(|node| reader.word(node, "`control`", Control::ALL)),
        limits: Limits::read(reader, object, shared.role),
    };
    if object.get("when").is_none() && object.get("steps").is_none() {
        let missing = reader.mistake(Lint::MissingKey, format!("the test `{}` does nothing", member.key));
        reader.push(missing.at(member.key_span, "this test").help("`when` and `then`, or `steps`"));
        return Vec::new();
    }
    let chosen = chosen(reader, &written, served);
    if chosen.is_empty() {
        examine(reader, &written, shared, served, used);
    }
    chosen.into_iter().filter_map(|served| Some((served, test(reader, &written, shared, served, used)?))).collect()
}

/// Reads a test of whose rows none is known: a mistake that it makes with every row there is its own.
fn examine(
    reader: &mut Reader,
    written: &Written<'_>,
    shared: &Shared<'_>,
    served: &[Served<'_, '_>],
    used: &mut BTreeSet<usize>,
) {
    let mut found = served.iter().map(|served| {
        let mut apart = Reader::new(reader.file());
        _ = test(&mut apart, written, shared, served, used);
        apart.into_found()
    });
    let mut common = found.next().unwrap_or_default();
    for other in found {
        common.retain(|one| other.iter().any(|known| known.same(one)));
    }
    for mistake in common {
        reader.push(mistake);
    }
}

/// A test, before a row is filled in.
struct Written<'n> {
    member: &'n Member,
    object: Object<'n>,
    title: Option<String>,
    control: Option<Control>,
    limits: Limits,
}

/// The rows that a test runs with: all, or those that it names.
fn chosen<'a, 'n>(reader: &mut Reader, written: &Written<'_>, served: &'a [Served<'a, 'n>]) -> Vec<&'a Served<'a, 'n>> {
    let Some(node) = written.object.get("rows") else { return served.iter().collect() };
    let mut names = BTreeSet::new();
    let known: Vec<&str> = served.iter().filter_map(|one| one.row).map(|row| row.nodes.id).collect();
    for item in reader.items(node, "`rows`").map(|_| reader.one_or_more(node, "`rows`")).unwrap_or_default() {
        let Some(name) = reader.text(item, "`rows`") else { continue };
        if !known.contains(&name) {
            let what = format!("the test `{}` names the row `{name}`, which the file lacks", written.member.key);
            let unknown = reader.mistake(Lint::UnknownRow, what).at(item.span, "no such row");
            reader.push(unknown.known(name, "the file has", known.iter().copied()));
        } else if !names.insert(name) {
            reader.push(reader.mistake(Lint::WrongCount, format!("`rows` says `{name}` twice")).at(item.span, "again"));
        }
    }
    served.iter().filter(|one| one.row.is_some_and(|row| names.contains(row.nodes.id))).collect()
}

fn test(
    reader: &mut Reader,
    written: &Written<'_>,
    shared: &Shared<'_>,
    served: &Served<'_, '_>,
    used: &mut BTreeSet<usize>,
) -> Option<Test> {
    let member = written.member;
    let row = served.row.map(|row| row.limits.clone()).unwrap_or_default();
    let limits = shared.limits.and(&row).and(&written.limits);
    if limits.never() {
        let with = served.row.map(|row| format!(" with the row `{}`", row.nodes.id)).unwrap_or_default();
        let never = reader.mistake(Lint::NeverApplies, format!("the test `{}`{with} never runs", member.key));
        let help = "what the file, the row and the test say of `since`, `until` and `transports` leaves nothing";
        reader.push(never.at(member.key_span, "on no revision or transport").help(help));
    }
    let fixture = served.fixture.clone()?;
    let scope = Scope {
        case: shared.id,
        test: &member.key,
        role: shared.role,
        revisions: limits.revisions,
        fixture: &fixture,
        needs: &limits.needs,
        requirements: shared.requirements,
    };
    let mut row_values = RowValues { row: served.row.map(|row| &row.nodes), used };
    let steps = steps(reader, written.object, &scope, &mut row_values)?;
    Some(Test {
        case: shared.id.clone(),
        id: (*member.key).to_owned(),
        row: served.row.map(|row| row.nodes.id.to_owned()),
        title: written.title.clone().unwrap_or_else(|| shared.title.to_owned()),
        note: limits.note,
        line: reader.line(member.key_span),
        role: shared.role?,
        control: written.control,
        revisions: limits.revisions,
        transports: limits.transports,
        reach: limits.needs.reach(served.is_given),
        needs: limits.needs.features,
        heavy: limits.heavy,
        isolated: limits.isolated,
        step_limit: limits.step_limit,
        given: fixture,
        steps,
    })
}

/// `when` and `then`, or `steps`; `None` where any of them can't be read.
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
        let both = reader.mistake(Lint::ConflictingKeys, format!("`{}` stands beside `steps`", member.key));
        reader.push(both.at(member.key_span, "belongs into a step").help("make it the first of the `steps`"));
    }
    let items = reader.items(list, "`steps`")?;
    if items.len() < 2 {
        let few = reader.mistake(Lint::WrongCount, "`steps` are two or more");
        reader.push(
            few.at(list.span, format!("{} in it", items.len())).help("one step is `when` and `then` of the test"),
        );
    }
    let read: Vec<Option<Step>> = items
        .iter()
        .enumerate()
        .map(|(place, item)| {
            let item = row_values.fill(reader, item);
            reader.object(&item, "a step", &STEP).and_then(|object| step(reader, object, scope, place))
        })
        .collect();
    read.into_iter().collect()
}
