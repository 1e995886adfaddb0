//! Feeds as they are found, and some written in anger.

use super::*;

fn feed(text: &str) -> ParsedFeed {
    parse(text.as_bytes(), "", "https://example.org/feed").unwrap()
}

#[test]
fn old_and_malformed_feeds_are_read() {
    for start in [
        "<rss>",
        "<rss version='0.93'>",
        "<rss version=\"0.91\">",
        "<?xml version='1.0'?>\n<rss version=2.0>",
        "<?xml version='1.0'?>\n<?xml version='1.0' encoding='utf-16'?>\n<rss>",
        "<rss><?xml version='1.0' encoding='utf-16'?>",
        "<rss><\0?xml version='1.0' encoding='utf-16'?>",
    ] {
        let text = format!(
            "{start}<channel><title>A & B</title><item><title>x &nbsp; y</title><guid>1</guid></item></channel></rss>"
        );
        let feed = feed(&text);
        assert_eq!((feed.title.as_str(), feed.entries.len()), ("A & B", 1), "{start}");
        assert_eq!(
            (feed.entries[0].title.as_str(), feed.entries[0].identity.as_str()),
            ("x y", "1"),
            "{start}"
        );
    }
    let rdf = "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://my.netscape.com/rdf/simple/0.9/'>\
        <channel><title>t</title><link>http://a/</link><description>d</description></channel>\
        <item><title>one</title><link>http://a/1</link></item></rdf:RDF>";
    assert_eq!(feed(rdf).entries[0].link, "http://a/1");
    let quoted = "<rss><channel><item><description><![CDATA[<pre>&lt;?xml a?> <?xml b?></pre>]]></description></item></channel></rss>";
    assert!(feed(quoted).entries[0].content.contains("<?xml b?>"));
    let json = "{\"items\":[{\"id\":7,\"content_text\":\"a < b\"},{\"id\":8,\"title\":\"t\"}]} trailing";
    let json = feed(json);
    assert_eq!((json.entries[0].identity.as_str(), json.entries[0].content.as_str()), ("7", "a &lt; b"));
    assert_eq!(json.entries.len(), 2);
    assert!(
        parse(b"<html><body>x</body></html>", "", "https://a/").unwrap_err().to_string().contains("page")
    );
    assert!(parse(b"", "", "https://a/").is_err());
}

#[test]
fn a_bracket_that_begins_no_element_is_text() {
    for (title, expected) in [
        ("I <3 you", "I <3 you"),
        ("a <- b", "a <- b"),
        ("x<y", "x<y"),
        ("1 < 2 &amp; 3 > 2", "1 < 2 & 3 > 2"),
        ("a << b", "a << b"),
        ("<", "<"),
        ("<![CDATA[a <3 b]]>", "a <3 b"),
    ] {
        let item = format!(
            "<item><title>{title}</title><link>http://a/1</link><description>{title}</description></item>"
        );
        let rss =
            feed(&format!("<rss version=\"2.0\"><channel><title>t</title>{item}{item}</channel></rss>"));
        assert_eq!(rss.entries[0].title, expected, "{title}");
        assert_eq!(rss.entries[0].link, "http://a/1", "{title}");
        assert_eq!(plain_text(&rss.entries[0].content, 100), expected, "{title}");
    }
}

#[test]
fn an_item_s_only_link_may_be_one_of_atom() {
    let start = "<rss version=\"2.0\" xmlns:atom=\"http://www.w3.org/2005/Atom\" \
                 xmlns:a10=\"http://www.w3.org/2005/Atom\"><channel><title>t</title>";
    for (item, link) in [
        ("<title>a</title><atom:link href=\"http://a/1?x=1&amp;y=2\"/>", "http://a/1?x=1&y=2"),
        ("<title>a</title><a10:link rel='alternate' href='http://a/1'/>", "http://a/1"),
        ("<title>a</title><atom:link rel=\"self\" href=\"http://a/self\"/>", ""),
        ("<title>a</title><link>http://a/2</link><atom:link href=\"http://a/1\"/>", "http://a/2"),
    ] {
        let feed = feed(&format!("{start}<item>{item}</item></channel></rss>"));
        assert_eq!(feed.entries[0].link, link, "{item}");
    }
}

#[test]
fn a_relative_base_is_relative_to_that_of_its_parent() {
    for (feed_base, entry_base, content_base, base) in [
        ("", "", " xml:base=\"/blog/\"", "https://example.org/blog/"),
        (" xml:base=\"https://other.example/a/\"", "", " xml:base=\"b/\"", "https://other.example/a/b/"),
        (" xml:base=\"/a/\"", " xml:base='b/'", " xml:base=\"c/\"", "https://example.org/a/b/c/"),
        ("", "", " xml:base=\"https://abs.example/\"", "https://abs.example/"),
    ] {
        let feed = feed(&format!(
            "<feed xmlns=\"http://www.w3.org/2005/Atom\"{feed_base}><entry{entry_base}><id>1</id>\
             <content type=\"html\"{content_base}>x</content></entry></feed>"
        ));
        assert_eq!(feed.entries[0].base, base);
    }
}

/// Elements of a namespace that no feed has would be skipped.
#[test]
fn a_root_of_another_namespace_is_read() {
    for namespace in [
        "http://backend.userland.com/rss2",
        "http://blogs.law.harvard.edu/tech/rss",
        "http://www.w3.org/2005/Atom",
        "http://www.w3.org/1999/xhtml",
        "",
    ] {
        let feed = feed(&format!(
            "<rss version=\"2.0\" xmlns=\"{namespace}\"><channel><title>t</title><item><title>a</title></item></channel></rss>"
        ));
        assert_eq!((feed.title.as_str(), feed.entries.len()), ("t", 1), "{namespace}");
    }
    for namespace in
        ["https://www.w3.org/2005/Atom", "http://www.w3.org/2005/Atom/", "http://www.w3.org/2005/atom"]
    {
        let text = format!(
            "<?xml version=\"1.0\"?><feed xmlns='{namespace}'><title>t</title><entry><id>1</id><title>a</title></entry></feed>"
        );
        assert_eq!(feed(&text).entries.len(), 1, "{namespace}");
    }
}

#[test]
fn a_prefix_that_is_not_declared_is_the_usual_one() {
    let item = "<item><title>a</title><dc:creator>Ann</dc:creator><dc:date>2023-05-01</dc:date>\
                <content:encoded>&lt;p&gt;all of it&lt;/p&gt;</content:encoded></item>";
    let feed = feed(&format!("<rss version=\"2.0\"><channel><title>t</title>{item}</channel></rss>"));
    let entry = &feed.entries[0];
    assert_eq!((entry.author.as_str(), entry.published_ms.is_some()), ("Ann", true));
    assert!(entry.content.contains("all of it"), "{}", entry.content);
}

#[test]
fn attributes_are_found_by_their_whole_names() {
    let item =
        "<item><title>a</title><atom:link rel=\"alternate\" hreflang=\"en\" href=\"http://a/1\"/></item>";
    let more = "<item><title>b</title><atom:link href=\"http://a/release/1\" rel=\"replies\"/></item>";
    let feed = feed(&format!(
        "<rss xmlns:x=\"http://a/version/1\" xmlns:atom=\"http://www.w3.org/2005/Atom\" version=\"2.0\">\
         <channel><title>t</title>{item}{more}</channel></rss>"
    ));
    let links: Vec<&str> = feed.entries.iter().map(|entry| entry.link.as_str()).collect();
    assert_eq!(links, ["http://a/1", ""]);
}

#[test]
fn links_are_to_be_opened_and_not_fetched() {
    for (link, expected) in [
        ("https://example.org/changes#v2", "https://example.org/changes#v2"),
        ("magnet:?xt=urn:btih:abc&amp;dn=x", "magnet:?xt=urn:btih:abc&dn=x"),
        ("gemini://a/b", "gemini://a/b"),
        ("javascript:alert(1)", ""),
        ("file:///etc/passwd", ""),
    ] {
        let item = format!("<item><title>a</title><link>{link}</link></item>");
        let feed = feed(&format!("<rss version=\"2.0\"><channel><title>t</title>{item}</channel></rss>"));
        assert_eq!(feed.entries[0].link, expected);
    }
}

#[test]
fn authors_of_a_feed_are_those_of_its_entries() {
    let atom = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><author><name>Ann</name></author><entry><id>1</id><title>a</title></entry>\
                <entry><id>2</id><title>b</title><author><name>Bob</name></author></entry></feed>";
    let authors: Vec<String> = feed(atom).entries.into_iter().map(|entry| entry.author).collect();
    assert_eq!(authors, ["Ann", "Bob"]);
}

#[test]
fn authors_are_names_where_there_is_one() {
    for (author, name) in [
        ("x@example.org (Bob)", "Bob"),
        ("Bob &lt;x@example.org&gt;", "Bob"),
        ("x@example.org", "x@example.org"),
        ("Bob (the builder)", "Bob (the builder)"),
        ("Bob", "Bob"),
    ] {
        let feed = feed(&format!(
            "<rss version=\"2.0\"><channel><title>t</title><item><title>a</title><author>{author}</author></item></channel></rss>"
        ));
        assert_eq!(feed.entries[0].author, name);
    }
}

#[test]
fn entries_without_identity_have_one_that_stays() {
    let text = "<rss><channel><item><description>only text</description></item><item><title>t</title></item>\
        <item><guid>same</guid><title>one</title></item><item><guid>same</guid><title>two</title></item>\
        <item><guid>same</guid><title>two</title></item></channel></rss>";
    let (first, second) = (feed(text), feed(text));
    assert_eq!(first, second);
    assert_eq!(first.entries.len(), 4);
    let identities: std::collections::HashSet<&str> =
        first.entries.iter().map(|entry| entry.identity.as_str()).collect();
    assert_eq!(identities.len(), 4);
}

#[test]
fn no_document_panics() {
    const PARTS: [&str; 40] = [
        "<rss version=\"2.0\" xmlns:media=\"http://search.yahoo.com/mrss/\" xmlns:itunes=\"http://www.itunes.com/dtds/podcast-1.0.dtd\">",
        "<feed xmlns=\"http://www.w3.org/2005/Atom\">",
        "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns=\"http://purl.org/rss/1.0/\">",
        "<channel>",
        "</channel>",
        "<item>",
        "</item>",
        "<entry>",
        "</entry>",
        "<title>",
        "</title>",
        "<title type=\"xhtml\">",
        "<content type=\"html\">",
        "<content type=\"xhtml\">",
        "<content type=\"image/png\">",
        "</content>",
        "<link>",
        "</link>",
        "<link href=\"/a\" rel=\"enclosure\" length=\"x\"/>",
        "<enclosure url=\"::\" length=\"-1\" type=\"a\"/>",
        "<guid isPermaLink=\"x\">",
        "</guid>",
        "<pubDate>",
        "</pubDate>",
        "Mon, 99 Foo 2020",
        "<media:group>",
        "</media:group>",
        "<media:content url=\"x\" width=\"a\" duration=\"NaN\"/>",
        "<media:thumbnail/>",
        "<media:text start=\"99:99:99\" end=\"x\">",
        "<itunes:duration>",
        "</itunes:duration>",
        "1:2:3:4",
        "-1",
        "99999999999999999999",
        "<ttl>",
        "</ttl>",
        "<image>",
        "</image>",
        "<![CDATA[",
    ];
    let part = proptest::sample::select(PARTS.to_vec());
    proptest::proptest!(
        proptest::prelude::ProptestConfig::with_cases(std::env::var("WHIT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(500)),
        |(start in 0..3_usize, parts in proptest::collection::vec(part, 0..40))| {
            let _ = parse(format!("{}{}", PARTS[start], parts.concat()).as_bytes(), "", "https://example.org/");
        }
    );
}

#[test]
fn of_too_many_entries_the_newest_are_taken() {
    let item = |day: usize| {
        let date =
            jiff::civil::date(1990, 1, 1).saturating_add(jiff::Span::new().days(i64::try_from(day).unwrap()));
        format!("<item><guid>{day}</guid><title>{day}</title><pubDate>{date}T00:00:00Z</pubDate></item>")
    };
    let undated =
        |count: usize| (0..count).map(|at| format!("<item><title>u{at}</title></item>")).collect::<String>();
    let titles = |items: &str| -> Vec<String> {
        let feed = feed(&format!("<rss version='2.0'><channel>{items}</channel></rss>"));
        feed.entries.into_iter().map(|entry| entry.title).collect()
    };
    // The oldest first, as archives and podcasts list them.
    let all: String = (0..20_000).map(item).collect();
    let taken = titles(&all);
    assert_eq!(taken.len(), MAX_ENTRIES);
    assert_eq!((taken[0].as_str(), taken[MAX_ENTRIES - 1].as_str()), ("15000", "19999"));
    // Without dates: the first, which most feeds have the newest at.
    let taken = titles(&(undated(MAX_ENTRIES) + &item(3)));
    assert_eq!((taken.len(), taken[0].as_str()), (MAX_ENTRIES, "u0"));
    assert_eq!(taken[MAX_ENTRIES - 1], "3");
}

#[test]
fn an_identity_that_is_shared_depends_on_no_order() {
    let document = |titles: &[&str]| -> HashMap<String, String> {
        let item = |title: &&str| format!("<item><guid>x</guid><title>{title}</title></item>");
        let items: String = titles.iter().map(item).collect();
        let feed = feed(&format!("<rss version='2.0'><channel>{items}</channel></rss>"));
        feed.entries.into_iter().map(|entry| (entry.title, entry.identity)).collect()
    };
    let (before, after) = (document(&["b", "a"]), document(&["c", "b", "a"]));
    assert_eq!((&before["a"], &before["b"]), (&after["a"], &after["b"]));
    assert_ne!(after["c"], "x");
    // The same one twice is one.
    assert_eq!(document(&["a", "a"])["a"], "x");
}
