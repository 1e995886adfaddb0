//! One account against another, with a session of its own and every number and name of the other's: it reads nothing and changes nothing.

use std::time::Duration;

use http::{Method, Request, StatusCode, header};
use syndication::{ParsedEntry, ParsedFeed};

use super::sign_in::COOKIE;
use super::{PREFIX, SignInLimit, Site};
use crate::accounts::{Account, SessionKind, form_token};
use crate::database::Library;
use crate::entries::Mark;
use crate::entry_filter::EntryFilter;
use crate::feed_rows::Polled;

const ANN_FEED: &str = "https://ann.example/feed";
/// In the name of ann's feed, in the titles of its entries and in their contents.
const ANN_ONLY: &str = "annonly";
const ANN_FOLDER: &str = "garden";

struct NoLimit;

impl SignInLimit for NoLimit {
    fn wait(&self, _account: &str) -> Option<Duration> {
        None
    }

    fn note(&self, _account: &str, _is_right: bool) {}
}

/// Two accounts with a feed each, and a session each.
struct World {
    site: Site,
    ann: Account,
    ann_session: String,
    bob_session: String,
    ann_feed: i64,
    ann_entries: Vec<i64>,
}

impl World {
    fn new() -> Self {
        let mut library = Library::in_memory();
        let [ann, bob] = ["ann", "bob"].map(|name| {
            // Without a password: to hash one takes a second in a debug build.
            let added = "INSERT INTO accounts (name, password, created_ms) VALUES (?1, '', 0)";
            library.connection.execute(added, [name]).unwrap();
            library.account(name).unwrap().unwrap()
        });
        let ann_feed = library.subscribe(&ann, ANN_FEED, "annonly name", ANN_FOLDER, 0).unwrap();
        let bob_feed = library.subscribe(&bob, "https://bob.example/feed", "", "Home", 0).unwrap();
        for (feed, word) in [(ann_feed, ANN_ONLY), (bob_feed, "shown")] {
            let entry = |number: i64| ParsedEntry {
                identity: format!("{word} {number}"),
                title: format!("{word} title {number}"),
                published_ms: Some(1000 + number),
                content: format!("<p>{word} content</p>"),
                ..ParsedEntry::default()
            };
            let entries = (0..3).map(entry).collect();
            let parsed = ParsedFeed { title: format!("{word} feed"), entries, ..ParsedFeed::default() };
            library.apply(feed, &Polled { feed: Some(&parsed), moved_to: None, digest: None }, 2000).unwrap();
        }
        let all = library.entries(&ann, &EntryFilter::default()).unwrap();
        let ann_entries: Vec<i64> = all.iter().map(|entry| entry.id).collect();
        library.mark(&ann, &ann_entries[..1], Mark::Starred(true), 0).unwrap();
        library.mark(&ann, &ann_entries[1..2], Mark::Read(true), 0).unwrap();
        let ann_session = library.begin_session(&ann, SessionKind::Browser, 0).unwrap();
        let bob_session = library.begin_session(&bob, SessionKind::Program, 0).unwrap();
        Self { site: Site::new(library), ann, ann_session, bob_session, ann_feed, ann_entries }
    }

    /// All that ann has, by the library itself.
    fn of_ann(&self) -> String {
        let library = self.site.library.lock().unwrap();
        let marks: Vec<(i64, bool, bool)> = library
            .entries(&self.ann, &EntryFilter::default())
            .unwrap()
            .into_iter()
            .map(|entry| (entry.id, entry.is_read, entry.is_starred))
            .collect();
        let session = library.account_of_session(&self.ann_session, 0).unwrap();
        format!("{} {marks:?} {session:?}", library.export(&self.ann).unwrap())
    }

    /// Asks as a browser and as a program at once: with a cookie and a header.
    fn ask(&self, session: &str, method: &Method, path: &str, form: &str) -> (StatusCode, String) {
        let request = Request::builder()
            .method(method)
            .uri(format!("{PREFIX}{path}"))
            .header(header::COOKIE, format!("{COOKIE}={session}"))
            .header(header::AUTHORIZATION, format!("GoogleLogin auth={session}"))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form.as_bytes().to_vec())
            .unwrap();
        let reply = self.site.answer(request, &NoLimit, 3000);
        (reply.status(), String::from_utf8(reply.into_body()).unwrap())
    }

    /// Returns whether an unread entry of ann's is read after a browser asked for it with these headers.
    fn is_read_after(&self, path: &str, headers: &[(&str, &str)]) -> bool {
        let entry = self.ann_entries[0];
        let unread = Mark::Read(false);
        self.site.library.lock().unwrap().mark(&self.ann, &[entry], unread, 0).unwrap();
        let mut request = Request::get(format!("{PREFIX}{path}"))
            .header(header::COOKIE, format!("{COOKIE}={}", self.ann_session));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.site.answer(request.body(Vec::new()).unwrap(), &NoLimit, 3000);
        self.site.library.lock().unwrap().entry(&self.ann, entry).unwrap().unwrap().is_read
    }

    /// Returns the pages that show ann's feed to ann.
    fn pages(&self) -> Vec<String> {
        let (feed, entry) = (self.ann_feed, self.ann_entries[0]);
        let mut pages = vec![
            format!("?feed={feed}&all="),
            "?folder=garden&all=".to_owned(),
            "?starred=".to_owned(),
            "?q=content".to_owned(),
            format!("?after=99999-{entry}&all="),
            format!("entry/{entry}"),
            format!("entry/{entry}?images="),
            "manage".to_owned(),
            "export".to_owned(),
            "reader/api/0/subscription/list".to_owned(),
            "reader/api/0/subscription/export".to_owned(),
            "reader/api/0/tag/list".to_owned(),
            "reader/api/0/unread-count".to_owned(),
            format!("reader/api/0/stream/items/contents?i={entry}"),
            format!("reader/api/0/stream/items/contents?i=tag:google.com,2005:reader/item/{entry:016x}"),
        ];
        for stream in [
            format!("feed/{feed}"),
            "feed/https://ann.example/feed".to_owned(),
            "user/-/label/garden".to_owned(),
            format!("user/{}/state/com.google/starred", self.ann.id),
            "user/ann/state/com.google/reading-list".to_owned(),
        ] {
            pages.push(format!("reader/api/0/stream/contents/{stream}"));
            pages.push(format!("reader/api/0/stream/contents?s={stream}"));
            pages.push(format!("reader/atom/{stream}"));
            pages.push(format!("reader/api/0/stream/items/ids?s={stream}"));
        }
        pages
    }

    /// Returns the requests that change something of ann's when ann sends them.
    fn changes(&self) -> Vec<(&'static str, String)> {
        let (feed, entry, read) = (self.ann_feed, self.ann_entries[0], self.ann_entries[1]);
        let state = "user/-/state/com.google";
        let stream = "feed/https://ann.example/feed";
        [
            ("mark", format!("entry={entry}&read=1")),
            ("mark", format!("entry={read}&read=0")),
            ("mark", format!("entry={entry}&starred=0")),
            ("mark-all", format!("feed={feed}")),
            ("mark-all", "folder=garden".to_owned()),
            ("mark-all", "all=".to_owned()),
            ("edit", format!("feed={feed}&title=x")),
            ("edit", format!("feed={feed}&folder=x")),
            ("unsubscribe", format!("feed={feed}")),
            ("sign-out", String::new()),
            ("reader/api/0/edit-tag", format!("i={entry}&a={state}/read")),
            ("reader/api/0/edit-tag", format!("i={entry}&r={state}/starred")),
            ("reader/api/0/mark-all-as-read", format!("s={stream}")),
            ("reader/api/0/mark-all-as-read", format!("s={state}/reading-list")),
            ("reader/api/0/rename-tag", "s=user/-/label/garden&dest=user/-/label/x".to_owned()),
            ("reader/api/0/disable-tag", "s=user/-/label/garden".to_owned()),
            ("reader/api/0/subscription/edit", format!("ac=edit&s={stream}&t=x")),
            ("reader/api/0/subscription/edit", format!("ac=unsubscribe&s=feed/{feed}")),
        ]
        .into_iter()
        .collect()
    }
}

#[test]
fn what_is_anns_is_shown_to_ann_alone() {
    let world = World::new();
    let entry = format!("\"{}\"", world.ann_entries[0]);
    for page in world.pages() {
        // A page may repeat what it was asked for.
        let mut marks = vec![ANN_ONLY, ANN_FOLDER, "ann.example"];
        marks.retain(|mark| !page.contains(mark));
        if page.contains("items/ids") {
            marks.push(&entry);
        }
        let shows = |shown: &str| marks.iter().any(|mark| shown.contains(mark));
        // That ann sees it is what makes the rest a test.
        let (status, shown) = world.ask(&world.ann_session, &Method::GET, &page, "");
        assert!(status.is_success() && shows(&shown), "{page}: {status} {shown}");
        for session in [world.bob_session.as_str(), "", "0123456789abcdef0123456789abcdef"] {
            let (_, shown) = world.ask(session, &Method::GET, &page, "");
            assert!(!shows(&shown), "{page}: {shown}");
        }
    }
}

#[test]
fn what_is_anns_is_changed_by_ann_alone() {
    let count = World::new().changes().len();
    for place in 0..count {
        let world = World::new();
        let (path, form) = world.changes().swap_remove(place);
        let before = world.of_ann();
        let with_token =
            |session: &str| format!("{form}&form={}&T={}", form_token(session), form_token(session));
        let (ann, bob) = (world.ann_session.as_str(), world.bob_session.as_str());
        for (session, form) in [
            (bob, with_token(bob)),
            (bob, with_token(ann)),
            ("", with_token(ann)),
            ("", with_token("")),
            // A page of another origin has no token. The API takes requests without one: a header cannot be sent from there.
            (if path.starts_with("reader/") { "" } else { ann }, form.clone()),
            (ann, with_token(bob)),
        ] {
            let (status, reply) = world.ask(session, &Method::POST, path, &form);
            assert!(!status.is_server_error(), "{path} {form}: {reply}");
            world.ask(session, &Method::GET, &format!("{path}?{form}"), "");
            assert_eq!(world.of_ann(), before, "{path} {form}");
        }
        world.ask(ann, &Method::POST, path, &with_token(ann));
        assert_ne!(world.of_ann(), before, "{path} {form} is to do something for ann");
    }
}

#[test]
fn an_answer_has_an_entry_once() {
    let world = World::new();
    let ids = world.ann_entries.iter().map(|id| format!("i={id}&")).collect::<String>().repeat(300);
    let path = "reader/api/0/stream/items/contents";
    let (status, text) = world.ask(&world.ann_session, &Method::POST, path, &ids);
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, answer["items"].as_array().unwrap().len()), (StatusCode::OK, 3));
    assert_eq!(answer["items"][0]["timestampUsec"], "2000000");
    let path = "reader/api/0/stream/contents/user/-/state/com.google/reading-list?n=2";
    let (_, text) = world.ask(&world.ann_session, &Method::GET, path, "");
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["items"].as_array().unwrap().len(), 2);
    assert!(answer["continuation"].is_string());
    // What was received since, whatever its own date.
    let count = |since: u64| {
        let path =
            format!("reader/api/0/stream/items/count?s=user/-/state/com.google/reading-list&ot={since}");
        world.ask(&world.ann_session, &Method::GET, &path, "").1
    };
    assert_eq!((count(2), count(3)), ("3".to_owned(), "0".to_owned()));
}

#[test]
fn an_unclear_request_changes_nothing() {
    let world = World::new();
    let post = |path: &str, form: &str| world.ask(&world.ann_session, &Method::POST, path, form).0;
    let list = "reader/api/0/stream/items/ids?s=user/-/state/com.google/reading-list";
    let get = |rest: &str| world.ask(&world.ann_session, &Method::GET, &format!("{list}{rest}"), "");
    let before = world.of_ann();
    let all = "reader/api/0/mark-all-as-read";
    let many = "i=1&".repeat(super::reader_api::MAX_IDS + 1);
    for (path, form) in [
        (all, ""),
        (all, "s=user/-/state/com.google/reading-list&ts=2026-01-01"),
        ("reader/api/0/subscription/edit", "ac=unsubscribe&s=1"),
        ("reader/api/0/edit-tag", &format!("{many}a=user/-/state/com.google/read")),
    ] {
        assert_eq!(post(path, form), StatusCode::BAD_REQUEST, "{path} {form:.80}");
    }
    for place in ["x", "-5", "1-99999999999999999999"] {
        assert_eq!(get(&format!("&c={place}")).0, StatusCode::BAD_REQUEST, "{place}");
    }
    assert_eq!(world.of_ann(), before);
    // Before 1970 there are entries, too.
    let (status, text) = get("&c=-2208970800000-108");
    assert_eq!(status, StatusCode::OK, "{text}");
    // A request that says the same a thousand times does it once.
    let tags = "a=user/-/state/com.google/read&r=user/-/state/com.google/starred&".repeat(5000);
    let ids: String = world.ann_entries.iter().map(|id| format!("i={id}&")).collect();
    assert_eq!(post("reader/api/0/edit-tag", &format!("{ids}{tags}")), StatusCode::OK);
}

#[test]
fn a_picture_of_an_entry_reads_nothing() {
    let world = World::new();
    let path = format!("entry/{}", world.ann_entries[0]);
    let is_read = |headers: &[(&str, &str)]| world.is_read_after(&path, headers);
    let as_image = [("accept", "image/avif,image/webp,*/*;q=0.8")];
    assert!(!is_read(&[("sec-fetch-dest", "image"), ("sec-fetch-site", "same-origin")]));
    assert!(!is_read(&as_image));
    assert!(!is_read(&[("range", "bytes=0-")]));
    assert!(is_read(&[("accept", "text/html,*/*;q=0.8"), ("sec-fetch-dest", "document")]));
}
