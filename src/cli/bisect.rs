//! `casebook bisect`: the release of an SDK in which the observation of a test changed.
//!
//! Takes a test and a target, runs the test on as few releases as necessary, gives the release with both observations. Must
//! not know which observation is right.

use std::fs;

use camino::Utf8PathBuf;
use clap::Args;

use super::base::caches;
use super::base::exit::Exit;
use super::base::heading;
use super::base::here::here;
use super::base::problem::Problem;
use super::base::releases::ask;
use super::base::sources::CaseArgs;
use super::base::values;
use super::history::{Ran, on_release, options};
use crate::load;
use crate::load::target::{TypedTarget, typed_target};
use crate::model::case::Library;
use crate::model::release::{Release, Releases};
use crate::model::{Pattern, hash};
use crate::report::snapshot::observation;
use crate::report::terminal::{eprint_line, print_line, show};
use crate::report::{Source, Untrusted};

/// The most characters of a line that are shown.
const LINE: usize = 400;
/// The most characters of an observation that are shown.
const SHOWN: usize = 4000;

/// `casebook bisect`.
#[derive(Debug, Args)]
pub struct BisectArgs {
    /// Test, or a pattern of tests that are looked at together
    #[arg(value_name = "TEST", value_parser = values::pattern)]
    pub test: Pattern,
    /// Target with an adapter of casebook; TARGET:VARIANT selects a variant
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// A release with one observation [default: the oldest that the adapter supports]
    #[arg(long, value_name = "VERSION", help_heading = heading::TARGETS)]
    pub good: Option<String>,
    /// A release with another one, older or newer [default: the newest]
    #[arg(long, value_name = "VERSION", help_heading = heading::TARGETS)]
    pub bad: Option<String>,
    /// The sources of cases.
    #[command(flatten)]
    pub cases: CaseArgs,
}

pub(super) fn bisect(args: &BisectArgs) -> Result<Exit, Problem> {
    let library = load::load(&args.cases.sources()?)?;
    let here = here()?;
    let TypedTarget::Plain { name } = typed_target(&args.target, &here) else {
        let text = format!("`{}` has a version of its own; write the name of the target alone", args.target);
        return Err(Problem::new(Exit::Usage, Untrusted(&text).line(LINE)));
    };
    let cache = caches::folder()?;
    let (target, listed) = ask(name, &cache)?;
    let between = between(args, &listed, target.setup.supports.as_ref())?;
    let folder = cache.join("bisect").join(hash(&args.test.as_str()));
    fs::create_dir_all(&folder).map_err(|error| Problem::unsaved(&folder, &error))?;
    let variant = &args.target[name.len()..];
    let search = Search { args, name, variant, folder, library: &library };
    let end = |place: usize| match search.observe(between[place])? {
        Outcome::Seen(seen) => Ok((place, seen)),
        Outcome::Broken(why) => {
            let text = format!("{name}@{} shows nothing: {why}; name another release", between[place].version);
            Err(Problem::new(Exit::Target, text))
        }
    };
    let (mut low, mut high) = (end(0)?, end(between.len() - 1)?);
    if low.1.text == high.1.text {
        let text = format!(
            "{} and {} have the same observation; name two releases with different ones by --good and --bad",
            between[low.0].version, between[high.0].version
        );
        return Err(Problem::new(Exit::Nothing, text));
    }
    let mut open: Vec<usize> = (low.0 + 1..high.0).collect();
    while !open.is_empty() {
        let middle = open[open.len() / 2];
        match search.observe(between[middle])? {
            Outcome::Broken(why) => {
                eprint_line(&Untrusted(&format!("left out {}: {why}", between[middle].version)).line(LINE));
                open.retain(|place| *place != middle);
            }
            Outcome::Seen(seen) if seen.text == low.1.text => low = (middle, seen),
            Outcome::Seen(seen) => high = (middle, seen),
        }
        open.retain(|place| (low.0 + 1..high.0).contains(place));
    }
    tell(&search, [low, high].map(|(place, seen)| (between[place], seen)))?;
    Ok(Exit::Fine)
}

/// The releases from one end to the other, the oldest first.
fn between<'l>(
    args: &BisectArgs,
    listed: &'l [Release],
    within: Option<&Releases>,
) -> Result<Vec<&'l Release>, Problem> {
    let all = Releases::Newest(usize::MAX).of(listed, within);
    let place = |typed: &Option<String>, default: usize| match typed {
        None => Ok(default),
        Some(version) => {
            let place = all.iter().position(|release| release.version == *version);
            let text = || {
                let list = format!("casebook targets --versions {}", args.target);
                format!("`{version}` is no release that the adapter supports; list them with `{list}`")
            };
            place.ok_or_else(|| Problem::new(Exit::Usage, Untrusted(&text()).line(LINE)))
        }
    };
    let (good, bad) = (place(&args.good, 0)?, place(&args.bad, all.len().saturating_sub(1))?);
    let (low, high) = (good.min(bad), good.max(bad));
    if low == high {
        return Err(Problem::new(Exit::Usage, "a search needs two releases; name them by --good and --bad"));
    }
    Ok(all[low..=high].to_vec())
}

/// What the test shows on one release.
enum Outcome {
    /// The observations of all selected tests.
    Seen(Seen),
    /// The release shows nothing.
    Broken(String),
}

/// Observations of a release.
struct Seen {
    /// The observations as text.
    text: String,
    /// The dependencies of the release: a change may be theirs.
    with: String,
}

/// What is searched for, and where.
struct Search<'a> {
    args: &'a BisectArgs,
    name: &'a str,
    variant: &'a str,
    folder: Utf8PathBuf,
    library: &'a Library,
}

impl Search<'_> {
    /// Runs the test on a release, unless that was done before.
    fn observe(&self, release: &Release) -> Result<Outcome, Problem> {
        let typed = format!("{}@{}{}", self.name, release.version, self.variant);
        let run = options(&typed, &["--only", self.args.test.as_str()], &self.args.cases, &self.folder)?;
        let outcome = match on_release(&run, self.library)? {
            Ran::Whole(source) | Ran::Partly(source) => self.outcome(&source),
            Ran::Not(problem) => Outcome::Broken(problem.text.to_string()),
        };
        let word = match &outcome {
            Outcome::Seen(seen) => hash(&seen.text),
            Outcome::Broken(_) => "nothing".to_owned(),
        };
        print_line(&format!("{:<12}  {}  {word}", release.version, release.day().unwrap_or("?")));
        Ok(outcome)
    }

    /// What a run saw of the tests. Their controls, which it ran too, are no part of it.
    fn outcome(&self, source: &Source) -> Outcome {
        let mut records = source.records.iter().filter(|record| self.args.test.matches(&record.test)).peekable();
        if records.peek().is_none() {
            return Outcome::Broken("no selected test applies to it".to_owned());
        }
        let (mut text, mut unavailable) = (String::new(), None);
        for record in records {
            unavailable = unavailable.or(record.observation.unavailable.as_ref());
            text += &format!("{}\n{}\n", record.test, observation(&record.observation));
        }
        let dependencies = source.header.about.iter().flat_map(|about| &about.dependencies);
        let with: Vec<_> = dependencies.map(|(name, version)| format!(", {name} {version}")).collect();
        let with = with.concat();
        unavailable.map_or(Outcome::Seen(Seen { text, with }), |reason| Outcome::Broken(reason.clone()))
    }
}

/// Prints both sides of the change.
fn tell(search: &Search<'_>, sides: [(&Release, Seen); 2]) -> Result<(), Problem> {
    let after = sides[1].0;
    let day = after.day().map_or_else(String::new, |day| format!(", {day}"));
    print_line(&format!("\n{} changed in {}{day}", search.args.test.as_str(), after.version));
    for (release, Seen { text, with }) in sides {
        let with = Untrusted(&with).line(LINE);
        let text = Untrusted(text.trim_end()).block(SHOWN);
        show(&format!("\n{} {}{with}\n{text}\n", search.name, release.version))
            .map_err(|error| Problem::output(&error))?;
    }
    Ok(())
}
