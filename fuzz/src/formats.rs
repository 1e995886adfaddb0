//! Any bytes as clicks, as lists of users and hosts, as what a plugin prints, as metrics, and as configurations of i3status, tmpfiles.d and Nagios.

use formats::i3bar::Clicks;
use formats::i3status::Configuration;
use formats::tmpfiles::Machine;

/// Nothing panics, whatever the bytes are.
pub fn run(data: &[u8]) {
    let question = formats::dns::question(0x101, "a.b", formats::dns::Family::V4).unwrap_or_default();
    let _ = formats::dns::reply(&question, data);
    Clicks::default().push(data, drop);
    formats::passwd::users(data).for_each(drop);
    let _ = (formats::containers::docker(data), formats::containers::bundle(data));
    let _ = (formats::containers::stored(data), formats::containers::docker_data_root(data));
    let _ = formats::hosts::addresses_of(data, b"host");
    drop(formats::dbus::answer(data));
    let _ = formats::certificate::validity(data);
    for figure in formats::plugin_output::read(data).figures {
        figure.base_unit();
        [figure.warn, figure.crit].into_iter().flatten().for_each(|range| drop(range.to_string()));
    }
    if let Ok(text) = std::str::from_utf8(data) {
        let mut exposition = formats::exposition::ExpositionLines::default();
        for line in text.lines() {
            let _ = exposition.take(line);
        }
        let _ = formats::nagios::external_command(text);
        if let Ok(request) = formats::livestatus::Request::parse(text) {
            drop(formats::livestatus::answer::<()>(&request, &[], [()]));
        }
        let (objects, _) = formats::nagios::read_objects(text, 0);
        let (objects, _) = formats::nagios::resolve(&objects);
        let groups = formats::nagios::members(&objects, "hostgroup");
        for object in &objects {
            drop(formats::nagios::hosts_of(object, &objects, &groups));
            drop(formats::nagios::times_of(object));
        }
        drop(formats::nagios::expand(text, &formats::nagios::Macros::default()));
        let machine = Machine {
            specifier: &|letter| (letter != '%').then(|| letter.to_string()),
            exists: &|path| path.len() % 2 == 0,
            has_user: &|name| name.len() % 2 == 0,
            has_group: &|name| name.len() % 2 == 0,
        };
        let _ = formats::tmpfiles::parse(text, &machine);
        let _ = formats::conky::Configuration::parse(text);
        if let Ok(configuration) = Configuration::parse(text, &|_| None) {
            for entry in &configuration.order {
                let _ = configuration.section(entry);
            }
        }
    }
}
