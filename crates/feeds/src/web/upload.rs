//! A form with a file: multipart/form-data (RFC 7578).

/// Parts of a form; others are ignored.
const MAX_PARTS: usize = 32;

/// The boundary that a Content-Type names.
pub(super) fn boundary(content_type: &str) -> Option<String> {
    let parameters = content_type.strip_prefix("multipart/form-data")?;
    let value = parameters.split(';').find_map(|parameter| parameter.trim().strip_prefix("boundary="))?;
    let value = value.trim_matches('"');
    (1..=70).contains(&value.len()).then(|| format!("--{value}"))
}

/// The fields of a form, and its file.
pub(super) fn parse(body: &[u8], boundary: &str) -> (Vec<(String, String)>, Option<Vec<u8>>) {
    let (mut fields, mut file) = (Vec::new(), None);
    let mut rest = body;
    let mut parts = 0;
    while let Some(start) = find(rest, boundary.as_bytes()) {
        rest = &rest[start + boundary.len()..];
        if rest.starts_with(b"--") || parts >= MAX_PARTS {
            break;
        }
        parts += 1;
        let end = find(rest, boundary.as_bytes()).unwrap_or(rest.len());
        let part = &rest[..end];
        let Some(head) = find(part, b"\r\n\r\n") else { continue };
        let content = &part[head + 4..];
        let content = content.strip_suffix(b"\r\n").unwrap_or(content);
        let head = String::from_utf8_lossy(&part[..head]).into_owned();
        let Some(name) = parameter(&head, " name=\"") else { continue };
        match parameter(&head, " filename=\"") {
            Some(_) => file = Some(content.to_vec()),
            None => fields.push((name, String::from_utf8_lossy(content).into_owned())),
        }
    }
    (fields, file)
}

fn parameter(head: &str, start: &str) -> Option<String> {
    let rest = &head[head.find(start)? + start.len()..];
    rest.split('"').next().map(str::to_owned)
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|part| part == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_fields_and_a_file() {
        let boundary = boundary("multipart/form-data; boundary=\"xyz\"").unwrap();
        let body = b"--xyz\r\nContent-Disposition: form-data; name=\"form\"\r\n\r\nabc\r\n\
            --xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.opml\"\r\nContent-Type: text/xml\r\n\r\n<opml>\r\n</opml>\r\n--xyz--\r\n";
        let (fields, file) = parse(body, &boundary);
        assert_eq!(fields, [("form".to_owned(), "abc".to_owned())]);
        assert_eq!(file.unwrap(), b"<opml>\r\n</opml>");
    }

    #[test]
    fn no_form_panics() {
        proptest::proptest!(|(body in "[-xy\r\n\";=a-f ]{0,200}")| {
            let _ = parse(body.as_bytes(), "--xy");
        });
        assert_eq!(boundary("multipart/form-data"), None);
        assert_eq!(boundary("multipart/form-data; boundary="), None);
    }
}
