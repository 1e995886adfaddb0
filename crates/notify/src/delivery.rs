//! Notifications and their outcomes.

use std::ops::Range;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Records, StoreError};

use super::job::Action;
use super::receiver::{Receiver, Way, WebhookForm};
use crate::json_records::{self, RecordChange};

/// Deliveries that are over and still known.
const MAX_OVER: usize = 100;
/// Deliveries that wait; what is beyond is given up, the oldest first.
const MAX_WAITING: usize = 1000;

/// The subject of notifications: an alert, a change of a check.
pub trait Subject: Clone + PartialEq + Serialize + DeserializeOwned {
    /// The key by which it is distinguished from others: notifications of one subject are sent to a receiver in the order in which they
    /// were made.
    fn key(&self) -> String;

    /// Its name in the log: `the alert "disk full"`.
    fn title(&self) -> String;

    /// The text for a person: a line, and the rest.
    fn letter(delivery: &Delivery<Self>) -> Letter;

    /// The document for a program.
    fn document(delivery: &Delivery<Self>) -> serde_json::Value;

    /// The variables for a command: the values of the fields in its words, and its environment.
    fn variables(delivery: &Delivery<Self>) -> Variables;
}

/// A text for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// In a line.
    pub line: String,
    /// The rest, in lines.
    pub text: String,
}

/// The fields and the environment of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// The fields in its words, with braces, and their values.
    pub fields: Vec<(&'static str, String)>,
    /// Its environment.
    pub environment: Vec<(String, String)>,
}

/// Returns the action that sends a delivery.
pub(crate) fn action<T: Subject>(delivery: &Delivery<T>, way: &Way) -> Action {
    match way {
        Way::Command(words) => {
            let Variables { fields, environment } = T::variables(delivery);
            // A variable cannot contain a zero byte.
            let environment = environment.into_iter().map(|(name, value)| (name, value.replace('\0', "")));
            Action::Command {
                words: words.iter().map(|word| fill(word, &fields)).collect(),
                environment: environment.collect(),
            }
        }
        Way::Webhook { url, form } => {
            let body = match form {
                WebhookForm::Whole => T::document(delivery),
                WebhookForm::Text(field) => {
                    let Letter { line, text } = T::letter(delivery);
                    let whole = format!("{line}\n{text}");
                    json!({ *field: shortened(whole.trim_end(), most_letters(field)) })
                }
            };
            Action::Post { url: url.clone(), body: body.to_string() }
        }
        Way::Mail(options) => {
            let Letter { line, text } = T::letter(delivery);
            let mut options = options.clone();
            if !delivery.left_to.is_empty() {
                options.to.retain(|to| delivery.left_to.contains(to));
            }
            Action::Mail { options, subject: line.clone(), text: format!("{line}\n\n{text}") }
        }
    }
}

/// Returns how many letters a chat takes as one message: Discord, whose field is `content`, 2,000, others at least 4,000. It refuses longer ones.
fn most_letters(field: &str) -> usize {
    if field == "content" { 2_000 } else { 4_000 }
}

/// Cuts a text to so many letters. A text that was cut ends with `…`.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

/// A word with fields; what these contain is not looked at again.
fn fill(word: &str, fields: &[(&str, String)]) -> String {
    let mut out = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let field = fields.iter().find(|(field, _)| rest.starts_with(field));
        let (written, length) = field.map_or(("{", 1), |(field, value)| (value.as_str(), field.len()));
        out.push_str(written);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out.replace('\0', "")
}

/// A notification for one receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery<T> {
    /// Distinguishes it from all others, for receivers that want to be sure.
    pub id: String,
    /// Its name.
    pub receiver: String,
    /// Its subject, as that was.
    #[serde(alias = "alert")]
    pub subject: T,
    /// It says that this is over.
    pub is_end: bool,
    /// When that was, in milliseconds since 1970.
    pub created_ms: i64,
    /// How often it was tried.
    pub attempts: u32,
    /// It is not tried before, in milliseconds since 1970.
    pub next_ms: i64,
    /// How it ended; `None`: it has not.
    pub outcome: Option<Outcome>,
    /// Why the last attempt failed.
    pub reason: String,
    /// The addresses of a mail that do not have it, where others have it; empty: all.
    #[serde(default)]
    pub left_to: Vec<String>,
    /// When these others got it, in milliseconds since 1970.
    #[serde(default)]
    pub partly_ms: Option<i64>,
}

/// How a delivery ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The receiver has it.
    Delivered,
    /// It is not known whether the receiver has it, so that it is not sent again.
    Unknown,
    /// The receiver does not have it, and it is too late.
    GivenUp,
}

impl<T> Delivery<T> {
    /// A delivery that is due at once.
    pub fn new(receiver: &Receiver, subject: T, is_end: bool, now_ms: i64) -> Self {
        Self {
            id: String::new(),
            receiver: receiver.name.clone(),
            subject,
            is_end,
            created_ms: now_ms,
            attempts: 0,
            next_ms: now_ms,
            outcome: None,
            reason: String::new(),
            left_to: Vec::new(),
            partly_ms: None,
        }
    }
}

/// The deliveries in a ledger: those of its records with certain keys.
#[derive(Clone, Debug)]
pub struct DeliveryRecords(pub Range<i64>);

impl DeliveryRecords {
    /// All that are known, the oldest first, each with its key.
    pub fn all<T: Subject>(&self, records: &Records) -> Result<Vec<(i64, Delivery<T>)>, StoreError> {
        json_records::read(records, self.0.clone())
    }

    /// Returns what is to be written for new ones, together with what they are about.
    pub fn with<T: Subject>(
        &self,
        records: &Records,
        new: &[Delivery<T>],
    ) -> Result<RecordChange, StoreError> {
        let known = self.all::<T>(records)?;
        let first = known.last().map_or(self.0.start, |(key, _)| *key) + 1;
        let numbered = (first..).zip(new).map(|(key, delivery)| {
            let id = format!("{:x}-{:x}", delivery.created_ms, key - self.0.start);
            (key, json_records::json(&Delivery { id, ..delivery.clone() }))
        });
        let is_over = |(_, delivery): &&(i64, Delivery<T>)| delivery.outcome.is_some();
        let over: Vec<i64> = known.iter().filter(is_over).map(|(key, _)| *key).collect();
        let waiting: Vec<i64> = known.iter().filter(|one| !is_over(one)).map(|(key, _)| *key).collect();
        let beyond = |keys: &[i64], most: usize| keys[..keys.len().saturating_sub(most)].to_vec();
        let forgotten = [beyond(&over, MAX_OVER), beyond(&waiting, MAX_WAITING)].concat();
        Ok(RecordChange { records: numbered.collect(), forgotten })
    }

    /// Writes what became of one.
    pub fn update<T: Subject>(
        &self,
        records: &mut Records,
        key: i64,
        delivery: &Delivery<T>,
    ) -> Result<(), StoreError> {
        records.put([(key, json_records::json(delivery).as_slice())].into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_filled_once() {
        let fields = [("{name}", "a {text}".to_owned()), ("{text}", "b".to_owned())];
        assert_eq!(fill("{name}: {text}, {other} {", &fields), "a {text}: b, {other} {");
    }

    #[test]
    fn a_text_is_as_long_as_a_chat_takes() {
        assert_eq!(shortened("größer", 6), "größer");
        assert_eq!(shortened("größeres", 6), "größe…");
        assert_eq!(shortened(&"ß".repeat(9000), most_letters("content")).chars().count(), 2000);
    }
}
