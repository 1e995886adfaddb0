//! When a certificate of TLS is valid: RFC 5280, 4.1, in DER (X.690).
//!
//! Only the few fields that are needed are read: a library for them would bring ten and more crates. Whether the certificate is trusted is
//! decided by the TLS library.

/// When a certificate is valid, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// From then on.
    pub not_before_s: i64,
    /// Until then.
    pub not_after_s: i64,
}

const INTEGER: u8 = 0x02;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
/// `[0]`, constructed: the version.
const VERSION: u8 = 0xa0;

/// The validity of a certificate; `None` if the bytes are not one.
pub fn validity(certificate: &[u8]) -> Option<Validity> {
    let (certificate, _) = value(certificate, SEQUENCE)?;
    let (mut fields, _) = value(certificate, SEQUENCE)?;
    if let Some((_, rest)) = value(fields, VERSION) {
        fields = rest;
    }
    // Serial number, algorithm, issuer.
    for tag in [INTEGER, SEQUENCE, SEQUENCE] {
        (_, fields) = value(fields, tag)?;
    }
    let (validity, _) = value(fields, SEQUENCE)?;
    let (not_before_s, rest) = time(validity)?;
    let (not_after_s, _) = time(rest)?;
    Some(Validity { not_before_s, not_after_s })
}

/// The content of the first value, if it has this tag, and what follows it.
fn value(bytes: &[u8], wanted: u8) -> Option<(&[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first().filter(|(tag, _)| **tag == wanted)?;
    debug_assert_eq!(tag, wanted);
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // 0x80 is not DER. The rest is the number of bytes that the length takes.
        0x80 | 0x85.. => return None,
        _ => {
            let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (length.iter().fold(0, |all, byte| all << 8 | usize::from(*byte)), rest)
        }
    };
    rest.split_at_checked(length)
}

/// A time of 4.1.2.5: `YYMMDDHHMMSSZ` until 2049, then `YYYYMMDDHHMMSSZ`.
fn time(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (digits, rest, year_digits) = match value(bytes, UTC_TIME) {
        Some((digits, rest)) => (digits, rest, 2),
        None => value(bytes, GENERALIZED_TIME).map(|(digits, rest)| (digits, rest, 4))?,
    };
    let digits = digits.strip_suffix(b"Z")?;
    if digits.len() != year_digits + 10 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = |digits: &[u8]| digits.iter().fold(0_i64, |all, digit| all * 10 + i64::from(digit - b'0'));
    let year = match number(&digits[..year_digits]) {
        year if year_digits == 4 => year,
        year if year < 50 => 2000 + year,
        year => 1900 + year,
    };
    let mut pairs = digits[year_digits..].chunks_exact(2).map(number);
    let [month, day, hour, minute, second] = std::array::from_fn(|_| pairs.next().unwrap_or(0));
    if !(1..=12).contains(&month) {
        return None;
    }
    Some((days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second, rest))
}

/// Days since 1970 in the Gregorian calendar. The year begins in March here, so that the leap day is its last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let leap_days = year / 4 - year / 100 + year / 400;
    const UNTIL_1970: i64 = 719_468;
    365 * year + leap_days + (month * 153 + 2) / 5 + day - 1 - UNTIL_1970
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn der(tag: u8, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![tag];
        match u8::try_from(content.len()) {
            Ok(length @ 0..0x80) => bytes.push(length),
            _ => bytes.extend([0x82, (content.len() >> 8) as u8, content.len() as u8]),
        }
        bytes.extend_from_slice(content);
        bytes
    }

    fn certificate(times: &[u8]) -> Vec<u8> {
        let issuer = der(SEQUENCE, &[5; 200]);
        let parts = [
            der(VERSION, &der(INTEGER, &[2])),
            der(INTEGER, &[1, 2, 3]),
            der(SEQUENCE, &[]),
            issuer,
            der(SEQUENCE, times),
            der(SEQUENCE, &[]),
        ];
        der(SEQUENCE, &der(SEQUENCE, &parts.concat()))
    }

    #[test]
    fn times_of_both_kinds_are_read() {
        let times = [der(UTC_TIME, b"991231235959Z"), der(GENERALIZED_TIME, b"20500229120000Z")].concat();
        let expected = Validity { not_before_s: 946_684_799, not_after_s: 2_529_748_800 };
        // 2050 has no leap day: the 29th of February is the first of March.
        assert_eq!(validity(&certificate(&times)), Some(expected));
        let wrong = [der(UTC_TIME, b"991331235959Z"), der(UTC_TIME, b"500101000000Z")].concat();
        assert_eq!(validity(&certificate(&wrong)), None);
    }

    #[test]
    fn a_certificate_that_ends_early_is_none() {
        let times = [der(UTC_TIME, b"260101000000Z"), der(UTC_TIME, b"270101000000Z")].concat();
        let whole = certificate(&times);
        assert!(validity(&whole).is_some());
        let until_key = whole.len() - 2;
        assert!((0..until_key).all(|length| validity(&whole[..length]).is_none()));
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = validity(&bytes);
            let _ = validity(&certificate(&bytes));
        }
    }
}
