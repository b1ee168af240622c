//! A survey of a schema's references, and of the work that they cause.
//!
//! The module takes a schema as a tree and returns the length of its longest chain of subschemas that validate the same
//! value. It refuses references that leave the document, are dangling or endless, or multiply the work too much. It
//! must not know tools or methods.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jsonschema::{Draft, ReferencingError, Registry, Uri};
use serde_json::Value;

use crate::schema::{Bounds, SchemaError};

/// The base URI of a document without `$id`.
const NAMELESS: &str = "json-schema:///";

type Base = Arc<Uri<String>>;

/// One subschema.
struct Node<'a> {
    schema: &'a Value,
    base: Base,
    draft: Draft,
    /// The subschemas that validate the same value as this one.
    in_place: Vec<usize>,
}

/// The subschemas of a document.
struct Outline<'a> {
    nodes: Vec<Node<'a>>,
    /// The indices of nodes, by the address of their schema in the tree, which is not moved.
    places: HashMap<*const Value, usize>,
    bases: BTreeSet<String>,
    bounds: &'a Bounds,
}

/// Surveys a document. Returns the length of its longest chain.
pub(crate) fn survey(root: &Value, draft: Draft, bounds: &Bounds) -> Result<usize, SchemaError> {
    let nameless: Base = Arc::new(jsonschema::uri::from_str(NAMELESS)?);
    let mut outline = Outline { nodes: vec![], places: HashMap::new(), bases: BTreeSet::new(), bounds };
    outline.add(root, &nameless, draft)?;
    // The registry is the most expensive part, and most schemas have no references.
    let registry = if outline.nodes.iter().any(|node| references(node.schema).next().is_some()) {
        Some(Registry::new().draft(draft).add(outline.nodes[0].base.as_str(), root)?.prepare()?)
    } else {
        None
    };
    outline.connect(registry.as_ref())?;
    outline.measure()
}

impl<'a> Outline<'a> {
    /// Adds a subschema and everything in it. Returns the index of its node.
    fn add(&mut self, root: &'a Value, base: &Base, draft: Draft) -> Result<usize, SchemaError> {
        let first = self.nodes.len();
        let mut pending = vec![(root, base.clone(), draft, 1)];
        while let Some((schema, base, draft, depth)) = pending.pop() {
            if depth > self.bounds.depth {
                return Err(SchemaError::TooDeep { limit: self.bounds.depth });
            }
            if self.nodes.len() >= self.bounds.count {
                return Err(SchemaError::TooMany { limit: self.bounds.count });
            }
            let draft = dialect(schema, draft)?;
            let outer = base.clone();
            let base = base_of(schema, base, draft)?;
            if !self.bases.insert(base.as_str().to_owned()) && base != outer {
                return Err(SchemaError::Invalid { reason: format!("two subschemas are identified by `{base}`") });
            }
            self.places.insert(schema, self.nodes.len());
            pending.extend(draft.subresources_of(schema).map(|inner| (inner, base.clone(), draft, depth + 1)));
            self.nodes.push(Node { schema, base, draft, in_place: vec![] });
        }
        Ok(first)
    }

    /// Finds, for each subschema, the subschemas that validate the same value.
    fn connect(&mut self, registry: Option<&'a Registry<'a>>) -> Result<(), SchemaError> {
        let mut index = 0;
        while index < self.nodes.len() {
            let Node { schema, draft, .. } = self.nodes[index];
            let references: Vec<_> = references(schema).collect();
            let mut in_place = vec![];
            for (keyword, reference) in &references {
                in_place.extend(registry.map(|registry| self.target(registry, index, reference)).transpose()?);
                if *keyword != "$ref" {
                    in_place.extend(self.dynamic_targets(keyword, reference));
                }
            }
            // Up to draft-07, a reference disables its sibling keywords.
            if references.is_empty() || draft >= Draft::Draft201909 {
                in_place.extend(applied(schema).filter_map(|inner| self.places.get(&std::ptr::from_ref(inner))));
            }
            self.nodes[index].in_place = in_place;
            index += 1;
        }
        Ok(())
    }

    /// Returns the target of a reference. A target at a place where no schema was expected is added here.
    fn target(&mut self, registry: &'a Registry<'a>, from: usize, reference: &str) -> Result<usize, SchemaError> {
        let Node { base, draft, .. } = &self.nodes[from];
        let (draft, resolver) = (*draft, registry.resolver(base.as_ref().clone()));
        let found = resolver.lookup(reference).map_err(|error| SchemaError::of_reference(error, reference))?;
        let target = found.contents();
        if let Some(known) = self.places.get(&std::ptr::from_ref(target)) {
            return Ok(*known);
        }
        let base = found.resolver().base_uri();
        if !self.bases.contains(base.as_str()) {
            return Err(SchemaError::External { reference: reference.to_owned() });
        }
        self.add(target, &base, draft)
    }

    /// Returns all possible targets of a dynamic reference.
    fn dynamic_targets(&self, keyword: &str, reference: &str) -> Vec<usize> {
        let name = reference.rsplit_once('#').map_or("", |(_, fragment)| fragment);
        let is_target = |schema: &Value| match keyword {
            "$dynamicRef" => schema.get("$dynamicAnchor").and_then(Value::as_str) == Some(name),
            _ => schema.get("$recursiveAnchor") == Some(&Value::Bool(true)),
        };
        (0..self.nodes.len()).filter(|index| is_target(self.nodes[*index].schema)).collect()
    }

    /// Counts the paths through subschemas that validate the same value. Returns the length of the longest.
    fn measure(&self) -> Result<usize, SchemaError> {
        let mut measures = vec![Measure::Unknown; self.nodes.len()];
        let chains = (0..self.nodes.len()).map(|index| Ok(self.measure_from(index, 1, &mut measures)?.1));
        chains.collect::<Result<Vec<_>, _>>().map(|chains| chains.into_iter().max().unwrap_or(0))
    }

    fn measure_from(
        &self,
        index: usize,
        depth: usize,
        measures: &mut [Measure],
    ) -> Result<(usize, usize), SchemaError> {
        match measures[index] {
            Measure::Known { ways, chain } => return Ok((ways, chain)),
            Measure::Underway => return Err(SchemaError::Endless),
            Measure::Unknown if depth > self.bounds.chain => {
                return Err(SchemaError::TooLong { limit: self.bounds.chain });
            }
            Measure::Unknown => measures[index] = Measure::Underway,
        }
        let (mut ways, mut chain) = (1usize, 1);
        for next in &self.nodes[index].in_place {
            let (more, longer) = self.measure_from(*next, depth + 1, measures)?;
            ways = ways.saturating_add(more);
            chain = chain.max(longer + 1);
        }
        if ways > self.bounds.ways {
            return Err(SchemaError::TooManyWays { limit: self.bounds.ways });
        }
        if chain > self.bounds.chain {
            return Err(SchemaError::TooLong { limit: self.bounds.chain });
        }
        measures[index] = Measure::Known { ways, chain };
        Ok((ways, chain))
    }
}

#[derive(Clone, Copy)]
enum Measure {
    Unknown,
    Underway,
    Known { ways: usize, chain: usize },
}

/// Returns the dialect of a subschema.
pub(crate) fn dialect(schema: &Value, outer: Draft) -> Result<Draft, SchemaError> {
    match (outer.detect(schema), schema.get("$schema")) {
        (Draft::Unknown, Some(Value::String(uri))) => Err(SchemaError::Dialect { uri: uri.clone() }),
        (draft, _) => Ok(draft),
    }
}

/// Returns the base URI of the references in a subschema.
fn base_of(schema: &Value, outer: Base, draft: Draft) -> Result<Base, SchemaError> {
    let hidden = draft < Draft::Draft201909 && schema.get("$ref").is_some_and(Value::is_string);
    match schema.get(draft.id_keyword()).and_then(Value::as_str) {
        Some(id) if !hidden && !id.starts_with('#') => {
            let id = id.strip_suffix('#').unwrap_or(id);
            Ok(Arc::new(jsonschema::uri::resolve_against(&outer.borrow(), id)?))
        }
        _ => Ok(outer),
    }
}

fn references(schema: &Value) -> impl Iterator<Item = (&'static str, &str)> {
    ["$ref", "$dynamicRef", "$recursiveRef"]
        .into_iter()
        .filter_map(|keyword| Some((keyword, schema.get(keyword)?.as_str()?)))
}

/// Returns the direct subschemas that validate the same value as the schema.
fn applied(schema: &Value) -> impl Iterator<Item = &Value> {
    let one = ["not", "if", "then", "else"].into_iter().filter_map(|keyword| schema.get(keyword));
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array());
    let maps = ["dependentSchemas", "dependencies"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_object());
    one.chain(lists.flatten()).chain(maps.flat_map(serde_json::Map::values))
}

impl SchemaError {
    fn of_reference(error: ReferencingError, reference: &str) -> Self {
        match error {
            ReferencingError::Unretrievable { .. } => Self::External { reference: reference.to_owned() },
            error => Self::Dangling { reference: reference.to_owned(), reason: error.to_string() },
        }
    }
}

impl From<ReferencingError> for SchemaError {
    fn from(error: ReferencingError) -> Self {
        match error {
            ReferencingError::Unretrievable { uri, .. } => Self::External { reference: uri },
            ReferencingError::UnknownSpecification { specification } => Self::Dialect { uri: specification },
            error => Self::Invalid { reason: error.to_string() },
        }
    }
}
