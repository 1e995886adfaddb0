//! Values in places that stay the same while others come and go.

/// A list whose items keep their index until they are removed; a new item takes the place of one that was.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// Puts an item into a free place.
    pub(crate) fn insert(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.items[index as usize] = item;
                index
            }
            None => {
                self.items.push(item);
                self.items.len() as u32 - 1
            }
        }
    }

    /// Gives a place to the next item. What was in it stays until then.
    pub(crate) fn release(&mut self, index: u32) {
        self.free.push(index);
    }

    /// Forgets all items and keeps their memory.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.free.clear();
    }

    /// How many places there are, the free ones included.
    pub(crate) fn places(&self) -> u32 {
        self.items.len() as u32
    }

    /// The bytes that are reserved.
    pub(crate) fn reserved_bytes(&self) -> usize {
        self.items.capacity() * size_of::<T>() + self.free.capacity() * size_of::<u32>()
    }
}

impl<T> std::ops::Index<u32> for Slots<T> {
    type Output = T;
    fn index(&self, index: u32) -> &T {
        &self.items[index as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slots<T> {
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.items[index as usize]
    }
}
