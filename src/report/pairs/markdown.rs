//! The results of pairs as Markdown: the matrix, the features, the table of SEP-2106 and the losses.

use std::fmt::Write as _;

use super::{Pairs, age_table};
use crate::model::spec::Role;
use crate::model::text::count;
use crate::report::Untrusted;

/// The number of losses in the text.
const LOSSES: usize = 40;

/// Makes the text.
///
/// # Panics
/// Never: writing to memory doesn't fail.
pub fn markdown(pairs: &Pairs) -> String {
    let mut out = String::new();
    let overall = pairs.overall();
    let (held, asked) = (overall.held, overall.asked);
    let say = |out: &mut String, text: std::fmt::Arguments<'_>| out.write_fmt(text).expect("writing to memory");
    say(
        &mut out,
        format_args!(
            "{} of the checks hold: {held} of {asked}, in {}.\n\n",
            overall.percent(),
            count(pairs.len(), "pair")
        ),
    );
    let (clients, servers) = (pairs.clients(), pairs.servers());
    let name = |text: &str| Untrusted(text).line(200).replace('|', "\\|");
    let numbers: Vec<_> = (1..=servers.len()).map(|number| number.to_string()).collect();
    say(&mut out, format_args!("| client | {} | all |\n", numbers.join(" | ")));
    say(
        &mut out,
        format_args!("| --- | {} --: |\n", "--: | ".repeat(servers.len()).trim_end_matches("| ").to_owned() + "|"),
    );
    for client in &clients {
        let cell = |server: &&_| {
            let rate = pairs.cell(client, server).map(super::PairCell::rate).unwrap_or_default();
            format!("{}{}", rate.whole_percent(), if pairs.is_whole(client, server) { "" } else { "\\*" })
        };
        let cells: Vec<_> = servers.iter().map(cell).collect();
        let all = pairs.of_side(Role::Client, client).whole_percent();
        say(&mut out, format_args!("| {} | {} | {all} |\n", name(&client.to_string()), cells.join(" | ")));
    }
    out.push_str("\nThe numbers are percentages of checks that hold.");
    for (pair, (tests, reason)) in pairs.given_up() {
        let pair = Untrusted(&pair.to_string()).line(200);
        let reason = Untrusted(reason).line(200);
        say(&mut out, format_args!("\n\n\\* {} of `{pair}` have no result: {reason}.", count(tests, "test")));
    }
    out.push_str("\n\nThe servers:\n\n");
    for (place, server) in servers.iter().enumerate() {
        let about = pairs.about(Role::Server, server).and_then(|about| about.version.clone()).unwrap_or_default();
        let all = pairs.of_side(Role::Server, server).percent();
        say(&mut out, format_args!("{}. {} ({}): {all}\n", place + 1, name(&server.to_string()), name(&about)));
    }
    out.push_str("\n| feature | checks that hold |\n| --- | --: |\n");
    for (feature, title) in pairs.features() {
        let rate = pairs.of_feature(feature);
        say(&mut out, format_args!("| {} | {} ({} of {}) |\n", name(title), rate.percent(), rate.held, rate.asked));
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
