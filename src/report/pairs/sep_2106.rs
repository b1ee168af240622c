//! The compatibility table of SEP-2106 beside what was measured: old and new clients against old and new servers.
//!
//! Takes the results of pairs. A side is new if it implements SEP-2106. Must not know single targets.

use std::collections::BTreeSet;

use super::{LossKey, Pairs};
use crate::model::CaseId;
use crate::model::pair::SideAbout;
use crate::model::spec::Role;
use crate::report::Rate;

/// The features with objects and plain schemas only, which every age should understand.
const OF_OBJECTS: [&str; 2] = ["pairs/untyped-values", "pairs/values"];
/// The features with values of other types, on revisions with SEP-2106.
const OF_OTHERS: [&str; 2] = ["pairs/any-untyped-values", "pairs/any-values"];
/// The same on earlier revisions, for pairs that speak no other.
const OF_OTHERS_EARLIER: [&str; 4] = [
    "pairs/untyped-values-before-2026",
    "pairs/untyped-values-for-older-clients",
    "pairs/values-before-2026",
    "pairs/values-for-older-clients",
];
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

impl AgeCell {
    /// The ages of the sides in words: `new server, old client`.
    pub fn title(&self) -> String {
        let age = |is_new: bool| if is_new { "new" } else { "old" };
        format!("{} server, {} client", age(self.is_new_server), age(self.is_new_client))
    }
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
    let is_new = |role, target| pairs.about(role, target).is_some_and(SideAbout::has_any_schemas);
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
    let (mut clients, mut servers) = (BTreeSet::new(), BTreeSet::new());
    for (client, server, found) in pairs.cells() {
        if is_new(Role::Client, client) != is_new_client || is_new(Role::Server, server) != is_new_server {
            continue;
        }
        let has_newest = found.features.keys().any(|feature| is_among(feature, &OF_OTHERS));
        let of_others = if has_newest { &OF_OTHERS[..] } else { &OF_OTHERS_EARLIER };
        cell.pairs += 1;
        clients.insert(client);
        servers.insert(server);
        for (feature, rate) in &found.features {
            let into = match () {
                () if is_among(feature, &OF_OBJECTS) => &mut cell.objects,
                () if is_among(feature, of_others) => &mut cell.others,
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
        let of_table = [&OF_OBJECTS[..], &OF_OTHERS, &OF_OTHERS_EARLIER, &OF_SCHEMAS];
        let is_of_table = of_table.iter().any(|all| is_among(&loss.test.case, all));
        if is_here && is_of_table {
            cell.losses.push(key.words());
        }
    }
    cell
}

fn is_among(feature: &CaseId, names: &[&str]) -> bool {
    names.contains(&feature.as_str())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A case file that is renamed would leave its cell without a word.
    #[test]
    fn each_feature_is_a_case_file() {
        for name in [&OF_OBJECTS[..], &OF_OTHERS, &OF_OTHERS_EARLIER, &OF_SCHEMAS].concat() {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(name).with_extension("json");
            assert!(file.is_file(), "{}", file.display());
        }
    }
}
