//! The results of pairs as Markdown: what each pair loses, the features, the table of SEP-2106 and the losses.

use std::fmt::Write as _;

use super::{Pairs, age_table};
use crate::model::spec::Role;
use crate::model::text::count;
use crate::report::Untrusted;

/// The number of pairs and of losses in the text.
const ROWS: usize = 1_000;
const LOSSES: usize = 40;

/// Makes the text.
///
/// # Panics
/// Never: writing to memory doesn't fail.
pub fn markdown(pairs: &Pairs) -> String {
    let mut out = String::new();
    let say = |out: &mut String, text: std::fmt::Arguments<'_>| out.write_fmt(text).expect("writing to memory");
    let name = |text: &str| Untrusted(text).line(200).replace('|', "\\|");
    say(&mut out, format_args!("{}.\n\n| client | server | what is lost |\n| --- | --- | --- |\n", pairs.whole()));
    for (client, server, cell) in pairs.cells().take(ROWS) {
        let lost = pairs.lost(cell, None);
        let lost: Vec<_> = lost.iter().map(|(short, place)| format!("{} ({place})", name(short))).collect();
        let lost = if lost.is_empty() { "✓ nothing".to_owned() } else { lost.join("; ") };
        let star = if pairs.is_whole(client, server) { "" } else { "\\*" };
        let (client, server) = (name(&client.to_string()), name(&server.to_string()));
        say(&mut out, format_args!("| {client} | {server} | {lost}{star} |\n"));
    }
    for (pair, (tests, reason)) in pairs.given_up() {
        let pair = Untrusted(&pair.to_string()).line(200);
        let reason = Untrusted(reason).line(200);
        say(&mut out, format_args!("\n\\* {} of `{pair}` have no result: {reason}.\n", count(tests, "test")));
    }
    out.push_str("\nThe versions:\n\n");
    for (role, sides) in [(Role::Client, pairs.clients()), (Role::Server, pairs.servers())] {
        for side in sides {
            let about = pairs.about(role, side).and_then(|about| about.version.clone()).unwrap_or_default();
            say(&mut out, format_args!("- {role} {}: {}\n", name(&side.to_string()), name(&about)));
        }
    }
    out.push_str("\n| feature | pairs that lose something |\n| --- | --- |\n");
    for (feature, title) in pairs.features() {
        let asked = pairs.cells().filter(|(_, _, cell)| cell.of(feature).asked > 0).count();
        let broken = pairs.cells().filter(|(_, _, cell)| cell.broken.contains_key(feature)).count();
        let words = match broken {
            0 => "none".to_owned(),
            _ if broken == asked => format!("all {asked}"),
            _ => format!("{broken} of {asked}"),
        };
        say(&mut out, format_args!("| {} | {words} |\n", name(title)));
    }
    out.push_str("\n| pair | SEP-2106 says | pairs | objects | other values | listed schemas |\n| --- | --- | --: | --: | --: | --: |\n");
    for cell in age_table(pairs) {
        say(
            &mut out,
            format_args!(
                "| {} | {} | {} | {} | {} | {} |\n",
                cell.title(),
                cell.claim,
                cell.pairs,
                cell.objects.percent(),
                cell.others.percent(),
                cell.schemas.percent()
            ),
        );
    }
    out.push_str("\n| where values are lost | checks | pairs | breaks |\n| --- | --: | --: | --- |\n");
    let losses = pairs.losses();
    for (key, loss) in losses.iter().take(LOSSES) {
        let sentence = key.sentence.as_ref().map_or_else(|| "no checked sentence".to_owned(), |one| format!("`{one}`"));
        say(
            &mut out,
            format_args!(
                "| `{}`: {}: {} | {} | {} | {sentence} |\n",
                key.requirement,
                Untrusted(&key.who()).line(120),
                key.place,
                loss.checks,
                loss.others.len()
            ),
        );
    }
    let rest = losses.get(LOSSES..).unwrap_or_default();
    if !rest.is_empty() {
        let checks: usize = rest.iter().map(|(_, loss)| loss.checks).sum();
        let ways = count(rest.len(), "more way");
        say(
            &mut out,
            format_args!(
                "\n{ways}, with {}, are on the page that `--report pairs=FILE.html` writes.\n",
                count(checks, "check")
            ),
        );
    }
    out
}
