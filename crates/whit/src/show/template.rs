//! Format strings: `{used} of {total:Gi,.1}[ swap {swap}]`.
//!
//! A field stands in braces, with options behind a colon, several of them with commas between. What stands in brackets
//! is left out where a field in it is absent. Doubled, braces and brackets stand for themselves.

mod condition;
mod draw;
mod history;
mod parse;
mod plot;
mod spec;
mod value;

pub(crate) use condition::Condition;
pub(crate) use history::{Histories, History};
pub(crate) use plot::push_heights;
pub(crate) use spec::OPTIONS_HELP;
pub(crate) use value::{Unit, Value};

use spec::{Plot, Spec};

/// Something a segment knows, by the name that format strings and conditions use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// What it is, and its unit.
    pub(crate) help: &'static str,
}

/// A text that is no format string or condition, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Bytes from the text's start.
    pub(crate) offset: usize,
    pub(crate) message: String,
}

/// A format string, taken apart once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template {
    parts: Vec<Part>,
    /// How many sparklines it draws, each with a history of its own.
    sparklines: usize,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Literal(String),
    /// Its place among the segment's fields.
    Field {
        index: usize,
        spec: Spec,
    },
    /// Left out where a field in it is absent.
    Group(Vec<Part>),
}

/// What a format string is filled with.
pub(crate) struct Filling<'a> {
    /// One for each of the segment's fields, in their order.
    pub(crate) values: &'a [Value<'a>],
    /// For `icon`: from the lowest value to the highest.
    pub(crate) icons: &'a [String],
    /// Whether values are put into markup, where `&`, `<` and `>` mean something.
    pub(crate) is_markup: bool,
}

impl Template {
    /// Takes a format string apart.
    ///
    /// # Errors
    /// Where it is none, or names a field that the segment does not have.
    pub(crate) fn new(text: &str, fields: &[Field]) -> Result<Self, Fault> {
        parse::template(text, fields)
    }

    /// Appends the text. A sparkline draws the history that is kept for it.
    pub(crate) fn render(&self, filling: &Filling<'_>, history: &History, out: &mut String) {
        render_parts(&self.parts, filling, history, out);
    }

    /// Adds this tick's values to the sparklines' histories.
    pub(crate) fn remember(&self, values: &[Value<'_>], history: &mut History) {
        if self.sparklines > 0 {
            remember_parts(&self.parts, values, history);
        }
    }

    /// Whether it draws the past.
    pub(crate) fn has_sparklines(&self) -> bool {
        self.sparklines > 0
    }
}

fn render_parts(parts: &[Part], filling: &Filling<'_>, history: &History, out: &mut String) {
    for part in parts {
        match part {
            Part::Literal(text) => out.push_str(text),
            Part::Field { index, spec } => {
                draw::push(filling.values[*index], spec, filling, history, out);
            }
            Part::Group(parts) if is_complete(parts, filling.values) => {
                render_parts(parts, filling, history, out);
            }
            Part::Group(_) => {}
        }
    }
}

/// Whether every field that stands in it directly has a value.
fn is_complete(parts: &[Part], values: &[Value<'_>]) -> bool {
    parts.iter().all(|part| match part {
        Part::Field { index, .. } => !values[*index].is_absent(),
        Part::Literal(_) | Part::Group(_) => true,
    })
}

fn remember_parts(parts: &[Part], values: &[Value<'_>], history: &mut History) {
    for part in parts {
        match part {
            Part::Field { index, spec: Spec { plot: Plot::Sparkline { slot, width }, .. } } => {
                history.push(*slot, *width, values[*index].number());
            }
            Part::Group(parts) => remember_parts(parts, values, history),
            Part::Field { .. } | Part::Literal(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [Field; 3] = [
        Field { name: "used", help: "" },
        Field { name: "percent", help: "" },
        Field { name: "name", help: "" },
    ];

    fn text(template: &str) -> String {
        let template = Template::new(template, &FIELDS).unwrap();
        let values =
            [Value::Number(1536.0 * 1024.0, Unit::Bytes), Value::percent(50.0), Value::Text("a<b\u{1b}")];
        let icons = ["low".to_owned(), "high".to_owned()];
        let mut out = String::new();
        let mut history = History::default();
        for percent in [0.0, 100.0, 50.0] {
            template.remember(&[values[0], Value::percent(percent), values[2]], &mut history);
        }
        let filling = Filling { values: &values, icons: &icons, is_markup: true };
        template.render(&filling, &history, &mut out);
        out
    }

    #[test]
    fn fields_are_filled_in() {
        assert_eq!(text("mem {used} {percent}"), "mem 1.5 MiB 50 %");
        assert_eq!(text("{used:Ki,.0} {used:si,.2} {used:bare}"), "1536 KiB 1.57 MB 1.5");
        assert_eq!(text("{used:bits,.1}"), "12.6 Mbit");
        assert_eq!(text("{{{percent:bare}}} [[x]]"), "{50} [x]");
        assert_eq!(text("<{name}>"), "<a&lt;b?>");
        assert_eq!(text("{name:max3}|{name:>5}"), "a&lt;…| a&lt;b?");
        assert_eq!(text("{percent:>7}|{percent:<6}|{percent:^8}|"), "   50 %|50 %  |  50 %  |");
        assert_eq!(text("{percent:bar4} {percent:spark4} {percent:icon}"), "██▁▁ \u{2007}▁█▄ high");
    }

    #[test]
    fn groups_go_with_what_is_absent() {
        let template = Template::new("a[ {used}[ {percent}]]!", &FIELDS).unwrap();
        let said = |used, percent| {
            let mut out = String::new();
            let values = [used, percent, Value::Absent];
            let filling = Filling { values: &values, icons: &[], is_markup: false };
            template.render(&filling, &History::default(), &mut out);
            out
        };
        assert_eq!(said(Value::Absent, Value::percent(1.0)), "a!");
        assert_eq!(said(Value::count(3), Value::Absent), "a 3!");
        assert_eq!(said(Value::count(3), Value::percent(1.0)), "a 3 1 %!");
    }

    #[test]
    fn faults_say_where_and_what_else_there_is() {
        let fault = |text: &str| Template::new(text, &FIELDS).unwrap_err();
        assert_eq!(fault("ab {usde}").offset, 4);
        assert!(fault("ab {usde}").message.contains("did you mean \"used\""), "{:?}", fault("ab {usde}"));
        for text in
            ["{", "}", "[", "]", "{used", "{used:}", "{used:wide}", "{used:>}", "{used:>999}", "{}", "[[a]"]
        {
            assert!(Template::new(text, &FIELDS).is_err(), "{text}");
        }
    }
}
