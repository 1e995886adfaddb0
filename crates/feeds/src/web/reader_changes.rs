//! What programs change by the Google Reader API.

use http::StatusCode;
use serde_json::json;
use syndication::{parse_url, with_scheme};

use super::reader_api::{Api, MOST_IDS, done, reply, unknown_stream};
use super::request::{Reply, text};
use super::streams::{KEPT_UNREAD, LABEL, READ, STARRED, entry_id, normal};
use crate::entries::Mark;
use crate::error::FeedError;

impl Api<'_, '_, '_> {
    pub(super) fn edit(&mut self) -> Result<Reply, FeedError> {
        let label = |name: &str| normal(self.asked.get(name)).strip_prefix(LABEL).map(str::to_owned);
        let (added, removed) = (label("a"), label("r"));
        let title = self.asked.has("t").then(|| self.asked.get("t").to_owned());
        let streams: Vec<String> = self
            .asked
            .all("s")
            .filter_map(|stream| stream.strip_prefix("feed/"))
            .map(str::to_owned)
            .collect();
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
        self.scene.library.subscribe(&self.account, &url, "", "", self.scene.now_ms)?;
        Ok(reply(
            &json!({ "numResults": 1, "query": asked, "streamId": format!("feed/{url}"), "streamName": url }),
        ))
    }

    pub(super) fn import(&mut self) -> Result<Reply, FeedError> {
        let imported = self.scene.library.import(&self.account, self.asked.body(), self.scene.now_ms)?;
        Ok(text(StatusCode::OK, &format!("OK: {}", imported.subscribed)))
    }

    pub(super) fn edit_tag(&mut self) -> Result<Reply, FeedError> {
        let ids: Vec<i64> = self.asked.all("i").filter_map(entry_id).take(MOST_IDS).collect();
        for (name, value) in [("a", true), ("r", false)] {
            for tag in self.asked.all(name) {
                let mark = match normal(tag).as_str() {
                    READ => Mark::Read(value),
                    KEPT_UNREAD => Mark::Read(!value),
                    STARRED => Mark::Starred(value),
                    _ => continue,
                };
                self.scene.library.mark(&self.account, &ids, mark, self.scene.now_ms)?;
            }
        }
        Ok(done())
    }

    pub(super) fn rename_tag(&mut self) -> Result<Reply, FeedError> {
        let (from, to) = (normal(self.asked.get("s")), normal(self.asked.get("dest")));
        let from = from.strip_prefix(LABEL).unwrap_or(self.asked.get("t")).to_owned();
        let Some(to) = to.strip_prefix(LABEL) else {
            return Ok(text(StatusCode::BAD_REQUEST, "dest is no label"));
        };
        self.scene.library.rename_folder(&self.account, &from, to)?;
        Ok(done())
    }

    pub(super) fn disable_tag(&mut self) -> Result<Reply, FeedError> {
        let stream = normal(self.asked.get("s"));
        let folder = stream.strip_prefix(LABEL).unwrap_or(self.asked.get("t"));
        self.scene.library.rename_folder(&self.account, folder, "")?;
        Ok(done())
    }

    pub(super) fn mark_all(&mut self) -> Result<Reply, FeedError> {
        let Some(mut filter) = self.filter(self.asked.get("s"))? else { return Ok(unknown_stream()) };
        // Microseconds: what came later has not been seen.
        filter.received_before_ms = self.asked.number("ts").map(|micros| micros / 1000 + 1);
        self.scene.library.mark_all_read(&self.account, &filter, self.scene.now_ms)?;
        Ok(done())
    }
}
