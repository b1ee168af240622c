//! Workers finish in any order; whoever reads hears of tests in the order of the plan.

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
    /// Takes what belongs at this place, and gives all whose turn has come.
    pub fn put(&mut self, place: usize, item: T) -> Vec<T> {
        self.early.insert(place, item);
        let mut ready = Vec::new();
        while let Some(item) = self.early.remove(&self.next) {
            ready.push(item);
            self.next += 1;
        }
        ready
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
    fn what_comes_early_waits_for_its_turn() {
        let mut order = InOrder::default();
        assert!(order.put(2, 'c').is_empty());
        assert_eq!(order.put(0, 'a'), ['a']);
        assert_eq!(order.put(1, 'b'), ['b', 'c']);
        order.put(5, 'f');
        order.put(4, 'e');
        assert_eq!(order.rest().collect::<String>(), "ef");
    }
}
