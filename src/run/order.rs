//! Puts tests, which end in any order, into the order of the plan.

use std::collections::BTreeMap;

/// A buffer for items that arrive early. Places count from 0, and each has exactly one item.
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
    /// Adds the item of a place.
    pub fn put(&mut self, place: usize, item: T) {
        self.early.insert(place, item);
    }

    /// Removes and returns the next item in order, if it has arrived.
    pub fn take(&mut self) -> Option<T> {
        let item = self.early.remove(&self.next)?;
        self.next += 1;
        Some(item)
    }

    /// Returns the remaining items in order. After a stopped run there are gaps.
    pub fn rest(self) -> impl Iterator<Item = T> {
        self.early.into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_items_wait_for_earlier_places() {
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
