//! Tests finish in any order; who reads a run gets them in the order of the plan.

use std::collections::BTreeMap;

/// Holds back what came early. Places count from 0, each exactly once.
#[derive(Debug)]
pub struct InOrder<T> {
    next: usize,
    early: BTreeMap<usize, T>,
}

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self { next: 0, early: BTreeMap::new() }
    }
}

impl<T> InOrder<T> {
    /// Takes what belongs at this place.
    pub fn put(&mut self, place: usize, item: T) {
        self.early.insert(place, item);
    }

    /// Gives the next whose turn has come.
    pub fn take(&mut self) -> Option<T> {
        let item = self.early.remove(&self.next)?;
        self.next += 1;
        Some(item)
    }

    /// What is still held back when a run was stopped, in order, with gaps.
    pub fn rest(self) -> impl Iterator<Item = T> {
        self.early.into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_items_wait_for_their_turn() {
        let mut order = InOrder::default();
        let ready = |order: &mut InOrder<char>| std::iter::from_fn(|| order.take()).collect::<String>();
        order.put(2, 'c');
        assert_eq!(ready(&mut order), "");
        order.put(0, 'a');
        assert_eq!(ready(&mut order), "a");
        order.put(1, 'b');
        assert_eq!(ready(&mut order), "bc");
        order.put(5, 'f');
        order.put(4, 'e');
        assert_eq!(order.rest().collect::<String>(), "ef");
    }
}
