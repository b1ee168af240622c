//! The proof that each check can fail: each mutant must violate the requirements that it declares, and no others.
//!
//! Takes declarations and records, gives the matrix of mutants and requirements in three formats. Must not know how a
//! mutant is made or run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::damages::CheckOfTest;
use crate::model::RequirementId;
use crate::model::applicability::Applicability;
use crate::model::case::{Library, Test};
use crate::model::record::Record;
use crate::model::spec::{Level, Role};
use crate::model::text::count;
use crate::model::verdict::{Meaning, VerdictKind};

/// The declaration of a mutant.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// The role that has the defect.
    pub role: Role,
    /// The defect, in one sentence.
    pub does: String,
    /// The requirements that it violates.
    pub breaks: Vec<String>,
    /// For a mutant that refuses everything: the only requirements whose checks may pass.
    pub keeps: Option<Vec<String>>,
    /// Set if it is data beside the cases, and none of those that casebook contains.
    pub is_of_cases: bool,
}

/// The results of one mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kill {
    /// Its name.
    pub mutant: String,
    /// The role that has the defect.
    pub role: Role,
    /// The defect, in one sentence.
    pub does: String,
    /// The number of tests that were run.
    pub tests: usize,
    /// The requirements that it violated, each with the number of tests that detected it.
    pub broke: BTreeMap<String, usize>,
    /// Declared violations that no test detected.
    pub missed: BTreeSet<String>,
    /// Violated requirements that it does not declare.
    pub undeclared: BTreeSet<String>,
    /// Requirements whose checks passed although the mutant refuses everything.
    pub vacuous: BTreeSet<String>,
    /// The number of tests that could not be run.
    pub errors: usize,
    /// The checks that it failed.
    #[serde(skip)]
    pub checks: BTreeSet<CheckPlace>,
    /// Set if it is data beside the cases.
    #[serde(skip)]
    pub is_of_cases: bool,
    /// The requirements that it declares.
    #[serde(skip)]
    pub declares: BTreeSet<String>,
}

/// A check in words: its test, without a row, its step, and its requirement.
pub type CheckPlace = String;

fn place(test: &str, step: usize, requirement: &RequirementId) -> CheckPlace {
    CheckOfTest { test: test.to_owned(), step, requirement: requirement.clone() }.to_string()
}

/// The results of one mutant so far.
#[derive(Debug)]
pub struct Trace {
    declared: Declared,
    tests: usize,
    /// The requirements that it violated, each with the tests that detected it.
    broke: BTreeMap<String, BTreeSet<String>>,
    vacuous: BTreeSet<String>,
    errors: usize,
    checks: BTreeSet<CheckPlace>,
}

impl Trace {
    /// A mutant without results.
    pub fn of(declared: Declared) -> Self {
        let (broke, vacuous, checks) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Self { declared, tests: 0, broke, vacuous, errors: 0, checks }
    }

    /// Takes the record of a test.
    pub fn add(&mut self, record: &Record) {
        self.tests += 1;
        self.errors += usize::from(record.verdicts.iter().any(|verdict| verdict.kind == VerdictKind::Error));
        for verdict in &record.verdicts {
            let requirement = verdict.requirement.as_str();
            let is_kept = self.declared.keeps.as_ref().is_none_or(|keeps| keeps.iter().any(|id| id == requirement));
            match verdict.kind.meaning() {
                Meaning::Broken => {
                    self.broke.entry(requirement.to_owned()).or_default().insert(record.test.path());
                    let test = format!("{}/{}", record.test.case, record.test.test);
                    self.checks.insert(place(&test, verdict.step, &verdict.requirement));
                }
                Meaning::Holds if !is_kept => drop(self.vacuous.insert(requirement.to_owned())),
                Meaning::Holds | Meaning::Option | Meaning::Undecided | Meaning::Aside => {}
            }
        }
    }

    /// Compares the declaration with the results.
    pub fn kill(self) -> Kill {
        let Self { declared, tests, broke, vacuous, errors, checks } = self;
        let breaks: BTreeSet<String> = declared.breaks.into_iter().collect();
        let seen: BTreeSet<String> = broke.keys().cloned().collect();
        Kill {
            mutant: declared.name,
            role: declared.role,
            does: declared.does,
            tests,
            broke: broke.into_iter().map(|(requirement, tests)| (requirement, tests.len())).collect(),
            missed: breaks.difference(&seen).cloned().collect(),
            undeclared: seen.difference(&breaks).cloned().collect(),
            vacuous,
            errors,
            checks,
            is_of_cases: declared.is_of_cases,
            declares: breaks,
        }
    }
}

impl Kill {
    /// Returns whether it violated the requirements that it declares and no others, and all tests could be run.
    pub fn is_as_declared(&self) -> bool {
        let Self { missed, undeclared, vacuous, errors, tests, .. } = self;
        missed.is_empty() && undeclared.is_empty() && vacuous.is_empty() && *errors == 0 && *tests > 0
    }

    /// Returns a line for each difference from the declaration.
    pub fn complaints(&self) -> Vec<String> {
        let lines_of = |ids: &BTreeSet<String>, what: &str| {
            ids.iter().map(|id| format!("{}: {what} {id}", self.mutant)).collect::<Vec<_>>()
        };
        let mut lines = lines_of(&self.missed, "no test detects that it violates");
        lines.extend(lines_of(&self.undeclared, "violates, but does not declare,"));
        lines.extend(lines_of(&self.vacuous, "refuses everything, but passes a check of"));
        lines.extend((self.errors > 0).then(|| format!("{}: {} tests could not be run", self.mutant, self.errors)));
        lines.extend((self.tests == 0).then(|| format!("{}: no test has the role {}", self.mutant, self.role)));
        lines
    }
}

/// A requirement that no mutant declares, and the mutants that violated it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Foreign {
    /// The role that is checked.
    pub role: Role,
    /// The requirement.
    pub requirement: String,
    /// The mutants that violated it, of all that were run.
    pub violated_by: Vec<String>,
}

/// The results of all mutants.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Proof {
    /// A row for each mutant.
    pub mutants: Vec<Kill>,
    /// Requirements with checks that no mutant fails, by role.
    pub unproved: BTreeSet<(Role, String)>,
    /// For other cases than the embedded ones: the requirements that no mutant declares and some mutant violated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Vec<Foreign>>,
    /// The checks of a MUST or MUST NOT that no mutant fails, if all mutants were run.
    pub unbroken: BTreeSet<CheckPlace>,
    /// Requirements of other cases that the reference itself violates, by role, so that no mutant shows anything of them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub of_reference: BTreeSet<(Role, String)>,
}

impl Proof {
    /// The proof of other cases than the embedded ones. `undeclared` are the requirements that they check and no mutant
    /// declares. With `is_whole`, all mutants were run, so that each of these requirements must be violated by one.
    pub fn of_foreign(mutants: Vec<Kill>, undeclared: &BTreeSet<(Role, String)>, is_whole: bool) -> Self {
        let all = undeclared.iter().map(|(role, requirement)| {
            let violates = |kill: &&Kill| kill.role == *role && kill.broke.contains_key(requirement);
            let violated_by = mutants.iter().filter(violates).map(|kill| kill.mutant.clone()).collect();
            Foreign { role: *role, requirement: requirement.clone(), violated_by }
        });
        let (violated, unproved): (Vec<_>, Vec<_>) = all.partition(|one| !one.violated_by.is_empty());
        let unproved = unproved.into_iter().filter(|_| is_whole).map(|one| (one.role, one.requirement)).collect();
        Self { mutants, unproved, foreign: Some(violated), ..Self::default() }
    }

    /// Sets apart what the reference itself violates, as the one that it is.
    #[must_use]
    pub fn beside(mut self, reference: &[Kill]) -> Self {
        let violated = reference.iter().flat_map(|kill| kill.broke.keys().map(|id| (kill.role, id.clone())));
        self.of_reference = violated.collect();
        for (role, id) in &self.of_reference {
            for kill in self.mutants.iter_mut().filter(|kill| kill.role == *role) {
                kill.undeclared.remove(id);
                let is_declared = kill.broke.remove(id).is_some() && kill.is_of_cases && kill.declares.contains(id);
                kill.missed.extend(is_declared.then(|| id.clone()));
            }
            self.unproved.remove(&(*role, id.clone()));
            self.foreign.iter_mut().for_each(|all| all.retain(|one| (one.role, &one.requirement) != (*role, id)));
        }
        self
    }

    /// Names the binding checks of these cases that no mutant fails.
    #[must_use]
    pub fn with_checks(self, library: &Library) -> Self {
        let mut unbroken: BTreeSet<_> = binding_checks(library).collect();
        self.mutants.iter().flat_map(|kill| &kill.checks).for_each(|check| _ = unbroken.remove(check));
        Self { unbroken, ..self }
    }

    /// Returns whether every mutant is as declared, and every check fails for some mutant: of other cases than the embedded
    /// ones, every requirement.
    pub fn holds(&self) -> bool {
        self.unproved.is_empty()
            && (self.foreign.is_some() || self.unbroken.is_empty())
            && self.mutants.iter().all(Kill::is_as_declared)
    }

    /// Returns a line for each failure of the proof.
    pub fn complaints(&self) -> Vec<String> {
        let violates = |role: Role, id: &str| {
            let is_violated = self.mutants.iter().any(|kill| kill.role == role && kill.broke.contains_key(id));
            if is_violated { "declares" } else { "violates" }
        };
        let unproved =
            self.unproved.iter().map(|(role, id)| format!("{id}: no mutant {} it as a {role}", violates(*role, id)));
        let unbroken = self.unbroken.iter().map(|check| format!("{check}: no mutant fails this check"));
        self.mutants.iter().flat_map(Kill::complaints).chain(unproved).chain(unbroken).collect()
    }

    /// Returns a line for each requirement that no mutant declares and some mutant violated.
    fn foreign_lines(&self) -> Vec<String> {
        const NAMED: usize = 12;
        let line = |Foreign { role, requirement, violated_by }: &Foreign| {
            let all = self.mutants.iter().filter(|kill| kill.role == *role).count();
            let named: Vec<_> = violated_by.iter().take(NAMED).map(String::as_str).collect();
            let more = violated_by.len() - named.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            // Most mutants behave as the reference does, except for their one defect.
            let tip = if violated_by.len() > 1 && violated_by.len() * 2 > all {
                "; `casebook run reference` shows whether the reference violates it too"
            } else {
                ""
            };
            let names = named.join(", ");
            format!("{requirement}: violated by {} of {all} {role} mutants: {names}{more}{tip}", violated_by.len())
        };
        self.foreign.iter().flatten().map(line).collect()
    }

    /// Returns a line for each requirement that the reference itself violates.
    fn lines_of_reference(&self) -> Vec<String> {
        let line = |(role, id): &(Role, String)| {
            format!(
                "{id}: the reference itself violates it as a {role}, so that no mutant shows it; `--by-damage` does"
            )
        };
        self.of_reference.iter().map(line).collect()
    }

    /// Returns the matrix for a terminal: each mutant with the requirements that it violated and the number of tests. With
    /// other cases than the embedded ones, only their own mutants and those with unexpected results are in the matrix.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let is_shown = |kill: &&Kill| self.foreign.is_none() || kill.is_of_cases || !kill.is_as_declared();
        for role in &Role::SINGLE {
            for kill in self.mutants.iter().filter(|kill| kill.role == *role).filter(is_shown) {
                let mark = if kill.is_as_declared() { "    " } else { "WRONG" };
                out += &format!("{mark:>5}  {}: {}\n", kill.mutant, kill.does);
                for (requirement, tests) in &kill.broke {
                    out += &format!("         {tests:>4}  {requirement}\n");
                }
            }
        }
        for line in self.foreign_lines().into_iter().chain(self.complaints()).chain(self.lines_of_reference()) {
            out += &format!("{line}\n");
        }
        out.push_str(&self.totals());
        out
    }

    /// Returns the matrix as two Markdown tables: requirements by mutant, and mutants by requirement.
    pub fn markdown(&self) -> String {
        let mut out = format!("{}\n\n| mutant | defect | violates (tests) |\n| --- | --- | --- |\n", self.totals());
        let mut by_requirement: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for kill in &self.mutants {
            let broke: Vec<_> = kill.broke.iter().map(|(id, tests)| format!("{id} ({tests})")).collect();
            let does = kill.does.replace('|', "\\|");
            out += &format!("| {} | {does} | {} |\n", kill.mutant, broke.join("<br>"));
            kill.broke.keys().for_each(|id| by_requirement.entry(id).or_default().push(&kill.mutant));
        }
        out.push_str("\n| requirement | violated by |\n| --- | --- |\n");
        for (requirement, mutants) in by_requirement {
            out += &format!("| {requirement} | {} |\n", mutants.join(", "));
        }
        let complaints = self.foreign_lines().into_iter().chain(self.complaints()).chain(self.lines_of_reference());
        let complaints: Vec<_> = complaints.collect();
        if !complaints.is_empty() {
            out += &format!("\n- {}\n", complaints.join("\n- "));
        }
        out
    }

    /// Mutants that declare no violation, and in which no test detects one.
    fn unseen(&self) -> Vec<&str> {
        let is_unseen = |kill: &&Kill| kill.broke.is_empty() && kill.is_as_declared();
        self.mutants.iter().filter(is_unseen).map(|kill| kill.mutant.as_str()).collect()
    }

    fn totals(&self) -> String {
        let right = self.mutants.iter().filter(|kill| kill.is_as_declared()).count();
        let broken: BTreeSet<_> =
            self.mutants.iter().flat_map(|kill| kill.broke.keys().map(move |id| (kill.role, id))).collect();
        let all = self.mutants.len();
        // A mutant declares no requirement of other cases than the embedded ones.
        let mutants = match (&self.foreign, all - right) {
            (None, _) => format!("{right} of {all} mutants as declared"),
            (Some(_), 0) => count(all, "mutant"),
            (Some(_), wrong) => format!("{}, {wrong} not as declared", count(all, "mutant")),
        };
        let mut out =
            format!("{mutants}; {} requirements violated by a mutant, {} by none", broken.len(), self.unproved.len());
        if !self.unbroken.is_empty() {
            out += &format!("; {} of a MUST that no mutant fails", count(self.unbroken.len(), "check"));
        }
        if self.foreign.is_none() && !self.unseen().is_empty() {
            out += &format!("; detected by no test: {}", self.unseen().join(", "));
        }
        out
    }
}

/// Returns the requirements that tests check and no mutant declares to violate, by role, without those in `excepted`,
/// which have a reason. A check of a MAY cannot fail.
pub fn unproved(library: &Library, mutants: &[Declared], excepted: &[(&str, &str, &str)]) -> BTreeSet<(Role, String)> {
    let is_excepted = |role: Role, id: &str| excepted.iter().any(|one| (one.0, one.1) == (role.word(), id));
    let declared: BTreeSet<(Role, &str)> =
        mutants.iter().flat_map(|mutant| mutant.breaks.iter().map(|id| (mutant.role, id.as_str()))).collect();
    checked(library)
        .filter(|(role, id)| {
            let binding = |one: &crate::model::spec::Requirement| one.roles.contains(role) && one.level != Level::May;
            library.requirements.get(*id).is_some_and(binding) && !declared.contains(&(*role, id.as_str()))
        })
        .filter(|(role, id)| !is_excepted(*role, id.as_str()))
        .map(|(role, id)| (role, id.as_str().to_owned()))
        .collect()
}

/// The checks of a MUST or MUST NOT in tests that mutants run. They are adapters, and no fixed servers.
fn binding_checks(library: &Library) -> impl Iterator<Item = CheckPlace> {
    let is_run = |test: &&Arc<Test>| !test.heavy && !matches!(test.reach, Applicability::FixedOnly(_));
    single(library).filter(is_run).flat_map(|test| {
        let name = format!("{}/{}", test.case, test.id);
        let checks = test
            .steps
            .iter()
            .enumerate()
            .flat_map(|(step, one)| one.then.checks().iter().map(move |check| (step, check)));
        let is_binding = |requirement: &RequirementId| {
            let one = library.requirements.get(requirement);
            one.is_some_and(|one| one.level.is_must() && one.roles.contains(&test.role))
        };
        let checks = checks.filter(move |(_, check)| is_binding(&check.requirement));
        checks.map(move |(step, check)| place(&name, step, &check.requirement)).collect::<Vec<_>>()
    })
}

/// Returns the requirements that tests of single targets check, with the role of each test. A mutant is one side of a
/// pair, and what it breaks there depends on the other.
pub fn checked(library: &Library) -> impl Iterator<Item = (Role, &RequirementId)> {
    single(library).flat_map(|test| test.checks().map(move |check| (test.role, &check.requirement)))
}

/// The tests of single targets.
fn single(library: &Library) -> impl Iterator<Item = &Arc<Test>> {
    library.cases.iter().filter(|case| case.role != Role::Pair).flat_map(|case| &case.tests)
}

#[cfg(test)]
mod tests {
    use super::super::tests::verdict;
    use super::*;
    use crate::judge::samples;
    use crate::model::CaseId;
    use crate::model::case::{Case, Expectation, Outcome};

    fn record(kinds: &[VerdictKind]) -> Record {
        let verdicts = kinds.iter().map(|kind| verdict(*kind)).collect();
        Record { verdicts, ..samples::record(0, "f/c/t@2026-07-28+http", Outcome::Success) }
    }

    fn kill(declared: Declared, kinds: &[VerdictKind]) -> Kill {
        let mut trace = Trace::of(declared);
        trace.add(&record(kinds));
        trace.kill()
    }

    fn declared(breaks: &[&str]) -> Declared {
        let breaks = breaks.iter().map(|id| (*id).to_owned()).collect();
        let (name, does) = ("m".to_owned(), "Something.".to_owned());
        Declared { name, role: Role::Server, does, breaks, keeps: None, is_of_cases: false }
    }

    #[test]
    fn mutant_must_violate_exactly_what_it_declares() {
        use VerdictKind::{Fail, Inconclusive, Note, Pass, Warn};
        for kind in [Fail, Warn, Note] {
            let kill = kill(declared(&["f/r"]), &[Pass, kind]);
            assert!(kill.is_as_declared() && kill.broke["f/r"] == 1, "{kill:?}");
        }
        for (kinds, breaks, complaint) in [
            (vec![Pass], vec!["f/r"], "m: no test detects that it violates f/r"),
            (vec![Inconclusive], vec!["f/r"], "m: no test detects that it violates f/r"),
            (vec![Warn], vec![], "m: violates, but does not declare, f/r"),
            (vec![VerdictKind::Error], vec![], "m: 1 tests could not be run"),
        ] {
            assert_eq!(kill(declared(&breaks), &kinds).complaints(), [complaint]);
        }
        assert_eq!(Trace::of(declared(&[])).kill().complaints(), ["m: no test has the role server"]);
    }

    #[test]
    fn mutant_that_refuses_everything_passes_no_check() {
        let mute = |keeps: &[&str]| Declared {
            keeps: Some(keeps.iter().map(|id| (*id).to_owned()).collect()),
            ..declared(&[])
        };
        assert!(kill(mute(&["f/r"]), &[VerdictKind::Pass]).is_as_declared());
        let kill = kill(mute(&[]), &[VerdictKind::Pass]);
        assert_eq!(kill.complaints(), ["m: refuses everything, but passes a check of f/r"]);
    }

    #[test]
    fn matrix_shows_violations_and_failures_of_the_proof() {
        let kill = kill(declared(&["f/r", "f/s"]), &[VerdictKind::Fail]);
        let unproved = BTreeSet::from([(Role::Client, "f/t".to_owned())]);
        let proof = Proof { mutants: vec![kill], unproved, ..Proof::default() };
        assert_eq!(
            proof.text(),
            "WRONG  m: Something.\n            1  f/r\nm: no test detects that it violates f/s\n\
             f/t: no mutant violates it as a client\n\
             0 of 1 mutants as declared; 1 requirements violated by a mutant, 1 by none"
        );
        assert!(proof.markdown().contains("| m | Something. | f/r (1) |") && !proof.holds());
    }

    #[test]
    fn check_that_no_mutant_fails_is_named() {
        let test = |name: &str, reach| {
            let check = samples::check("r", vec![Expectation::default()]);
            let one = samples::test(&[], vec![(samples::call("t"), check)]);
            Arc::new(Test { id: name.to_owned(), reach, ..one })
        };
        let case = Case {
            id: CaseId::new("f", "c"),
            path: "f/c.json".into(),
            title: "A sentence".into(),
            note: Vec::new(),
            role: Role::Server,
            rows: Vec::new(),
            tests: vec![test("t", Applicability::AdapterOnly), test("fixed", Applicability::FixedOnly(Vec::new()))],
        };
        let requirement = samples::requirement("r", Level::Must);
        let requirements = [(requirement.id.clone(), requirement)].into();
        let library = Library { cases: vec![case], requirements, ..Library::default() };
        let proof = |kinds: &[VerdictKind]| {
            Proof { mutants: vec![kill(declared(&["f/r"]), kinds)], ..Proof::default() }.with_checks(&library)
        };
        assert!(proof(&[VerdictKind::Fail]).holds());
        let passed = proof(&[VerdictKind::Pass]);
        assert_eq!(passed.unbroken, ["f/c/t, step 1: f/r".to_owned()].into());
        for text in [passed.text(), passed.markdown()] {
            assert!(text.contains("f/c/t, step 1: f/r: no mutant fails this check"), "{text}");
        }
        let of_nobody = |foreign| Proof { foreign, ..Proof::default() }.with_checks(&library).holds();
        assert_eq!([of_nobody(None), of_nobody(Some(Vec::new()))], [false, true]);
    }

    #[test]
    fn undeclared_requirement_names_the_mutants_that_violate_it() {
        let aside = |mut kill: Kill| {
            kill.undeclared.clear();
            kill
        };
        let kills = ["m", "n"]
            .map(|name| aside(kill(Declared { name: name.to_owned(), ..declared(&[]) }, &[VerdictKind::Fail])));
        let of = |ids: &[&str], is_whole| {
            let undeclared = ids.iter().map(|id| (Role::Server, (*id).to_owned())).collect();
            Proof::of_foreign(kills.to_vec(), &undeclared, is_whole)
        };
        let proof = of(&["f/r"], true);
        let tip = "`casebook run reference` shows whether the reference violates it too";
        assert_eq!(
            proof.text(),
            format!(
                "f/r: violated by 2 of 2 server mutants: m, n; {tip}\n2 mutants; 1 requirements violated by a mutant, 0 by none"
            )
        );
        assert!(proof.holds());
        let unproved = of(&["f/r", "f/s"], true);
        assert!(!unproved.holds() && unproved.text().contains("f/s: no mutant violates it as a server"));
        assert!(of(&["f/r", "f/s"], false).holds(), "a selection of mutants shows nothing about f/s");
        let embedded = Proof { unproved: [(Role::Server, "f/r".to_owned())].into(), foreign: None, ..proof };
        assert_eq!(embedded.complaints(), ["f/r: no mutant declares it as a server"]);
    }
}
