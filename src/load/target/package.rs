//! The package under test: the keys `package` and `version` of a `target.toml`.
//!
//! Takes the tree of a `target.toml`, gives a [`Package`]. Must not know which package is installed.

use std::collections::BTreeMap;

use crate::load::text::node::Node;
use crate::load::text::read::{Object, Reader};
use crate::model::target::Package;

/// Reads `package` and `version`, of which a target has both or none.
pub(super) fn package(reader: &mut Reader, object: Object<'_>) -> Option<Package> {
    let text = |reader: &mut Reader, key: &str, node: &Node| reader.text(node, &format!("`{key}`")).map(str::to_owned);
    let what = "a target with one of `package` and `version`";
    object.get("package").or_else(|| object.get("version"))?;
    let name = reader.need(object, what, "package").and_then(|node| text(reader, "package", node));
    let version = reader.need(object, what, "version").and_then(|node| text(reader, "version", node));
    Some(Package { name: name?, version: version?, is_dev: false, dependencies: BTreeMap::new() })
}
