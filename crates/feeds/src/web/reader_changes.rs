//! Changes that programs make by the Google Reader API.

use http::StatusCode;
use serde_json::json;
use syndication::{parse_url, with_scheme};

use super::reader_api::{Api, MAX_IDS, done, reply, unknown_stream};
use super::request::{Reply, text};
use super::streams::{KEPT_UNREAD, LABEL, READ, STARRED, feed_stream, normal};
use crate::entries::Mark;
use crate::error::FeedError;

/// Feeds that one request edits.
const MAX_STREAMS: usize = 1000;

/// A time in microseconds; programs that send milliseconds or seconds mean these: as microseconds they would be in 1970.
fn milliseconds(time: i64) -> i64 {
    match time {
        ..100_000_000_000 => time.saturating_mul(1000),
        100_000_000_000..100_000_000_000_000 => time,
        _ => time / 1000,
    }
}

impl Api<'_, '_, '_> {
    pub(super) fn edit(&mut self) -> Result<Reply, FeedError> {
        let label = |name: &str| normal(self.asked.get(name)).strip_prefix(LABEL).map(str::to_owned);
        let (added, removed) = (label("a"), label("r"));
        let title = self.asked.has("t").then(|| self.asked.get("t").to_owned());
        let streams: Option<Vec<String>> =
            self.asked.all("s").map(|stream| Some(stream.strip_prefix("feed/")?.to_owned())).collect();
        let Some(streams) = streams.filter(|streams| (1..=MAX_STREAMS).contains(&streams.len())) else {
            return Err(FeedError::refused(format!("s must be feed/…, at most {MAX_STREAMS} times")));
        };
        for url in streams {
            if self.asked.get("ac") == "subscribe" {
                let (title, folder) =
                    (title.as_deref().unwrap_or_default(), added.as_deref().unwrap_or_default());
                self.scene.library.subscribe(&self.account, &url, title, folder, self.scene.now_ms)?;
                continue;
            }
            let feed = self.scene.library.subscribed_feed(&self.account, &url)?;
            let Some(feed) = feed else { return Ok(unknown_stream()) };
            if self.asked.get("ac") == "unsubscribe" {
                self.scene.library.unsubscribe(&self.account, feed)?;
                continue;
            }
            if let Some(folder) = &removed {
                self.scene.library.leave_folder(&self.account, feed, folder)?;
            }
            self.scene.library.edit_subscription(&self.account, feed, title.as_deref(), added.as_deref())?;
        }
        Ok(done())
    }

    pub(super) fn quick_add(&mut self) -> Result<Reply, FeedError> {
        let asked = self.asked.get("quickadd");
        let url = with_scheme(asked.strip_prefix("feed/").unwrap_or(asked));
        // As the list of subscriptions has it.
        let url = parse_url(&url).map_or(url, String::from);
        let feed = self.scene.library.subscribe(&self.account, &url, "", "", self.scene.now_ms)?;
        Ok(reply(
            &json!({ "numResults": 1, "query": asked, "streamId": feed_stream(feed), "streamName": url }),
        ))
    }

    pub(super) fn import(&mut self) -> Result<Reply, FeedError> {
        let imported = self.scene.library.import(&self.account, self.asked.body(), self.scene.now_ms)?;
        Ok(text(StatusCode::OK, &format!("OK: {}", imported.subscribed)))
    }

    pub(super) fn edit_tag(&mut self) -> Result<Reply, FeedError> {
        let ids = self.asked_ids(MAX_IDS)?;
        // Whatever a request repeats, an entry is read or not, and starred or not.
        let (mut read, mut starred) = (None, None);
        for (name, value) in [("a", true), ("r", false)] {
            for tag in self.asked.all(name) {
                match normal(tag).as_str() {
                    READ => read = Some(value),
                    KEPT_UNREAD => read = Some(!value),
                    STARRED => starred = Some(value),
                    _ => {}
                }
            }
        }
        for mark in [read.map(Mark::Read), starred.map(Mark::Starred)].into_iter().flatten() {
            self.scene.library.mark(&self.account, &ids, mark, self.scene.now_ms)?;
        }
        Ok(done())
    }

    pub(super) fn rename_tag(&mut self) -> Result<Reply, FeedError> {
        let (from, to) = (normal(self.asked.get("s")), normal(self.asked.get("dest")));
        let from = from.strip_prefix(LABEL).unwrap_or(self.asked.get("t")).to_owned();
        let Some(to) = to.strip_prefix(LABEL) else {
            return Err(FeedError::refused("dest must be user/-/label/…"));
        };
        // Without a name it would be all feeds that are in no folder.
        if from.is_empty() {
            return Err(FeedError::refused("s must be user/-/label/…"));
        }
        self.scene.library.rename_folder(&self.account, &from, to)?;
        Ok(done())
    }

    pub(super) fn disable_tag(&mut self) -> Result<Reply, FeedError> {
        let stream = normal(self.asked.get("s"));
        let folder = stream.strip_prefix(LABEL).unwrap_or(self.asked.get("t"));
        if folder.is_empty() {
            return Err(FeedError::refused("s must be user/-/label/…"));
        }
        self.scene.library.rename_folder(&self.account, folder, "")?;
        Ok(done())
    }

    pub(super) fn mark_all(&mut self) -> Result<Reply, FeedError> {
        if self.asked.get("s").is_empty() {
            return Err(FeedError::refused("s must be a stream"));
        }
        let Some(mut filter) = self.filter(self.asked.get("s"))? else { return Ok(unknown_stream()) };
        if !self.asked.get("ts").is_empty() {
            let Some(seen_ms) = self.asked.number("ts").map(milliseconds) else {
                return Err(FeedError::refused("ts must be a time in microseconds"));
            };
            // What came later has not been seen.
            filter.received_before_ms = Some(seen_ms + 1);
        }
        self.scene.library.mark_all_read(&self.account, &filter, self.scene.now_ms)?;
        Ok(done())
    }
}
