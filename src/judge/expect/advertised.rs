//! Compares a listed tool with the tool of the fixture, as far as an expectation asks for it.
//!
//! Takes the differences of a listed tool, gives the result for one tool of `advertised`. Must not know the other keys of an
//! expectation.

use super::{Compared, mismatch, missing, undecidable, unreadable, words};
use crate::jsonrpc::pointer::is_within;
use crate::judge::compare;
use crate::model::case::Advertised;
use crate::model::observation::AdvertisedTool;

pub(super) fn compare(tool: &str, wanted: &Advertised, observed: Option<&AdvertisedTool>) -> Compared {
    let place = format!("advertised `{tool}`");
    let Some(observed) = observed else { return Compared::Misses(missing(&place)) };
    // `as given` is about the schemas. The other members count where a pointer leads to them.
    let kept = match wanted {
        Advertised::AsGiven | Advertised::Kept => &[][..],
        Advertised::Keeps(pointers) => pointers,
    };
    let touches = |found: &str, kept: &str| is_within(found, kept) || is_within(kept, found);
    let counts = |found: &&str| {
        ["/inputSchema", "/outputSchema"].iter().any(|schema| is_within(found, schema))
            || kept.iter().any(|kept| touches(found, kept))
    };
    // What a server adds is about the whole schema, and not about a part of it that is kept.
    let nothing = Vec::new();
    let added = if matches!(wanted, Advertised::Kept) { &nothing } else { &observed.added };
    let kinds = [("lacks", &observed.removed), ("adds", added), ("changes", &observed.changed)]
        .map(|(verb, list)| (verb, list, list.iter().map(String::as_str).filter(counts).collect::<Vec<_>>()));
    let mut all = kinds.iter().flat_map(|(_, _, list)| list);
    let expected = match wanted {
        Advertised::AsGiven => all.next().map(|_| "as given".to_owned()),
        Advertised::Kept => all.next().map(|_| "kept".to_owned()),
        Advertised::Keeps(pointers) => {
            let lost = pointers.iter().filter(|kept| all.clone().any(|found| touches(found, kept)));
            let lost: Vec<&String> = lost.collect();
            (!lost.is_empty()).then(|| format!("{} as given", words(&lost, " ")))
        }
    };
    match (expected, &observed.unreadable) {
        (Some(expected), _) => {
            let shown = |list: &[String]| {
                let shown = list.iter().filter(|found| counts(&found.as_str()) || !found.starts_with('/'));
                shown.cloned().collect::<Vec<_>>().join(" ")
            };
            let changes = kinds.iter().filter(|(_, _, list)| !list.is_empty());
            let changes: Vec<_> = changes.map(|(verb, list, _)| format!("{verb} {}", shown(list))).collect();
            Compared::Misses(mismatch(&place, &expected, &changes.join("; ")))
        }
        (None, Some(reason)) => Compared::Unknown(unreadable(&place, reason)),
        (None, None) if kinds.iter().any(|(_, list, _)| compare::is_cut(list)) => {
            Compared::Unknown(undecidable(&place, "differs in more places than were written down"))
        }
        (None, None) => Compared::Holds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointer_is_kept_if_nothing_at_above_or_below_differs() {
        let keeps = |pointer: &str| Advertised::Keeps(vec![pointer.into()]);
        let observed = AdvertisedTool {
            removed: vec!["/inputSchema/anyOf".into()],
            changed: vec!["/inputSchema/not/required/0".into()],
            ..AdvertisedTool::default()
        };
        for lost in ["/inputSchema/anyOf", "/inputSchema/anyOf/0", "/inputSchema/not", "/inputSchema"] {
            assert!(matches!(compare("t", &keeps(lost), Some(&observed)), Compared::Misses(_)), "{lost}");
        }
        for kept in ["/inputSchema/any", "/inputSchema/not/required/1", "/outputSchema"] {
            assert!(matches!(compare("t", &keeps(kept), Some(&observed)), Compared::Holds), "{kept}");
        }
        assert!(matches!(compare("t", &keeps("/x"), None), Compared::Misses(_)));
        let as_given = compare("t", &Advertised::AsGiven, Some(&observed));
        assert!(matches!(as_given, Compared::Misses(finding) if finding.to_string().contains("observed lacks")));
    }

    #[test]
    fn as_given_is_about_schemas_and_keeps_about_any_member() {
        let observed = AdvertisedTool {
            removed: vec!["/title".into()],
            added: vec!["/_meta".into()],
            ..AdvertisedTool::default()
        };
        let keeps = |pointer: &str| Advertised::Keeps(vec![pointer.into()]);
        for holds in [Advertised::AsGiven, keeps("/icons"), keeps("/inputSchema")] {
            assert!(matches!(compare("t", &holds, Some(&observed)), Compared::Holds), "{holds:?}");
        }
        let added = AdvertisedTool { added: vec!["/inputSchema/title".into()], ..AdvertisedTool::default() };
        assert!(matches!(compare("t", &Advertised::Kept, Some(&added)), Compared::Holds));
        assert!(matches!(compare("t", &Advertised::AsGiven, Some(&added)), Compared::Misses(_)));
        let changed = AdvertisedTool { changed: vec!["/inputSchema/title".into()], ..AdvertisedTool::default() };
        assert!(matches!(compare("t", &Advertised::Kept, Some(&changed)), Compared::Misses(_)));
        let title = compare("t", &keeps("/title"), Some(&observed));
        assert!(matches!(title, Compared::Misses(finding) if !finding.to_string().contains("_meta")));
        assert!(matches!(compare("t", &keeps(""), Some(&observed)), Compared::Misses(_)));
    }
}
