//! Typed input, as a terminal sends it: ECMA-48 and the sequences of xterm. Crossterm's reader waits for the rest of a sequence that was
//! cut, and no signal ends that.

use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use rustix::io::{Errno, read};
use rustix::stdio::stdin;

const ESCAPE: u8 = 0x1b;
/// A sequence that is longer is none.
const LONGEST: usize = 64;

/// Makes events of bytes.
#[derive(Debug, Default)]
pub(super) struct Input {
    /// The beginning of a sequence.
    unfinished: Vec<u8>,
}

impl Input {
    /// Reads what has been typed since, from a terminal whose reader does not wait.
    ///
    /// # Errors
    /// The error of read(2): EIO if the terminal is gone, or if no shell can bring this process to the foreground.
    pub(super) fn read(&mut self) -> Result<Vec<Event>, Errno> {
        let mut bytes = [0; 4096];
        let length = match read(stdin(), &mut bytes) {
            Ok(length) => length,
            Err(Errno::INTR | Errno::AGAIN) => 0,
            Err(error) => return Err(error),
        };
        Ok(self.take(&bytes[..length]))
    }

    fn take(&mut self, bytes: &[u8]) -> Vec<Event> {
        self.unfinished.extend_from_slice(bytes);
        let mut rest = self.unfinished.as_slice();
        let mut events = Vec::new();
        while let Some((length, event)) = first_of(rest) {
            events.extend(event);
            rest = &rest[length..];
        }
        let length = if rest.len() > LONGEST { 0 } else { rest.len() };
        let done = self.unfinished.len() - length;
        self.unfinished.drain(..done);
        events
    }
}

/// How long the first sequence is, and what it means; none if its end has not come. An Escape at the end is the key of that name.
fn first_of(bytes: &[u8]) -> Option<(usize, Option<Event>)> {
    let (first, rest) = bytes.split_first()?;
    if *first != ESCAPE {
        return character(bytes);
    }
    match rest {
        [] | [ESCAPE, ..] => Some((1, key(KeyCode::Esc))),
        [b'[', rest @ ..] => control_sequence(rest).map(|(length, event)| (2 + length, event)),
        [b'O', letter, ..] => Some((3, named(*letter).and_then(key))),
        [b'O'] => None,
        rest => {
            let (length, event) = character(rest)?;
            Some((1 + length, event))
        }
    }
}

/// UTF-8, or a control character.
fn character(bytes: &[u8]) -> Option<(usize, Option<Event>)> {
    let code = match bytes.first()? {
        b'\r' | b'\n' => KeyCode::Enter,
        b'\t' => KeyCode::Tab,
        0x08 | 0x7f => KeyCode::Backspace,
        control @ 1..=26 => {
            let letter = KeyCode::Char(char::from(control - 1 + b'a'));
            return Some((1, Some(Event::Key(KeyEvent::new(letter, KeyModifiers::CONTROL)))));
        }
        0 | 27..32 => return Some((1, None)),
        byte if byte.is_ascii() => KeyCode::Char(char::from(*byte)),
        _ => {
            let chunk = bytes.utf8_chunks().next()?;
            return match (chunk.valid().chars().next(), chunk.invalid().len()) {
                (Some(letter), _) => Some((letter.len_utf8(), key(KeyCode::Char(letter)))),
                (None, length) => is_invalid(bytes).then_some((length, None)),
            };
        }
    };
    Some((1, key(code)))
}

/// Returns true if more bytes cannot complete a character.
fn is_invalid(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_some())
}

/// Parses what follows `ESC [`: parameters, a final letter.
fn control_sequence(bytes: &[u8]) -> Option<(usize, Option<Event>)> {
    match bytes {
        // The function keys of Linux' own console.
        [b'[', letter @ b'A'..=b'E', ..] => return Some((2, key(KeyCode::F(letter - b'A' + 1)))),
        [b'['] => return None,
        // X10's mouse: three bytes, 32 above what they mean.
        [b'M', rest @ ..] => {
            let [button, column, row] = rest.first_chunk()?.map(|byte| u16::from(byte.saturating_sub(32)));
            return Some((4, mouse([button, column, row], true)));
        }
        _ => {}
    }
    let end = bytes.iter().position(|byte| !(0x20..0x40).contains(byte))?;
    let (parameters, last) = (&bytes[..end], bytes[end]);
    let is_sequence = (0x40..0x7f).contains(&last);
    // Another one begins within, or a key that is none of it: this one is dropped.
    let length = if is_sequence { end + 1 } else { end };
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<u16>().ok();
    let event = match (parameters, last) {
        ([b'<', parameters @ ..], b'M' | b'm') => {
            let mut numbers = parameters.split(|byte| *byte == b';').map(number);
            let mut next = || numbers.next().flatten();
            next()
                .zip(next())
                .zip(next())
                .and_then(|((button, column), row)| mouse([button, column, row], last == b'M'))
        }
        (parameters, b'~') => {
            let code = parameters.split(|byte| *byte == b';').next().and_then(number);
            code.and_then(numbered).and_then(key)
        }
        (_, letter) if is_sequence => named(letter).and_then(key),
        _ => None,
    };
    Some((length, event))
}

/// Keys with a letter of their own.
fn named(letter: u8) -> Option<KeyCode> {
    Some(match letter {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'M' => KeyCode::Enter,
        b'Z' => KeyCode::BackTab,
        b'P'..=b'S' => KeyCode::F(letter - b'P' + 1),
        _ => return None,
    })
}

/// Keys with a number: of the VT220, and what others added.
fn numbered(number: u16) -> Option<KeyCode> {
    let function = |first: u16| KeyCode::F(u8::try_from(number - first).unwrap_or(0));
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => function(10),
        17..=21 => function(11),
        23..=24 => function(12),
        _ => return None,
    })
}

/// A button that was pressed, or the wheel. Columns and rows count from one.
fn mouse([button, column, row]: [u16; 3], is_press: bool) -> Option<Event> {
    // Shift, Alt and Ctrl are bits 2 to 4; that it moved is bit 5.
    let kind = match button & !0b1_1100 {
        0 if is_press => MouseEventKind::Down(MouseButton::Left),
        64 => MouseEventKind::ScrollUp,
        65 => MouseEventKind::ScrollDown,
        _ => return None,
    };
    let [column, row] = [column, row].map(|place| place.saturating_sub(1));
    Some(Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }))
}

fn key(code: KeyCode) -> Option<Event> {
    Some(Event::Key(KeyEvent::from(code)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(events: Vec<Event>) -> Vec<KeyCode> {
        events.into_iter().filter_map(|event| Some(event.as_key_event()?.code)).collect()
    }

    #[test]
    fn keys_are_what_terminals_send_for_them() {
        let typed = |bytes: &[u8]| codes(Input::default().take(bytes));
        assert_eq!(typed(b"qA\xc3\xa9"), ['q', 'A', 'é'].map(KeyCode::Char));
        assert_eq!(typed(b"\r\n\t\x7f\x08"), {
            use KeyCode::*;
            [Enter, Enter, Tab, Backspace, Backspace]
        });
        assert_eq!(typed(b"\x1b"), [KeyCode::Esc]);
        assert_eq!(typed(b"\x1b\x1b"), [KeyCode::Esc, KeyCode::Esc]);
        assert_eq!(typed(b"\x1bq"), [KeyCode::Char('q')]);
        assert_eq!(typed(b"\x1b[A\x1bOB\x1b[1;5C"), [KeyCode::Up, KeyCode::Down, KeyCode::Right]);
        assert_eq!(typed(b"\x1b[5~\x1b[6~\x1b[H\x1b[4~"), {
            use KeyCode::*;
            [PageUp, PageDown, Home, End]
        });
        assert_eq!(typed(b"\x1bOP\x1b[[B\x1b[13~\x1b[20~\x1b[21;2~"), [1, 2, 3, 9, 10].map(KeyCode::F));
        // What is no key of ours does nothing, whole.
        assert_eq!(typed(b"\x1b[200~x\x1b[?1;2c\x1b[999999~"), [KeyCode::Char('x')]);
        assert_eq!(typed(b"\xff\xfeq\xc3q"), [KeyCode::Char('q'), KeyCode::Char('q')]);
        // One that was cut by another.
        assert_eq!(typed(b"\x1b[\x1b[A\x1b[3\rq"), [KeyCode::Up, KeyCode::Enter, KeyCode::Char('q')]);
    }

    #[test]
    fn control_keys_keep_their_letter() {
        let events = Input::default().take(b"\x03\x1a");
        let keys: Vec<KeyEvent> = events.iter().filter_map(Event::as_key_event).collect();
        assert_eq!(
            keys,
            ['c', 'z'].map(|letter| KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL))
        );
    }

    #[test]
    fn both_mouse_encodings_are_parsed() {
        let events = |bytes: &[u8]| -> Vec<(MouseEventKind, u16, u16)> {
            let events = Input::default().take(bytes);
            let mouse = events.iter().filter_map(Event::as_mouse_event);
            mouse.map(|mouse| (mouse.kind, mouse.column, mouse.row)).collect()
        };
        let pressed = MouseEventKind::Down(MouseButton::Left);
        assert_eq!(events(b"\x1b[<0;5;6M\x1b[<0;5;6m\x1b[<35;5;6M"), [(pressed, 4, 5)]);
        assert_eq!(
            events(b"\x1b[<64;1;1M\x1b[<65;1;1M"),
            [(MouseEventKind::ScrollUp, 0, 0), (MouseEventKind::ScrollDown, 0, 0)]
        );
        assert_eq!(events(b"\x1b[M %&"), [(pressed, 4, 5)]);
        assert_eq!(events(b"\x1b[<0;0;0M"), [(pressed, 0, 0)]);
    }

    #[test]
    fn what_is_cut_waits_for_its_rest() {
        let mut input = Input::default();
        for cut in [&b"\x1b["[..], b"\x1bO", b"\x1b[1;5", b"\x1b[M  ", b"\xc3", b"\xf0\x9f"] {
            assert_eq!(input.take(cut), [], "{cut:?}");
            input = Input::default();
        }
        assert_eq!(codes(input.take(b"\x1b[")), []);
        assert_eq!(codes(input.take(b"B")), [KeyCode::Down]);
        assert_eq!(codes(input.take(b"\xc3")), []);
        assert_eq!(codes(input.take(b"\xa9")), [KeyCode::Char('é')]);
        // Nothing grows without bound.
        for _ in 0..1000 {
            assert_eq!(input.take(b"\x1b[;;;;;;;;;;;;;;;"), []);
            assert!(input.unfinished.len() <= LONGEST);
        }
    }

    #[test]
    fn any_bytes_are_taken() {
        let alphabet = b"\x1b\x1b[O<;M~09A\xc3\xa9\xf0 \r";
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        let mut input = Input::default();
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..random(9)).map(|_| alphabet[random(alphabet.len())]).collect();
            input.take(&bytes);
            assert!(input.unfinished.len() <= LONGEST);
        }
    }
}
