//! Format strings: `{used} of {total:Gi,.1}[ swap {swap}]`.
//!
//! A field is written in braces. Its options follow a colon, separated by commas. Text in brackets is left out if a field in it is
//! absent. Doubled braces and brackets stand for themselves.

mod condition;
mod draw;
mod field;
mod filling;
mod history;
mod parse;
mod plot;
mod spec;
mod value;

pub use condition::Condition;
pub use field::{Fault, Field};
pub use filling::Filling;
pub use history::{Histories, History};
pub use plot::push_heights;
pub use spec::OPTIONS_HELP;
pub use value::{Unit, Value};

use parse::Part;
use spec::Plot;

/// A parsed format string.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    parts: Vec<Part>,
    /// The number of its sparklines. Each has its own history.
    sparklines: usize,
}

impl Template {
    /// Parses a format string.
    ///
    /// # Errors
    /// Returns a [`Fault`] for a syntax error and for an unknown field.
    pub fn new(text: &str, fields: &[Field]) -> Result<Self, Fault> {
        let (parts, sparklines) = parse::parts(text, fields)?;
        Ok(Self { parts, sparklines })
    }

    /// Appends the text. Sparklines are drawn from `history`.
    pub fn render(&self, filling: &Filling<'_>, history: &History, out: &mut String) {
        render_parts(&self.parts, filling, history, out);
    }

    /// Adds the values of this tick to the histories of the sparklines.
    pub fn remember(&self, values: &[Value<'_>], history: &mut History) {
        if self.sparklines > 0 {
            remember_parts(&self.parts, values, history);
        }
    }

    /// Returns true if it has sparklines.
    pub fn has_sparklines(&self) -> bool {
        self.sparklines > 0
    }
}

fn render_parts(parts: &[Part], filling: &Filling<'_>, history: &History, out: &mut String) {
    for part in parts {
        match part {
            Part::Literal(text) => out.push_str(text),
            Part::Field { index, spec: None } => draw::push(filling.values[*index], filling.is_markup, out),
            Part::Field { index, spec: Some(spec) } => {
                draw::push_with(filling.values[*index], spec, filling, history, out);
            }
            Part::Group(parts) if is_complete(parts, filling.values) => {
                render_parts(parts, filling, history, out);
            }
            Part::Group(_) => {}
        }
    }
}

/// Returns true if all fields in it have values. Fields of inner groups do not count.
fn is_complete(parts: &[Part], values: &[Value<'_>]) -> bool {
    parts.iter().all(|part| match part {
        Part::Field { index, .. } => !values[*index].is_absent(),
        Part::Literal(_) | Part::Group(_) => true,
    })
}

fn remember_parts(parts: &[Part], values: &[Value<'_>], history: &mut History) {
    for part in parts {
        match part {
            Part::Field { index, spec: Some(spec) } => {
                if let Plot::Sparkline { slot, width } = spec.plot {
                    history.push(slot, width, values[*index].number());
                }
            }
            Part::Group(parts) => remember_parts(parts, values, history),
            Part::Field { spec: None, .. } | Part::Literal(_) => {}
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
    fn groups_with_absent_fields_are_left_out() {
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
    fn faults_have_a_place_and_a_suggestion() {
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
