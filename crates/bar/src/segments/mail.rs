//! Unread mail.

use std::path::Path;
use std::time::Duration;

use facts::mailbox::MailCount;
use facts::sample::Absence;
use probe::mailbox::Mailbox;

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::query::{Job, Query};
use crate::{Segment, SegmentContext, SegmentInput, Tone};
use text::printable::Shown as _;
use text::template::Value;

pub(crate) const KIND: Kind = Kind {
    name: "mail",
    about: "Messages in mailboxes, mbox or Maildir, all together or each.",
    fields: &[
        field("unread", "messages that were not read"),
        field("new", "of those, the ones that no mail reader has listed"),
        field("total", "all messages"),
        field("news", "which mailboxes have unread ones, where there are several"),
        field("name", "with each: the mailbox's"),
        field("state", "ok, or what is wrong with one of them: missing, denied, unreadable"),
    ],
    format: "mail {unread}[ ({news})]",
    thresholds: &[(Tone::Good, "unread > 0")],
    interval: Some(Duration::from_secs(5)),
    options: &[("paths", "a mailbox, or several"), ("each", "true: the format for each mailbox")],
    make: |options| {
        let paths = options.paths("paths")?;
        if paths.is_empty() {
            return Err(options.fault("this needs paths = \"~/Maildir\""));
        }
        if paths.len() > MAX_BOXES {
            return Err(options.fault(format!("this takes {MAX_BOXES} mailboxes: each is read by a thread")));
        }
        let boxes: Vec<_> = paths.into_iter().map(Mailbox::new).collect();
        let names = boxes.iter().map(|mailbox| name(mailbox.path())).collect();
        let read = |mut mailbox: Mailbox| -> Query<Count, Job<Count>> {
            Query::new(Box::new(move || mailbox.read()))
        };
        Ok(Box::new(Mail {
            names,
            is_each: options.flag("each")?,
            queries: boxes.into_iter().map(read).collect(),
            counts: Vec::new(),
            news: String::new(),
        }))
    },
    ..Kind::DEFAULT
};

/// Threads of one segment.
const MAX_BOXES: usize = 64;

type Count = Result<MailCount, Absence>;

struct Mail {
    names: Vec<String>,
    is_each: bool,
    /// One for each: a mailbox that hangs must not hide the others.
    queries: Vec<Query<Count, Job<Count>>>,
    /// The last answers; kept for their memory.
    counts: Vec<Count>,
    news: String,
}

/// The last part of a path; of `~/Mail/work/` that is "work".
fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.shown().to_string(), |name| name.to_string_lossy().into_owned())
}

impl Segment for Mail {
    fn tick(&mut self, context: &SegmentContext) {
        self.queries.iter_mut().for_each(|query| query.request("mail", context));
    }

    fn is_waiting(&self) -> bool {
        self.queries.iter().any(Query::is_waiting)
    }

    fn render(&mut self, _scene: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        self.counts.clear();
        // One that has not answered yet is none that can be read.
        let answers = self.queries.iter().map(|query| query.last().0);
        self.counts.extend(answers.map(|count| count.unwrap_or(Err(Absence::Unsupported))));
        self.say_counts(items);
        if self.queries.iter().any(|query| query.last().1) {
            items.stale();
        }
    }
}

impl Mail {
    fn say_counts(&mut self, items: &mut ItemRenderer<'_>) {
        let (names, counts) = (&self.names, &self.counts);
        if self.is_each {
            for (name, count) in names.iter().zip(counts) {
                items.named(name, &values(count, None, name));
            }
            return;
        }
        self.news.clear();
        let mut sum = MailCount::default();
        let mut trouble = None;
        for (name, count) in names.iter().zip(counts) {
            match count {
                Ok(count) => {
                    sum += *count;
                    if count.unread > 0 && names.len() > 1 {
                        self.news.push_str(if self.news.is_empty() { "" } else { ", " });
                        self.news.push_str(name);
                    }
                }
                Err(absence) => trouble = trouble.or(Some(*absence)),
            }
        }
        // If some of several mailboxes cannot be read, the sum is marked; if the only one cannot, there is none.
        let all_failed = counts.iter().all(Result::is_err);
        let whole = if all_failed { Err(trouble.unwrap_or_default()) } else { Ok(sum) };
        items.only(&values(&whole, trouble, &self.news));
    }
}

fn values<'a>(count: &Result<MailCount, Absence>, trouble: Option<Absence>, name: &'a str) -> [Value<'a>; 6] {
    let number =
        |part: fn(&MailCount) -> u64| count.as_ref().map_or(Value::Absent, |count| Value::count(part(count)));
    let state = match trouble.or(count.as_ref().err().copied()) {
        None => "ok",
        Some(Absence::Gone) => "missing",
        Some(Absence::Denied) => "denied",
        Some(_) => "unreadable",
    };
    let name = Value::text(name);
    [
        number(|count| count.unread),
        number(|count| count.new),
        number(|count| count.total),
        name,
        name,
        Value::Text(state),
    ]
}
