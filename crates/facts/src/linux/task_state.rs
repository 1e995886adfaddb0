//! A task's state from the kernel's bits to the letter that /proc prints: include/linux/sched.h, fs/proc/array.c.

const INTERRUPTIBLE_TO_PARKED: u32 = 0x7f;
const IDLE: u32 = 0x402;
const FROZEN: u32 = 0x8000;
const LETTERS: [u8; 8] = *b"RSDTtXZP";

/// From `__state` and `exit_state`.
pub fn letter(state: u32, exit_state: u32) -> u8 {
    if exit_state == 0 && state & IDLE == IDLE {
        return b'I';
    }
    if exit_state == 0 && state & FROZEN != 0 {
        return b'D';
    }
    let reported = (state | exit_state) & INTERRUPTIBLE_TO_PARKED;
    let highest = u32::BITS - reported.leading_zeros();
    LETTERS[highest as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_those_of_proc() {
        let letters = [(0, 0), (1, 0), (2, 0), (4, 0), (8, 0), (0, 0x10), (0, 0x20), (0x40, 0), (0x402, 0)];
        let letters: Vec<u8> = letters.into_iter().map(|(state, exit)| letter(state, exit)).collect();
        assert_eq!(letters, b"RSDTtXZPI");
        // Sleeping in a way that a freezer may take for its own (6.1), and frozen.
        assert_eq!((letter(0x2001, 0), letter(0x8000, 0)), (b'S', b'D'));
        assert_eq!(letter(u32::MAX, u32::MAX), b'P');
    }
}
