//! The Google Reader API, as FreshRSS, Miniflux and FeedHQ have it: what phones and desktops synchronise with.
//!
//! There is no specification of Google's; <https://feedhq.readthedocs.io/en/latest/api/> describes it.

use std::collections::HashSet;

use http::{HeaderValue, Method, StatusCode};
use serde_json::{Value, json};

use super::atom;
use super::request::{Asked, Reply, opml, place_text, plain, text};
use super::scene::Scene;
use super::sign_in::verify;
use super::streams::{KEPT_UNREAD, LABEL, READ, READING_LIST, STARRED, entry_id, feed_stream, item, normal};
use crate::accounts::{Account, SessionKind, form_token};
use crate::entries::{FeedEntry, MAX_LISTED};
use crate::entry_filter::EntryFilter;
use crate::error::FeedError;

const JSON: &str = "application/json; charset=utf-8";
/// Entries of an answer if the client does not say how many.
const USUAL_COUNT: usize = 20;
/// Entries with their contents in one answer.
const MAX_CONTENTS: usize = 250;
/// An answer ends after the entry that exceeds this.
const MAX_CONTENT_BYTES: usize = 8 * 1024 * 1024;
/// Numbers of entries in one answer.
pub(super) const MAX_IDS: usize = 10_000;

pub(super) fn answer(scene: &mut Scene<'_>, asked: &Asked, path: &str) -> Result<Reply, FeedError> {
    if path == "accounts/ClientLogin" {
        return match *asked.method() {
            Method::POST => client_login(scene, asked),
            // An address with a password in it would be written to logs.
            _ => Ok(text(StatusCode::METHOD_NOT_ALLOWED, "POST")),
        };
    }
    let token = session_of(asked);
    let account = match token {
        Some(token) => scene.library.account_of_session(token, scene.now_ms)?,
        None => None,
    };
    let (Some(account), Some(token)) = (account, token) else {
        return Ok(text(StatusCode::UNAUTHORIZED, "Unauthorized"));
    };
    let mut api = Api { scene, account, asked };
    if let Some(stream) = path.strip_prefix("reader/atom/") {
        return api.atom(&decoded(stream));
    }
    let path = path.strip_prefix("reader/api/0/").unwrap_or_default();
    match path {
        "token" => Ok(text(StatusCode::OK, &form_token(token))),
        "user-info" => Ok(reply(&json!({
            "userId": api.account.id.to_string(),
            "userName": api.account.name,
            "userProfileId": api.account.id.to_string(),
            "userEmail": "",
        }))),
        "tag/list" => api.tags(),
        "subscription/list" => api.subscriptions(),
        "subscription/export" => Ok(opml(&api.scene.library.export(&api.account)?)),
        "unread-count" => api.unread_counts(),
        "preference/list" => Ok(reply(&json!({ "prefs": [] }))),
        "preference/stream/list" => Ok(reply(&json!({ "streamprefs": {} }))),
        "friend/list" => Ok(reply(&json!({ "friends": [] }))),
        "stream/items/ids" => api.ids(),
        "stream/items/count" => api.count(),
        "stream/items/contents" => api.contents_of_ids(),
        _ if path.starts_with("stream/contents") => {
            let stream = path.strip_prefix("stream/contents").unwrap_or_default().trim_start_matches('/');
            let stream = decoded(stream);
            api.contents(&stream)
        }
        // What changes something must come by POST, with the token that this session got.
        _ if *asked.method() != Method::POST => Ok(text(StatusCode::NOT_FOUND, "Not Found")),
        _ if !asked.get("T").is_empty() && asked.get("T") != form_token(token) => {
            let mut reply = text(StatusCode::UNAUTHORIZED, "Invalid token");
            // By this programs know that they need another one.
            reply.headers_mut().insert("x-reader-google-bad-token", HeaderValue::from_static("true"));
            Ok(reply)
        }
        "subscription/edit" => api.edit(),
        "subscription/quickadd" => api.quick_add(),
        "subscription/import" => api.import(),
        "edit-tag" => api.edit_tag(),
        "rename-tag" => api.rename_tag(),
        "disable-tag" => api.disable_tag(),
        "mark-all-as-read" => api.mark_all(),
        _ => Ok(text(StatusCode::NOT_FOUND, "Not Found")),
    }
}

/// The token that a program shows.
pub(super) fn session_of(asked: &Asked) -> Option<&str> {
    asked.header("authorization")?.strip_prefix("GoogleLogin auth=")
}

fn client_login(scene: &mut Scene<'_>, asked: &Asked) -> Result<Reply, FeedError> {
    let account = match verify(scene, asked.get("Email"), asked.get("Passwd"))? {
        Ok(account) => account,
        Err(refusal) => return Ok(text(refusal.status(), "Error=BadAuthentication\n")),
    };
    let token = scene.library.begin_session(&account, SessionKind::Program, scene.now_ms)?;
    if asked.get("output") == "json" {
        return Ok(reply(&json!({ "SID": token, "LSID": token, "Auth": token })));
    }
    Ok(text(StatusCode::OK, &format!("SID={token}\nLSID={token}\nAuth={token}\n")))
}

pub(super) fn reply(value: &Value) -> Reply {
    plain(StatusCode::OK, JSON, &value.to_string())
}

pub(super) fn done() -> Reply {
    text(StatusCode::OK, "OK")
}

fn decoded(text: &str) -> String {
    // In a path these mean nothing else.
    let text = text.replace('+', "%2B").replace('&', "%26").replace('=', "%3D");
    form_urlencoded::parse(text.as_bytes()).next().map_or_else(String::new, |(text, _)| text.into_owned())
}

/// A request of an account.
pub(super) struct Api<'s, 'l, 'a> {
    pub(super) scene: &'s mut Scene<'l>,
    pub(super) account: Account,
    pub(super) asked: &'a Asked,
}

impl Api<'_, '_, '_> {
    fn folders(&self) -> Result<Vec<String>, FeedError> {
        let all = self.scene.library.subscriptions(&self.account)?;
        let mut folders: Vec<String> =
            all.into_iter().map(|one| one.folder).filter(|folder| !folder.is_empty()).collect();
        folders.dedup();
        Ok(folders)
    }

    fn tags(&self) -> Result<Reply, FeedError> {
        let mut tags = vec![json!({ "id": STARRED, "sortid": "A0000001" })];
        for folder in self.folders()? {
            tags.push(json!({ "id": format!("{LABEL}{folder}"), "type": "folder", "sortid": "A0000002" }));
        }
        Ok(reply(&json!({ "tags": tags })))
    }

    fn subscriptions(&self) -> Result<Reply, FeedError> {
        let all = self.scene.library.subscriptions(&self.account)?;
        let one = |one: &crate::subscriptions::Subscription| {
            let categories = match one.folder.is_empty() {
                true => json!([]),
                false => json!([{ "id": format!("{LABEL}{}", one.folder), "label": one.folder }]),
            };
            json!({
                "id": feed_stream(one.feed),
                "title": one.title,
                "categories": categories,
                "sortid": format!("{:08X}", one.feed),
                "firstitemmsec": "0",
                "url": one.url,
                "htmlUrl": one.site,
                "iconUrl": "",
            })
        };
        Ok(reply(&json!({ "subscriptions": all.iter().map(one).collect::<Vec<_>>() })))
    }

    fn unread_counts(&self) -> Result<Reply, FeedError> {
        let all = self.scene.library.subscriptions(&self.account)?;
        let newest = |ms: i64| (ms.max(0) * 1000).to_string();
        let count = |id: String, unread: u64, newest_ms: i64| json!({ "id": id, "count": unread, "newestItemTimestampUsec": newest(newest_ms) });
        let sum = |folder: Option<&str>| {
            let of = all.iter().filter(|one| folder.is_none_or(|folder| one.folder == folder));
            of.fold((0, 0), |(unread, newest_ms), one| {
                (unread + one.unread, newest_ms.max(one.newest_received_ms.unwrap_or(0)))
            })
        };
        let mut counts: Vec<Value> = all
            .iter()
            .map(|one| count(feed_stream(one.feed), one.unread, one.newest_received_ms.unwrap_or(0)))
            .collect();
        for folder in self.folders()? {
            let (unread, newest_ms) = sum(Some(&folder));
            counts.push(count(format!("{LABEL}{folder}"), unread, newest_ms));
        }
        let (unread, newest_ms) = sum(None);
        counts.push(count(READING_LIST.to_owned(), unread, newest_ms));
        Ok(reply(&json!({ "max": 1_000_000, "unreadcounts": counts })))
    }

    /// Returns the filter for a stream; `None` if there is no such stream.
    pub(super) fn filter(&self, stream: &str) -> Result<Option<EntryFilter>, FeedError> {
        let mut filter = EntryFilter::default();
        match normal(stream).as_str() {
            "" | READING_LIST => {}
            READ => filter.is_read = true,
            KEPT_UNREAD => filter.is_unread = true,
            STARRED => filter.is_starred = true,
            stream => match (stream.strip_prefix(LABEL), stream.strip_prefix("feed/")) {
                (Some(folder), _) => filter.folder = Some(folder.to_owned()),
                (None, Some(url)) => match self.scene.library.subscribed_feed(&self.account, url)? {
                    Some(feed) => filter.feed = Some(feed),
                    None => return Ok(None),
                },
                (None, None) => return Ok(None),
            },
        }
        Ok(Some(filter))
    }

    /// The filter with all that the address says of it.
    fn asked_filter(&self, stream: &str, most: usize) -> Result<Option<EntryFilter>, FeedError> {
        let Some(mut filter) = self.filter(stream)? else { return Ok(None) };
        for excluded in self.asked.all("xt") {
            filter.is_unread |= normal(excluded) == READ;
        }
        for included in self.asked.all("it") {
            match normal(included).as_str() {
                READ => filter.is_read = true,
                STARRED => filter.is_starred = true,
                KEPT_UNREAD => filter.is_unread = true,
                _ => {}
            }
        }
        // Programs ask for what came since they asked last, whatever its date.
        filter.received_since_ms = self.asked.number("ot").map(|seconds| seconds.saturating_mul(1000));
        filter.received_before_ms = self.asked.number("nt").map(|seconds| seconds.saturating_mul(1000));
        filter.is_oldest_first = self.asked.get("r") == "o";
        let count = self.asked.number("n").and_then(|count| usize::try_from(count).ok());
        filter.limit = count.filter(|count| *count > 0).unwrap_or(USUAL_COUNT).min(most);
        if !self.asked.get("c").is_empty() {
            filter.after = self.asked.place("c");
            if filter.after.is_none() {
                return Err(FeedError::refused("c must be the continuation of the previous answer"));
            }
        }
        Ok(Some(filter))
    }

    /// The numbers of entries that the request names.
    pub(super) fn asked_ids(&self, most: usize) -> Result<Vec<i64>, FeedError> {
        let ids: Vec<i64> = self.asked.all("i").filter_map(entry_id).take(most + 1).collect();
        match ids.len() > most {
            true => Err(FeedError::refused(format!("at most {most} entries at a time"))),
            false => Ok(ids),
        }
    }

    /// The entries of a filter, and where the next ones begin.
    fn listed(&self, filter: &EntryFilter) -> Result<(Vec<FeedEntry>, Option<String>), FeedError> {
        let mut filter = filter.clone();
        let wanted = filter.limit;
        let mut all: Vec<FeedEntry> = Vec::new();
        loop {
            filter.limit = (wanted - all.len()).min(MAX_LISTED);
            let part = self.scene.library.entries(&self.account, &filter)?;
            let is_last = part.len() < filter.limit;
            all.extend(part);
            let Some(last) = all.last() else { return Ok((all, None)) };
            let place = (last.sort_ms, last.id);
            if is_last {
                return Ok((all, None));
            }
            if all.len() >= wanted {
                return Ok((all, Some(place_text(place))));
            }
            filter.after = Some(place);
        }
    }

    fn ids(&self) -> Result<Reply, FeedError> {
        let stream = self.asked.get("s");
        let Some(filter) = self.asked_filter(stream, MAX_IDS)? else { return Ok(unknown_stream()) };
        let (entries, next) = self.listed(&filter)?;
        let one = |entry: &FeedEntry| {
            json!({
                "id": entry.id.to_string(),
                "directStreamIds": [feed_stream(entry.feed)],
                "timestampUsec": (entry.received_ms * 1000).to_string(),
            })
        };
        let mut body = json!({ "itemRefs": entries.iter().map(one).collect::<Vec<_>>() });
        if let Some(next) = next {
            body["continuation"] = Value::from(next);
        }
        Ok(reply(&body))
    }

    fn count(&self) -> Result<Reply, FeedError> {
        let Some(filter) = self.asked_filter(self.asked.get("s"), MAX_IDS)? else {
            return Ok(unknown_stream());
        };
        let count =
            self.scene.library.count_entries(&self.account, &EntryFilter { after: None, ..filter })?;
        Ok(text(StatusCode::OK, &count.to_string()))
    }

    fn contents(&self, stream: &str) -> Result<Reply, FeedError> {
        let stream = if stream.is_empty() { self.asked.get("s") } else { stream };
        let Some(filter) = self.asked_filter(stream, MAX_CONTENTS)? else { return Ok(unknown_stream()) };
        let (entries, next) = self.listed(&filter)?;
        let (items, written) = self.items(entries.iter().map(|entry| entry.id))?;
        // What has no place here is where the next answer begins.
        let next = match written.checked_sub(1).and_then(|last| entries.get(last)) {
            Some(last) if written < entries.len() => Some(place_text((last.sort_ms, last.id))),
            _ => next,
        };
        Ok(self.item_list(stream, &items, next))
    }

    fn atom(&self, stream: &str) -> Result<Reply, FeedError> {
        let Some(filter) = self.asked_filter(stream, MAX_CONTENTS)? else { return Ok(unknown_stream()) };
        let (entries, _) = self.listed(&filter)?;
        let ids: Vec<i64> = entries.iter().map(|entry| entry.id).collect();
        let mut entries = Vec::new();
        self.each_whole(ids.into_iter(), |entry| {
            let bytes = entry.content.len();
            entries.push(entry);
            bytes
        })?;
        let title =
            entries.first().filter(|_| filter.feed.is_some()).map_or("Feeds", |entry| &entry.feed_title);
        let body = atom::write(&normal(stream), title, &entries, self.scene.now_ms);
        Ok(plain(StatusCode::OK, "application/atom+xml; charset=utf-8", &body))
    }

    fn contents_of_ids(&self) -> Result<Reply, FeedError> {
        let mut ids = self.asked_ids(MAX_LISTED)?;
        let mut seen = HashSet::new();
        ids.retain(|id| seen.insert(*id));
        let (items, _) = self.items(ids.into_iter())?;
        Ok(self.item_list(READING_LIST, &items, None))
    }

    /// Shows entries with their contents, which lists do not have, until those that `take` has the bytes of fill an answer. Those that
    /// are gone, or of other accounts, are left out. Returns how many of `ids` were looked at.
    fn each_whole(
        &self,
        ids: impl Iterator<Item = i64>,
        mut take: impl FnMut(FeedEntry) -> usize,
    ) -> Result<usize, FeedError> {
        let (mut bytes, mut seen) = (0, 0);
        for id in ids {
            if bytes >= MAX_CONTENT_BYTES {
                break;
            }
            seen += 1;
            if let Some(entry) = self.scene.library.entry(&self.account, id)? {
                bytes += take(entry);
            }
        }
        Ok(seen)
    }

    /// Entries in JSON with commas in between, and how many of `ids` that is.
    fn items(&self, ids: impl Iterator<Item = i64>) -> Result<(String, usize), FeedError> {
        let mut text = String::new();
        let written = self.each_whole(ids, |entry| {
            let item = item(&entry).to_string();
            text.push_str(if text.is_empty() { "" } else { "," });
            text.push_str(&item);
            item.len()
        })?;
        Ok((text, written))
    }

    fn item_list(&self, stream: &str, items: &str, next: Option<String>) -> Reply {
        let head = json!({
            "direction": "ltr",
            "id": normal(stream),
            "title": "Feeds",
            "author": self.account.name,
            "updated": self.scene.now_ms / 1000,
        });
        let next = next.map(|next| format!(",\"continuation\":{}", Value::from(next))).unwrap_or_default();
        // The items are text already: they take its last place.
        let head = head.to_string();
        let head = head.strip_suffix('}').unwrap_or(&head);
        plain(StatusCode::OK, JSON, &format!("{head},\"items\":[{items}]{next}}}"))
    }
}

pub(super) fn unknown_stream() -> Reply {
    text(StatusCode::NOT_FOUND, "there is no such stream")
}
