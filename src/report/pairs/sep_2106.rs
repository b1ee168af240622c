//! The compatibility table of SEP-2106 beside what was measured: old and new clients against old and new servers.
//!
//! Takes the results of pairs. A side is new if it speaks a revision with SEP-2106. Must not know single targets.

use std::collections::BTreeSet;

use super::{LossKey, Pairs};
use crate::model::CaseId;
use crate::model::spec::{Lifecycle, Role};
use crate::report::Rate;

/// The features with objects and plain schemas only, which every age should understand.
const OF_OBJECTS: [&str; 2] = ["pairs/untyped-values", "pairs/values"];
/// The feature with values of other types, on revisions with SEP-2106, which both sides are new for.
const OF_OTHERS: [&str; 1] = ["pairs/any-values"];
/// The same on earlier revisions.
const OF_OTHERS_EARLIER: [&str; 1] = ["pairs/values-before-2026"];
/// The feature with composed schemas.
const OF_SCHEMAS: [&str; 1] = ["pairs/list"];

/// One cell of the table.
#[derive(Clone, Debug)]
pub struct AgeCell {
    /// `true` if the client is new.
    pub is_new_client: bool,
    /// `true` if the server is new.
    pub is_new_server: bool,
    /// The words of the SEP.
    pub claim: &'static str,
    /// The number of pairs.
    pub pairs: usize,
    /// The checks with objects.
    pub objects: Rate,
    /// The checks with values of other types.
    pub others: Rate,
    /// The checks with listed schemas.
    pub schemas: Rate,
    /// The losses of these checks in these pairs, which explain each disagreement.
    pub losses: Vec<String>,
}

/// Returns the four cells: the new server first, with the new client first.
pub fn age_table(pairs: &Pairs) -> Vec<AgeCell> {
    let claims = [
        (true, true, "Fully compatible."),
        (
            false,
            true,
            "Compatible only when the server returns object-typed structuredContent. Arrays/primitives in \
             structuredContent may break.",
        ),
        (true, false, "Fully compatible. Existing object-only schemas remain valid."),
        (false, false, "Unchanged."),
    ];
    claims.map(|(is_new_client, is_new_server, claim)| cell(pairs, is_new_client, is_new_server, claim)).into()
}

fn cell(pairs: &Pairs, is_new_client: bool, is_new_server: bool, claim: &'static str) -> AgeCell {
    let is_new = |role, target| {
        let about = pairs.about(role, target);
        about.is_some_and(|about| about.newest.facts().lifecycle == Lifecycle::Stateless)
    };
    let mut cell = AgeCell {
        is_new_client,
        is_new_server,
        claim,
        pairs: 0,
        objects: Rate::default(),
        others: Rate::default(),
        schemas: Rate::default(),
        losses: Vec::new(),
    };
    let of_others = if is_new_client && is_new_server { OF_OTHERS } else { OF_OTHERS_EARLIER };
    let (mut clients, mut servers) = (BTreeSet::new(), BTreeSet::new());
    for (client, server, found) in pairs.cells() {
        if is_new(Role::Client, client) != is_new_client || is_new(Role::Server, server) != is_new_server {
            continue;
        }
        cell.pairs += 1;
        clients.insert(client);
        servers.insert(server);
        for (feature, rate) in &found.features {
            let into = match () {
                () if is_among(feature, &OF_OBJECTS) => &mut cell.objects,
                () if is_among(feature, &of_others) => &mut cell.others,
                () if is_among(feature, &OF_SCHEMAS) => &mut cell.schemas,
                () => continue,
            };
            *into = *into + *rate;
        }
    }
    for (key, loss) in pairs.losses() {
        let LossKey { side, target: Some(target), .. } = key else { continue };
        let (own, others) = if *side == Some(Role::Client) { (&clients, &servers) } else { (&servers, &clients) };
        let is_here = own.contains(target) && loss.others.iter().any(|other| others.contains(other));
        let is_of_table = [&OF_OBJECTS[..], &of_others, &OF_SCHEMAS].iter().any(|all| is_among(&loss.test.case, all));
        if is_here && is_of_table {
            cell.losses.push(key.words());
        }
    }
    cell
}

fn is_among(feature: &CaseId, names: &[&str]) -> bool {
    names.contains(&feature.as_str())
}
