//! Command lines of notifications: mail as whit sends it itself, or a program for a shell.

use crate::NAGIOS_MACROS;
use formats::nagios::NagiosObject;
use notify::FIELDS;

/// Returns whether a line does what those of Nagios' sample configuration and of Debian do: a text by `printf` or `echo` to `mail` with the
/// contact's address, and nothing else.
pub(super) fn is_stock_mail(line: &str) -> bool {
    let program = |text: &str| {
        let word = text.split_whitespace().next().unwrap_or_default();
        word.rsplit('/').next().unwrap_or_default().to_owned()
    };
    // The text may have a | in it.
    let Some((text, mail)) = line.rsplit_once('|') else { return false };
    let words = shell_words::split(mail).unwrap_or_default();
    let is_plain = !mail.contains([';', '&', '>', '<', '`']) && !text.contains('`') && !text.contains("$(");
    is_plain
        && matches!(program(text).as_str(), "printf" | "echo")
        && matches!(program(mail).as_str(), "mail" | "mailx")
        && words.last().is_some_and(|last| last == "$CONTACTEMAIL$")
        && words.get(1).is_some_and(|option| option == "-s")
        && words.len() == 4
}

/// A line as a program for a shell. Nagios writes values into it; here they are in the environment, where no value is a part of the
/// program, and none is split.
pub(super) fn shell_program(line: &str, contact: &NagiosObject) -> Result<String, String> {
    let mut out = String::with_capacity(line.len());
    let (mut rest, mut quote) = (line, None::<char>);
    while let Some(letter) = rest.chars().next() {
        if letter == '$'
            && let Some(end) = rest[1..].find('$')
            && is_macro(&rest[1..=end])
        {
            push_value(&rest[1..=end], quote, contact, &mut out)?;
            rest = &rest[end + 2..];
            continue;
        }
        match (letter, quote) {
            ('`', _) => return Err("it has backticks".to_owned()),
            ('\\', None | Some('"')) => {
                out.push(letter);
                rest = &rest[1..];
                let Some(next) = rest.chars().next() else { break };
                out.push(next);
                rest = &rest[next.len_utf8()..];
                continue;
            }
            ('\'' | '"', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            _ => {}
        }
        // What would be a field of a receiver is none if it is written in two parts.
        if FIELDS.iter().any(|field| rest.starts_with(field)) {
            let mark = quote.unwrap_or('\'');
            out.extend(['{', mark, mark]);
            rest = &rest[1..];
            continue;
        }
        // `$$` is a dollar sign that is meant.
        if let Some(after) = rest.strip_prefix("$$") {
            out.push('$');
            rest = after;
            continue;
        }
        out.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    match quote {
        None => Ok(out),
        Some(_) => Err("its quotation marks do not end".to_owned()),
    }
}

fn is_macro(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The value of a macro within these quotation marks.
fn push_value(
    name: &str,
    quote: Option<char>,
    contact: &NagiosObject,
    out: &mut String,
) -> Result<(), String> {
    // What is known of the contact does not change.
    let own = match name {
        "CONTACTEMAIL" => Some("email"),
        "CONTACTPAGER" => Some("pager"),
        "CONTACTNAME" => Some("contact_name"),
        "CONTACTALIAS" => Some("alias"),
        name => name.strip_prefix("CONTACTADDRESS").and_then(|number| match number {
            "0" => Some("address1"),
            "1" => Some("address1"),
            "2" => Some("address2"),
            "3" => Some("address3"),
            "4" => Some("address4"),
            "5" => Some("address5"),
            "6" => Some("address6"),
            _ => None,
        }),
    };
    let value = match own {
        Some(key) => {
            let value = contact.get(key).unwrap_or_default();
            if value.contains(['\'', '"', '\\', '$', '`']) {
                return Err(format!("the value of ${name}$ has marks that a shell would read"));
            }
            match quote {
                None if value.is_empty() => "''".to_owned(),
                None => shell_words::quote(value).into_owned(),
                Some(_) => value.to_owned(),
            }
        }
        None if NAGIOS_MACROS.contains(&name) => match quote {
            Some('\'') => format!("'\"$NAGIOS_{name}\"'"),
            Some(_) => format!("${{NAGIOS_{name}}}"),
            None => format!("\"$NAGIOS_{name}\""),
        },
        None => return Err(format!("whit does not know ${name}$")),
    };
    out.push_str(&value);
    Ok(())
}
