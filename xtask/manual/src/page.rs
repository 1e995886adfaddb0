//! A document in Markdown as a man page (man(7), tables by tbl(1)).

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::roff::{Font, Page, escaped};

/// A column with longer cells than this takes its part of what the others leave.
const NARROW: usize = 28;
/// A table with so many columns that are wider than this together is shown row by row, each cell with the head of its column.
const MANY_COLUMNS: usize = 4;
const WIDE: usize = 100;

/// Documents for those who work on whit, and the options, which the pages of section 1 have.
const NOT_FOR_USERS: [&str; 2] = ["TESTING", "grammar"];

/// The name of a document's page: that of `REMOTE_WRITE.md` is `whit-remote-write`. Files that are no documents for users have none.
pub(crate) fn name(file: &str) -> Option<String> {
    let stem = file.strip_suffix(".md").filter(|stem| !NOT_FOR_USERS.contains(stem))?;
    let is_word = stem.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '_');
    (is_word && !stem.is_empty()).then(|| format!("whit-{}", stem.to_lowercase().replace('_', "-")))
}

/// Returns the page of this name. The first heading of the document says what it is about.
pub(crate) fn page(name: &str, document: &str) -> String {
    let mut writer = Writer::default();
    for event in Parser::new_ext(document, Options::ENABLE_TABLES) {
        writer.event(event);
    }
    let about = escaped(&std::mem::take(&mut writer.about));
    let (capitals, version) = (escaped(&name.to_uppercase()), env!("CARGO_PKG_VERSION"));
    let name = escaped(name);
    // The first line tells man(1) to run tbl. There is no date, so that builds of two days make the same page. Lines are not adjusted,
    // since those of narrow cells cannot be.
    let head = format!(
        "'\\\" t\n.TH {capitals} 7 \"\" \"whit {version}\" whit\n.ad l\n.SH NAME\n{name} \\- {about}\n.SH DESCRIPTION\n"
    );
    head + &writer.page.into_lines()
}

/// Returns whether the text of a link is the name of a file.
fn is_file(text: &str) -> bool {
    text.ends_with(".md")
}

/// A table whose cells are collected: the widths of columns come before them.
#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    /// The most letters in a cell of each column.
    widths: Vec<usize>,
    letters: usize,
}

/// Writes the events of a document.
#[derive(Default)]
struct Writer {
    page: Page,
    /// The text of the first heading.
    about: String,
    is_title: bool,
    /// In a picture. A page shows none.
    is_picture: bool,
    /// At the beginning of a list's item.
    is_item_new: bool,
    /// The next number of each list that is open; those with bullets have none.
    lists: Vec<Option<u64>>,
    table: Table,
    /// What was written before the cell that is open.
    before_cell: Option<Page>,
    /// The text of the link that is open so far, and its address.
    link: Option<(String, String)>,
}

impl Writer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => {
                // A document that is named by its path is a page here.
                let page = text.strip_prefix("docs/").and_then(name).map(|name| format!("{name}(7)"));
                self.page.begin(Font::Bold);
                self.text(page.as_deref().unwrap_or(&text));
                self.page.end();
            }
            Event::SoftBreak if self.is_title => self.about.push(' '),
            Event::SoftBreak => self.page.space(),
            Event::HardBreak => self.page.request(".br"),
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.is_picture {
            return;
        }
        if self.is_title {
            self.about.push_str(text);
            return;
        }
        if let Some((said, _)) = &mut self.link {
            said.push_str(text);
            // What follows names the page.
            if is_file(text) {
                return;
            }
        }
        self.table.letters += text.chars().count();
        self.page.text(text);
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level: HeadingLevel::H1, .. } => self.is_title = true,
            Tag::Heading { level: HeadingLevel::H2, .. } => self.page.request(".SH"),
            Tag::Heading { .. } => self.page.request(".SS"),
            // The first of an item follows its bullet.
            Tag::Paragraph if std::mem::take(&mut self.is_item_new) => {}
            Tag::Paragraph if !self.lists.is_empty() => self.page.request(".IP \"\" 3"),
            Tag::Paragraph => self.page.request(".PP"),
            Tag::CodeBlock(_) => self.page.request(".PP\n.RS 4\n.nf"),
            Tag::BlockQuote(_) => self.page.request(".RS 4"),
            Tag::List(first) => {
                if !self.lists.is_empty() {
                    self.page.request(".RS 3");
                }
                self.lists.push(first);
            }
            Tag::Item => {
                match self.lists.last_mut() {
                    Some(Some(number)) => {
                        self.page.request(&format!(".IP {number}. 3"));
                        *number += 1;
                    }
                    _ => self.page.request(".IP \\(bu 3"),
                }
                self.is_item_new = true;
            }
            Tag::Emphasis => self.page.begin(Font::Italic),
            Tag::Strong => self.page.begin(Font::Bold),
            Tag::Image { .. } => self.is_picture = true,
            Tag::Link { dest_url, .. } => self.link = Some((String::new(), dest_url.into_string())),
            Tag::Table(_) => self.table = Table::default(),
            Tag::TableHead | Tag::TableRow => self.table.rows.push(Vec::new()),
            Tag::TableCell => {
                self.before_cell = Some(std::mem::take(&mut self.page));
                self.table.letters = 0;
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(HeadingLevel::H1) => self.is_title = false,
            TagEnd::Heading(_) | TagEnd::Paragraph => self.page.end_line(),
            TagEnd::CodeBlock => self.page.request(".fi\n.RE"),
            TagEnd::BlockQuote(_) => self.page.request(".RE"),
            TagEnd::List(_) => {
                self.lists.pop();
                if !self.lists.is_empty() {
                    self.page.request(".RE");
                }
            }
            TagEnd::Item => {
                self.page.end_line();
                self.is_item_new = false;
            }
            TagEnd::Emphasis | TagEnd::Strong => self.page.end(),
            TagEnd::Image => self.is_picture = false,
            TagEnd::Link => self.end_link(),
            TagEnd::TableCell => self.end_cell(),
            TagEnd::Table => self.end_table(),
            _ => {}
        }
    }

    /// Names what a link leads to: another page, or an address.
    fn end_link(&mut self) {
        let Some((said, address)) = self.link.take() else { return };
        let file = address.split('#').next().unwrap_or_default();
        let page = name(file.rsplit('/').next().unwrap_or_default()).filter(|_| !file.starts_with(".."));
        let to = match page {
            Some(page) => Some(format!("{page}(7)")),
            None => Some(address.clone()).filter(|address| address.contains("://") && said != *address),
        };
        match to {
            Some(to) if is_file(&said) => self.text(&to),
            Some(to) => self.text(&format!(" ({to})")),
            // The text was held back for a page that there is not.
            None if is_file(&said) => self.text(&said),
            None => {}
        }
    }

    fn end_cell(&mut self) {
        let Some(before) = self.before_cell.take() else { return };
        let cell = std::mem::replace(&mut self.page, before).into_lines();
        let Some(row) = self.table.rows.last_mut() else { return };
        let column = row.len();
        row.push(cell);
        if self.table.widths.len() <= column {
            self.table.widths.resize(column + 1, 0);
        }
        self.table.widths[column] = self.table.widths[column].max(self.table.letters);
    }

    fn end_table(&mut self) {
        let table = std::mem::take(&mut self.table);
        if table.widths.len() >= MANY_COLUMNS && table.widths.iter().sum::<usize>() > WIDE {
            return self.rows(&table.rows);
        }
        let format = |width: &usize| if *width > NARROW { "lx" } else { "l" };
        let formats: Vec<&str> = table.widths.iter().map(format).collect();
        self.page.request(&format!(".PP\n.TS\nnokeep tab(|);\n{}.", formats.join(" ")));
        for (index, row) in table.rows.iter().enumerate() {
            // Some tables have no head.
            if index == 0 && row.iter().all(String::is_empty) {
                continue;
            }
            let cells: Vec<String> = row.iter().map(|cell| format!("T{{\n{cell}T}}")).collect();
            self.page.request(&cells.join("|"));
            if index == 0 {
                self.page.request("_");
            }
        }
        self.page.request(".TE");
    }

    /// Shows rows one after the other: the first cell, and below it the others.
    fn rows(&mut self, rows: &[Vec<String>]) {
        let Some((head, rows)) = rows.split_first() else { return };
        for row in rows {
            self.page.request(".TP");
            for (index, cell) in row.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
                if index > 1 {
                    self.page.request(".br");
                }
                let head = head.get(index).map(|head| head.trim_end()).unwrap_or_default();
                let named =
                    if index == 0 || head.is_empty() { cell.clone() } else { format!("{head}: {cell}") };
                self.page.request(named.trim_end());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(document: &str) -> String {
        let page = page("whit-x", document);
        page.split_once("DESCRIPTION\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
    }

    #[test]
    fn documents_have_names() {
        assert_eq!(name("REMOTE_WRITE.md").as_deref(), Some("whit-remote-write"));
        assert_eq!(name("relabel.toml"), None);
        assert_eq!(name(".md"), None);
    }

    #[test]
    fn a_page_has_its_name() {
        let page = page("whit-x", "# The about\n");
        assert!(page.contains(".SH NAME\nwhit\\-x \\- The about\n"), "{page}");
    }

    #[test]
    fn paragraphs_lists_and_code() {
        let text =
            body("# about\n\nOne\ntwo `a-b` *c*.\n\n## Part\n\n- x\n- y\n\n  z\n\n```sh\n.a\n\n'b\n```\n");
        assert_eq!(
            text,
            ".PP\nOne two \\fBa\\-b\\fR \\fIc\\fR.\n.SH\nPart\n.IP \\(bu 3\nx\n.IP \\(bu 3\ny\n.IP \"\" 3\nz\n\
             .PP\n.RS 4\n.nf\n\\&.a\n\n\\&\\(aqb\n.fi\n.RE\n"
        );
    }

    #[test]
    fn links_lead_to_pages() {
        let text = body(
            "# about\n\n[the agent](AGENT.md#x), [code](../ARCHITECTURE.md), [peer](https://example.org), [docs/WHY.md](WHY.md), `docs/AGE.md`,\n[ARCHITECTURE.md](../ARCHITECTURE.md#x)\n",
        );
        assert_eq!(
            text,
            ".PP\nthe agent (whit\\-agent(7)), code, peer (https://example.org), whit\\-why(7), \\fBwhit\\-age(7)\\fR, ARCHITECTURE.md\n"
        );
    }

    #[test]
    fn wide_tables_are_shown_by_rows() {
        let long = "word ".repeat(30);
        let text = body(&format!("# about\n\n| a | b | c | d |\n|---|---|---|---|\n| x | y | | {long} |\n"));
        assert_eq!(text, format!(".TP\nx\nb: y\n.br\nd: {}\n", long.trim_end()));
    }

    #[test]
    fn tables_have_their_cells() {
        let text =
            body("# about\n\n| a | b |\n|---|---|\n| `x\\|y` | a cell that is longer than others are |\n");
        assert_eq!(
            text,
            ".PP\n.TS\nnokeep tab(|);\nl lx.\nT{\na\nT}|T{\nb\nT}\n_\n\
             T{\n\\fBx|y\\fR\nT}|T{\na cell that is longer than others are\nT}\n.TE\n"
        );
    }
}
