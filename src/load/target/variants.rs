//! The variants of a target: tiers of an API, validators, or documented ways to serve, each with its own results.
//!
//! Takes `[variants]` of a `target.toml` and the claims of the whole target, gives the claims of each variant. Must not
//! know how a variant is run.

use crate::load::text::diagnostic::Lint;
use crate::load::text::node::Node;
use crate::load::text::read::{Object, Reader};
use crate::model::case::Need;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::Claims;

/// A variant of a target.
pub(super) struct Variant {
    pub(super) name: String,
    /// The name of the API that it uses.
    pub(super) api: Option<String>,
    /// The claims of the variant; `None` if those of the target have mistakes.
    pub(super) claims: Option<Claims>,
}

/// Reads the variants. Each one has the claims of the target, or fewer.
pub(super) fn variants(reader: &mut Reader, node: &Node, whole: Option<&Claims>) -> Vec<Variant> {
    let members = reader.members(node, "`variants`").unwrap_or_default();
    let mut variants = Vec::new();
    for member in members {
        reader.id(&member.key, member.key_span, "the variant");
        let object = reader.object(&member.value, "a variant", &["api", "roles", "transports", "revisions", "lacks"]);
        let api = object.and_then(|object| object.get("api"));
        let api = api.and_then(|node| reader.text(node, "`api`")).map(str::to_owned);
        let claims = object.zip(whole).map(|(object, whole)| narrowed(reader, object, whole));
        variants.push(Variant { name: (*member.key).to_owned(), api, claims });
    }
    variants
}

/// Narrows the claims of a target to those of a variant. The features that the variant lacks are added to those that
/// the target lacks.
fn narrowed(reader: &mut Reader, object: Object<'_>, whole: &Claims) -> Claims {
    let all: Vec<Revision> = Revision::all().collect();
    let mut lacks = whole.lacks.clone();
    if let Some(node) = object.get("lacks") {
        lacks.extend(reader.words(node, "`lacks`", Need::ALL));
        lacks.sort();
        lacks.dedup();
    }
    Claims {
        roles: part(reader, object, "roles", &Role::SINGLE, &whole.roles),
        transports: part(reader, object, "transports", Transport::ALL, &whole.transports),
        revisions: part(reader, object, "revisions", &all, &whole.revisions),
        lacks,
        implements: whole.implements.clone(),
    }
}

/// Reads one key of a variant, whose words are some of those that `[claims]` has.
fn part<W>(reader: &mut Reader, object: Object<'_>, key: &str, all: &[W], whole: &[W]) -> Vec<W>
where
    W: Copy + AsRef<str> + Ord,
{
    let Some(node) = object.get(key) else { return whole.to_vec() };
    let words = reader.words(node, &format!("`{key}`"), all);
    for word in words.iter().filter(|word| !whole.contains(word)) {
        let more = format!("a variant cannot claim `{}`, which `{key}` in `[claims]` does not have", word.as_ref());
        let more = reader.mistake(Lint::ConflictingKeys, more);
        let help = format!("add it to `{key}` in `[claims]`, or remove it here: a variant claims the same or less");
        reader.push(more.at(node.span, "more than the target claims").help(help));
    }
    words
}
