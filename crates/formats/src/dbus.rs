//! The D-Bus wire protocol, as far as one question to systemd needs it:
//! <https://dbus.freedesktop.org/doc/dbus-specification.html>, the interface `org.freedesktop.systemd1.Manager`. A library would bring ten
//! and more crates for one call.

/// A unit of systemd, by `ListUnitsByPatterns`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// `nginx.service`.
    pub name: String,
    /// `loaded`, `not-found`, `masked` …
    pub load_state: String,
    /// `active`, `inactive`, `failed`, `activating` …
    pub active_state: String,
    /// In more detail: `running`, `exited`, `dead` …
    pub sub_state: String,
}

/// The serial numbers of the two messages of [`question`].
const HELLO_SERIAL: u32 = 1;
const LIST_SERIAL: u32 = 2;
/// A message is not longer: 128 MiB, of which a list of units takes a thousandth.
const MAX_BYTES: usize = 8 << 20;

/// The types of messages.
const METHOD_CALL: u8 = 1;
const METHOD_RETURN: u8 = 2;
const ERROR: u8 = 3;

/// The codes of header fields.
const PATH: u8 = 1;
const INTERFACE: u8 = 2;
const MEMBER: u8 = 3;
const ERROR_NAME: u8 = 4;
const REPLY_SERIAL: u8 = 5;
const DESTINATION: u8 = 6;
const SIGNATURE: u8 = 8;

/// Returns the bytes that are sent first, as the user with this number; the bus answers with a line that begins with `OK`.
pub fn authentication(uid: u32) -> Vec<u8> {
    let digits: String = uid.to_string().bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("\0AUTH EXTERNAL {digits}\r\n").into_bytes()
}

/// Returns the bytes that are sent next: the first call that every connection makes, and the request for units by patterns of their names.
pub fn question(patterns: &[&str]) -> Vec<u8> {
    let mut bytes = b"BEGIN\r\n".to_vec();
    let bus = ["/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello", "org.freedesktop.DBus"];
    bytes.extend(call(HELLO_SERIAL, bus, None, &[]));
    let mut body = Writer::default();
    // No states: those of any.
    body.array(4, |_| {});
    body.array(4, |array| patterns.iter().for_each(|pattern| array.text(pattern)));
    let manager = [
        "/org/freedesktop/systemd1",
        "org.freedesktop.systemd1.Manager",
        "ListUnitsByPatterns",
        "org.freedesktop.systemd1",
    ];
    bytes.extend(call(LIST_SERIAL, manager, Some("asas"), &body.0));
    bytes
}

fn call(
    serial: u32,
    [path, interface, member, destination]: [&str; 4],
    types: Option<&str>,
    body: &[u8],
) -> Vec<u8> {
    let mut out = Writer::default();
    // Little endian, no flags, version 1.
    out.0.extend([b'l', METHOD_CALL, 0, 1]);
    out.number(body.len() as u32);
    out.number(serial);
    out.array(8, |fields| {
        for (code, kind, value) in [
            (PATH, "o", path),
            (INTERFACE, "s", interface),
            (MEMBER, "s", member),
            (DESTINATION, "s", destination),
        ] {
            fields.align(8);
            fields.0.push(code);
            fields.signature(kind);
            fields.text(value);
        }
        if let Some(types) = types {
            fields.align(8);
            fields.0.push(SIGNATURE);
            fields.signature("g");
            fields.signature(types);
        }
    });
    out.align(8);
    out.0.extend_from_slice(body);
    out.0
}

/// The meaning of the bytes that were received so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// More bytes are needed.
    Incomplete,
    /// The bus, or systemd, refuses.
    Refused(String),
    /// The units.
    Units(Vec<Unit>),
    /// The bytes are not D-Bus.
    Invalid,
}

/// Reads what came after the line that begins with `OK`.
pub fn answer(mut bytes: &[u8]) -> Answer {
    loop {
        let message = match message(bytes) {
            Ok(Some(message)) => message,
            Ok(None) => return Answer::Incomplete,
            Err(()) => return Answer::Invalid,
        };
        bytes = message.rest;
        match message.kind {
            ERROR => return Answer::Refused(message.error),
            METHOD_RETURN if message.reply_serial == LIST_SERIAL => {
                return units(message.body).map_or(Answer::Invalid, Answer::Units);
            }
            // The answer to the first call, and signals.
            _ => {}
        }
    }
}

struct Message<'b> {
    kind: u8,
    reply_serial: u32,
    error: String,
    body: &'b [u8],
    rest: &'b [u8],
}

/// The first message; `None`: it is not complete.
fn message(bytes: &[u8]) -> Result<Option<Message<'_>>, ()> {
    const FIXED_BYTES: usize = 16;
    if bytes.len() < FIXED_BYTES {
        return Ok(None);
    }
    if bytes[0] != b'l' || bytes[3] != 1 {
        return Err(());
    }
    let number =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize;
    let (body_length, fields_length) = (number(4), number(12));
    if body_length > MAX_BYTES || fields_length > MAX_BYTES {
        return Err(());
    }
    let body_at = (FIXED_BYTES + fields_length).next_multiple_of(8);
    if bytes.len() < body_at + body_length {
        return Ok(None);
    }
    let body = &bytes[body_at..body_at + body_length];
    let mut message = Message {
        kind: bytes[1],
        reply_serial: 0,
        error: String::new(),
        body,
        rest: &bytes[body_at + body_length..],
    };
    let mut reader = Reader { bytes: &bytes[..FIXED_BYTES + fields_length], at: FIXED_BYTES };
    while reader.at < reader.bytes.len() {
        reader.align(8);
        let (code, kind) = (reader.byte().ok_or(())?, reader.signature().ok_or(())?);
        match (kind, code) {
            (b"u", REPLY_SERIAL) => message.reply_serial = reader.number().ok_or(())?,
            (b"u", _) => drop(reader.number().ok_or(())?),
            (b"g", _) => drop(reader.signature().ok_or(())?),
            (b"s" | b"o", ERROR_NAME) => message.error = reader.text().ok_or(())?,
            (b"s" | b"o", _) => drop(reader.text().ok_or(())?),
            _ => return Err(()),
        }
    }
    Ok(Some(message))
}

/// `a(ssssssouso)`: name, description, load state, active state, sub state, followed unit, path, job's number, type and path.
fn units(body: &[u8]) -> Option<Vec<Unit>> {
    let mut reader = Reader { bytes: body, at: 0 };
    let length = reader.number()? as usize;
    reader.align(8);
    let end = reader.at.checked_add(length).filter(|end| *end <= body.len())?;
    let mut units = Vec::new();
    while reader.at < end {
        reader.align(8);
        let name = reader.text()?;
        reader.text()?;
        let (load_state, active_state, sub_state) = (reader.text()?, reader.text()?, reader.text()?);
        reader.text()?;
        reader.text()?;
        reader.number()?;
        reader.text()?;
        reader.text()?;
        units.push(Unit { name, load_state, active_state, sub_state });
    }
    Some(units)
}

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn align(&mut self, to: usize) {
        self.0.resize(self.0.len().next_multiple_of(to), 0);
    }

    fn number(&mut self, number: u32) {
        self.align(4);
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u32);
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(0);
    }

    fn signature(&mut self, types: &str) {
        self.0.push(types.len() as u8);
        self.0.extend_from_slice(types.as_bytes());
        self.0.push(0);
    }

    /// The length counts what is written after the padding.
    fn array(&mut self, element_alignment: usize, write: impl FnOnce(&mut Self)) {
        self.number(0);
        let length_at = self.0.len() - 4;
        self.align(element_alignment);
        let begin = self.0.len();
        write(self);
        let length = (self.0.len() - begin) as u32;
        self.0[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    fn align(&mut self, to: usize) {
        self.at = self.at.next_multiple_of(to);
    }

    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn number(&mut self) -> Option<u32> {
        self.align(4);
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn text(&mut self) -> Option<String> {
        let length = self.number()? as usize;
        let text = self.take(length)?;
        self.byte()?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    fn signature(&mut self) -> Option<&'b [u8]> {
        let length = self.byte()?;
        let types = self.take(usize::from(length))?;
        self.byte()?;
        Some(types)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A field of a reply's header.
    #[derive(Clone, Copy)]
    enum Field<'n> {
        Serial(u32),
        Error(&'n str),
    }

    fn reply(kind: u8, field: Field<'_>, body: &[u8]) -> Vec<u8> {
        let mut out = Writer::default();
        out.0.extend([b'l', kind, 1, 1]);
        out.number(body.len() as u32);
        out.number(9);
        out.array(8, |fields| {
            fields.0.push(match field {
                Field::Serial(_) => REPLY_SERIAL,
                Field::Error(_) => ERROR_NAME,
            });
            match field {
                Field::Serial(serial) => {
                    fields.signature("u");
                    fields.number(serial);
                }
                Field::Error(name) => {
                    fields.signature("s");
                    fields.text(name);
                }
            }
        });
        out.align(8);
        out.0.extend_from_slice(body);
        out.0
    }

    fn body_of_units(units: &[[&str; 4]]) -> Vec<u8> {
        let mut body = Writer::default();
        body.array(8, |array| {
            for [name, load, active, sub] in units {
                array.align(8);
                [name, "A description", load, active, sub, "", "/path"]
                    .iter()
                    .for_each(|text| array.text(text));
                array.number(0);
                array.text("");
                array.text("/");
            }
        });
        body.0
    }

    #[test]
    fn units_are_read_after_other_messages() {
        let hello = reply(METHOD_RETURN, Field::Serial(HELLO_SERIAL), b"");
        let body = body_of_units(&[
            ["a.service", "loaded", "failed", "failed"],
            ["b.timer", "loaded", "active", "waiting"],
        ]);
        let list = reply(METHOD_RETURN, Field::Serial(LIST_SERIAL), &body);
        let bytes = [hello, list].concat();
        let Answer::Units(units) = answer(&bytes) else { panic!("{:?}", answer(&bytes)) };
        let states: Vec<(&str, &str)> =
            units.iter().map(|unit| (unit.name.as_str(), unit.active_state.as_str())).collect();
        assert_eq!(states, [("a.service", "failed"), ("b.timer", "active")]);
        assert!((0..bytes.len()).all(|length| answer(&bytes[..length]) == Answer::Incomplete));
    }

    #[test]
    fn a_refusal_has_a_name() {
        let name = "org.freedesktop.DBus.Error.ServiceUnknown";
        let bytes = reply(ERROR, Field::Error(name), b"");
        assert_eq!(answer(&bytes), Answer::Refused(name.to_owned()));
        assert_eq!(answer(b"HTTP/1.1 400 Bad Request\r\n"), Answer::Invalid);
    }

    #[test]
    fn the_user_is_written_in_hexadecimal_digits() {
        assert_eq!(authentication(1000), b"\0AUTH EXTERNAL 31303030\r\n");
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = answer(&bytes);
            let _ = units(&bytes);
            let _ = answer(&reply(METHOD_RETURN, Field::Serial(2), &bytes));
        }
    }
}
