//! The page about pairs: the matrix, each feature, the table of SEP-2106, and for each broken cell the messages.
//!
//! Takes [`Pairs`], gives one HTML page that needs no other file. Must not know where it is stored.

use askama::Template;

use super::{AgeCell, Broken, Loss, LossKey, PairCell, Pairs, age_table};
use crate::model::spec::{Level, Role};
use crate::model::text::count;
use crate::model::{CaseId, TargetId};
use crate::report::{Rate, filters};

const STYLE: &str = concat!(include_str!("../site/style.css"), include_str!("pairs.css"));

#[derive(Template)]
#[template(path = "pairs.html", config = "src/report/pairs/askama.toml")]
struct Page<'p> {
    casebook: &'static str,
    style: &'static str,
    whole_pairs: String,
    heads: Vec<Head>,
    whole: Vec<Row>,
    features: Vec<Feature<'p>>,
    ages: Vec<AgeCell>,
    given_up: Vec<GivenUp<'p>>,
    losses: Vec<LossLine<'p>>,
    sections: Vec<Section<'p>>,
}

/// A server, above its column.
struct Head {
    name: String,
    version: String,
}

/// A client with its cells.
struct Row {
    name: String,
    version: String,
    cells: Vec<Cell>,
}

struct Cell {
    class: &'static str,
    text: String,
    /// The anchor of the section of the pair; empty if nothing of it is broken.
    link: String,
    spoken: String,
}

struct Feature<'p> {
    id: &'p CaseId,
    title: &'p str,
    rows: Vec<Row>,
}

/// A pair of which tests have no result.
struct GivenUp<'p> {
    pair: &'p TargetId,
    tests: String,
    reason: &'p str,
}

/// A loss, with the words of the sentence that it breaks.
struct LossLine<'p> {
    key: &'p LossKey,
    loss: &'p Loss,
    words: String,
    extent: String,
    anchor: String,
    sentence: Option<(Level, &'p str, String)>,
}

/// The broken features of one pair.
struct Section<'p> {
    anchor: String,
    client: &'p TargetId,
    server: &'p TargetId,
    broken: Vec<(&'p CaseId, &'p Broken)>,
}

/// Makes the page.
pub fn page(pairs: &Pairs) -> String {
    let (clients, servers) = (pairs.clients(), pairs.servers());
    // The number alone: the name of a package can be long.
    let version = |role, target: &TargetId| {
        let version = pairs.about(role, target).and_then(|about| about.version.clone()).unwrap_or_default();
        version.rsplit(' ').next().unwrap_or_default().to_owned()
    };
    let heads = servers.iter().map(|server| Head { name: server.to_string(), version: version(Role::Server, server) });
    let rows = |rate: &dyn Fn(&PairCell) -> Rate, feature: Option<&CaseId>| -> Vec<Row> {
        let row = |client: &&TargetId| Row {
            name: client.to_string(),
            version: version(Role::Client, client),
            cells: servers.iter().map(|server| cell(pairs, client, server, rate, feature)).collect(),
        };
        clients.iter().map(row).collect()
    };
    let features =
        pairs.features().map(|(id, title)| Feature { id, title, rows: rows(&|cell: &PairCell| cell.of(id), Some(id)) });
    let losses = pairs.losses();
    let page = Page {
        casebook: env!("CARGO_PKG_VERSION"),
        style: STYLE,
        whole_pairs: pairs.whole(),
        heads: heads.collect(),
        whole: rows(&PairCell::rate, None),
        features: features.collect(),
        ages: age_table(pairs),
        given_up: given_up(pairs),
        losses: losses.into_iter().map(|(key, loss)| loss_line(pairs, key, loss)).collect(),
        sections: sections(pairs),
    };
    page.render().expect("writing to memory never fails")
}

fn anchor(client: &TargetId, server: &TargetId, feature: Option<&CaseId>) -> String {
    let feature = feature.map_or_else(String::new, |feature| format!("/{}", feature.file()));
    format!("pair/{client}/{server}{feature}")
}

fn cell(
    pairs: &Pairs,
    client: &TargetId,
    server: &TargetId,
    rate: &dyn Fn(&PairCell) -> Rate,
    feature: Option<&CaseId>,
) -> Cell {
    let Some(found) = pairs.cell(client, server) else {
        return Cell { class: "none", text: "·".to_owned(), link: String::new(), spoken: "no pair".to_owned() };
    };
    let rate = rate(found);
    let is_broken = feature.map_or(!found.broken.is_empty(), |feature| found.broken.contains_key(feature));
    let lost = pairs.lost(found, feature);
    let (class, sign) = match rate {
        Rate { asked: 0, .. } => ("none", "·"),
        Rate { held, asked } if held == asked => ("right", "✓"),
        Rate { held, asked } if held * 2 >= asked => ("partly", "!"),
        _ => ("wrong", "✗"),
    };
    let text = match lost.as_slice() {
        [] => sign.to_owned(),
        [(short, _)] => format!("{sign} {short}"),
        [(short, _), more @ ..] => format!("{sign} {short}, and {} more", more.len()),
    };
    let spoken = format!("{} of {} checks hold", rate.held, rate.asked);
    let link = if is_broken { anchor(client, server, feature) } else { String::new() };
    if feature.is_none() && !pairs.is_whole(client, server) {
        return Cell { class: "wrong", text: text + "*", link, spoken: spoken + ", and some tests have no result" };
    }
    Cell { class, text, link, spoken }
}

fn given_up(pairs: &Pairs) -> Vec<GivenUp<'_>> {
    let given_up = pairs.given_up().into_iter();
    given_up.map(|(pair, (tests, reason))| GivenUp { pair, tests: count(tests, "test"), reason }).collect()
}

fn loss_line<'p>(pairs: &'p Pairs, key: &'p LossKey, loss: &'p Loss) -> LossLine<'p> {
    let sentence = key.sentence.as_ref().and_then(|sentence| pairs.catalogue().get(sentence));
    let feature = &loss.test.case;
    let anchor = loss.pair.sides().map_or_else(String::new, |(client, server)| anchor(&client, &server, Some(feature)));
    LossLine {
        key,
        loss,
        words: key.words(),
        extent: format!("{} in {}", count(loss.checks, "check"), count(loss.others.len(), "pair")),
        anchor,
        sentence: sentence.map(|one| (one.level, one.quote.as_str(), one.link())),
    }
}

fn sections(pairs: &Pairs) -> Vec<Section<'_>> {
    let broken = pairs.cells().filter(|(_, _, cell)| !cell.broken.is_empty());
    let sections = broken.map(|(client, server, cell)| Section {
        anchor: anchor(client, server, None),
        client,
        server,
        broken: cell.broken.iter().collect(),
    });
    sections.collect()
}
