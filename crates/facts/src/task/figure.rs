//! The figures of a task's account.

use super::cause::Cause;

/// The value for a figure that is not known: no counter gets there in a machine's life.
pub const ABSENT: u64 = u64::MAX;

/// A figure, by its place in [`Figures`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Figure(u8);

impl Figure {
    /// Nanoseconds on a CPU, precise to the scheduler's clock.
    pub const ON_CPU: Self = Self(0);
    /// Nanoseconds in user mode, counted in ticks.
    pub const USER: Self = Self(1);
    /// Nanoseconds in the kernel, counted in ticks.
    pub const SYSTEM: Self = Self(2);
    const DELAYS: u8 = 3;
    const COUNTS: u8 = 11;
    const MAXIMA: u8 = 19;
    /// Times the task gave up the CPU.
    pub const VOLUNTARY_SWITCHES: Self = Self(27);
    /// Times it was made to.
    pub const INVOLUNTARY_SWITCHES: Self = Self(28);
    /// Page faults that no disk was needed for.
    pub const MINOR_FAULTS: Self = Self(29);
    /// Page faults that waited for a disk.
    pub const MAJOR_FAULTS: Self = Self(30);
    /// Bytes read from block devices.
    pub const READ_BYTES: Self = Self(31);
    /// Bytes written, or left to be written, to block devices.
    pub const WRITTEN_BYTES: Self = Self(32);
    /// Bytes in memory now. All threads of a process have one memory.
    pub const RESIDENT_BYTES: Self = Self(33);
    /// Bytes of address space now.
    pub const VIRTUAL_BYTES: Self = Self(34);
    /// Nanoseconds on a CPU, counted in ticks: "real total" in getdelays.
    pub const CPU_TICKS: Self = Self(35);
    /// The most bytes that were ever in memory.
    pub const PEAK_RESIDENT_BYTES: Self = Self(36);
    /// The most bytes of address space; 0 for a kernel thread.
    pub const PEAK_VIRTUAL_BYTES: Self = Self(37);
    /// How many there are.
    pub const COUNT: usize = 38;
    /// How many of them the BPF program's record has: the first ones.
    pub const COUNT_IN_RECORD: usize = 35;

    /// Nanoseconds held up by a cause.
    pub const fn delay(cause: Cause) -> Self {
        Self(Self::DELAYS + cause as u8)
    }

    /// Times held up by a cause.
    pub const fn count(cause: Cause) -> Self {
        Self(Self::COUNTS + cause as u8)
    }

    /// The longest wait of a cause in nanoseconds. Since 6.14.
    pub const fn maximum(cause: Cause) -> Self {
        Self(Self::MAXIMA + cause as u8)
    }

    /// All, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT as u8).map(Self)
    }

    /// The place.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The cause, if it is a delay, a count or a maximum.
    pub const fn cause(self) -> Option<Cause> {
        match self.0 {
            Self::DELAYS..Self::COUNTS => Some(Cause::ALL[(self.0 - Self::DELAYS) as usize]),
            Self::COUNTS..Self::MAXIMA => Some(Cause::ALL[(self.0 - Self::COUNTS) as usize]),
            Self::MAXIMA..27 => Some(Cause::ALL[(self.0 - Self::MAXIMA) as usize]),
            _ => None,
        }
    }

    /// Returns true if it only grows while a task lives, so that two readings subtract. Of the others the newest value counts.
    pub const fn is_counter(self) -> bool {
        FigureSet::COUNTERS.contains(self)
    }

    /// Returns true if all threads of a process share it, so that a sum takes it once.
    pub const fn is_of_process(self) -> bool {
        FigureSet::OF_PROCESS.contains(self)
    }

    /// Returns true if it is a longest wait, of which a sum takes the longest.
    pub const fn is_maximum(self) -> bool {
        FigureSet::MAXIMA.contains(self)
    }
}

/// A set of figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FigureSet(u64);

impl FigureSet {
    /// All figures.
    pub const ALL: Self = Self::between(0, Figure::COUNT as u8);
    /// The memory that a task has now.
    pub const MEMORY: Self = Self::between(Figure::RESIDENT_BYTES.0, Figure::CPU_TICKS.0);
    /// Longest waits.
    pub const MAXIMA: Self = Self::between(Figure::MAXIMA, Figure::VOLUNTARY_SWITCHES.0);
    /// Figures in nanoseconds.
    pub const TIMES: Self = Self::between(Figure::ON_CPU.0, Figure::COUNTS)
        .union(Self::MAXIMA)
        .union(Self::between(Figure::CPU_TICKS.0, Figure::PEAK_RESIDENT_BYTES.0));
    /// Figures that all threads of a process share.
    pub const OF_PROCESS: Self =
        Self::MEMORY.union(Self::between(Figure::PEAK_RESIDENT_BYTES.0, Figure::COUNT as u8));
    /// Figures that only grow while a task lives.
    pub const COUNTERS: Self = Self::ALL.difference(Self::MAXIMA).difference(Self::OF_PROCESS);

    /// The figures from one place up to another, which is left out.
    const fn between(first: u8, end: u8) -> Self {
        Self((1 << end) - (1 << first))
    }

    /// Returns true if a figure is in it.
    pub const fn contains(self, figure: Figure) -> bool {
        self.0 >> figure.0 & 1 == 1
    }

    /// Calls `each` with every figure in it.
    pub fn for_each(self, mut each: impl FnMut(Figure)) {
        let mut left = self.0;
        while left != 0 {
            each(Figure(left.trailing_zeros() as u8));
            left &= left - 1;
        }
    }

    /// Adds a figure.
    pub fn insert(&mut self, figure: Figure) {
        self.0 |= 1 << figure.0;
    }

    /// Removes a figure.
    pub fn remove(&mut self, figure: Figure) {
        self.0 &= !(1 << figure.0);
    }

    /// Returns the figures that are in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the figures that are in both.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the figures that are not in the other.
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// One task's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures([u64; Figure::COUNT]);

impl Figures {
    /// None known.
    pub const NONE: Self = Self([ABSENT; Figure::COUNT]);

    /// A figure, if it is known.
    pub fn get(&self, figure: Figure) -> Option<u64> {
        Some(self.0[figure.index()]).filter(|value| *value != ABSENT)
    }

    /// Sets a figure.
    pub fn set(&mut self, figure: Figure, value: Option<u64>) {
        self.0[figure.index()] = value.unwrap_or(ABSENT);
    }

    /// The figures that are not known.
    pub fn absent(&self) -> FigureSet {
        let bit = |(index, value): (usize, &u64)| u64::from(*value == ABSENT) << index;
        FigureSet(self.0.iter().enumerate().map(bit).sum())
    }

    /// The value, [`ABSENT`] if it is not known.
    pub(crate) fn raw(&self, figure: Figure) -> u64 {
        self.0[figure.index()]
    }

    pub(crate) fn set_raw(&mut self, figure: Figure, value: u64) {
        self.0[figure.index()] = value;
    }
}

impl Default for Figures {
    fn default() -> Self {
        Self::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_a_column_of_its_own() {
        let mut seen = [false; Figure::COUNT];
        let of_causes = Cause::ALL
            .into_iter()
            .flat_map(|cause| [Figure::delay(cause), Figure::count(cause), Figure::maximum(cause)]);
        let others = [
            Figure::ON_CPU,
            Figure::USER,
            Figure::SYSTEM,
            Figure::VOLUNTARY_SWITCHES,
            Figure::INVOLUNTARY_SWITCHES,
            Figure::MINOR_FAULTS,
            Figure::MAJOR_FAULTS,
            Figure::READ_BYTES,
            Figure::WRITTEN_BYTES,
            Figure::RESIDENT_BYTES,
            Figure::VIRTUAL_BYTES,
            Figure::CPU_TICKS,
            Figure::PEAK_RESIDENT_BYTES,
            Figure::PEAK_VIRTUAL_BYTES,
        ];
        for figure in of_causes.chain(others) {
            assert!(!std::mem::replace(&mut seen[figure.index()], true), "{figure:?}");
        }
        assert_eq!(seen, [true; Figure::COUNT]);
    }
}
