//! Notifications of checks for receivers: commands get them as from Nagios, whose variables existing scripts read.
//! <https://assets.nagios.com/downloads/nagioscore/docs/nagioscore/4/en/macrolist.html>

use jiff::Timestamp;
use jiff::tz::Offset;
use serde_json::{Value, json};

use super::definition::CheckName;
use super::notice::{CheckNotice, NoticeKind};
use super::state::State;
use history::answer::rfc3339;
use notify::{Delivery, Letter, Subject, Variables};

/// Longer variables are cut: execve(2) refuses one of 128 KiB.
const MAX_VARIABLE_BYTES: usize = 100_000;

impl CheckNotice {
    /// `web1/http`.
    pub fn name(&self) -> String {
        CheckName { host: self.host.clone(), service: self.service.clone() }.to_string()
    }

    /// In the words for what it is of.
    fn state_name(&self) -> &'static str {
        self.name_of(self.state)
    }

    fn name_of(&self, state: State) -> &'static str {
        match (self.service.is_empty(), state) {
            (true, State::Ok) => "UP",
            (true, _) => "DOWN",
            (false, state) => state.name(),
        }
    }
}

impl Subject for CheckNotice {
    fn key(&self) -> String {
        self.name()
    }

    fn title(&self) -> String {
        format!("{} of the check \"{}\"", self.kind.name(), self.name())
    }

    fn letter(delivery: &Delivery<Self>) -> Letter {
        let notice = &delivery.subject;
        let line =
            format!("{} {} is {}: {}", notice.kind.name(), notice.name(), notice.state_name(), notice.text);
        let mut text = String::new();
        if !notice.long_text.is_empty() {
            text.push_str(&format!("{}\n\n", notice.long_text));
        }
        if let Some((author, comment)) = &notice.acknowledgement {
            text.push_str(&format!("{author}: {comment}\n"));
        }
        text.push_str(&format!("since {}", rfc3339(notice.since_ms)));
        if notice.kind == NoticeKind::Problem && notice.times > 1 {
            text.push_str(&format!(", sent for the {}. time", notice.times));
        }
        text.push_str(&format!("\nwhit on {}\n", notice.machine));
        Letter { line, text }
    }

    fn document(delivery: &Delivery<Self>) -> Value {
        let notice = &delivery.subject;
        let labels: serde_json::Map<String, Value> =
            notice.labels.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let acknowledgement = notice
            .acknowledgement
            .as_ref()
            .map(|(author, comment)| json!({ "author": author, "comment": comment }));
        json!({
            "id": delivery.id,
            "receiver": delivery.receiver,
            "kind": notice.kind,
            "name": notice.name(),
            "host": notice.host,
            "service": notice.service,
            "labels": labels,
            "state": notice.state_name(),
            "last_state": notice.last_state.name(),
            "since": rfc3339(notice.since_ms),
            "told_times": notice.times,
            "text": notice.text,
            "long_text": notice.long_text,
            "figures": notice.figures,
            "acknowledgement": acknowledgement,
            "machine": notice.machine,
        })
    }

    fn variables(delivery: &Delivery<Self>) -> Variables {
        let notice = &delivery.subject;
        let fields = vec![
            ("{name}", notice.name()),
            ("{state}", notice.state_name().to_owned()),
            ("{text}", notice.text.clone()),
            ("{value}", notice.figures.clone()),
            ("{kind}", notice.kind.name().to_owned()),
        ];
        let nagios = nagios(delivery).into_iter().map(|(name, value)| (format!("NAGIOS_{name}"), value));
        let own = [("WHIT_CHECK_ID", delivery.id.clone()), ("WHIT_CHECK_NAME", notice.name())];
        let own = own.map(|(name, value)| (name.to_owned(), value));
        Variables { fields, environment: nagios.chain(own).collect() }
    }
}

/// Macros of Nagios that commands get as `NAGIOS_…` in their environment. Some are there for hosts alone, some for services alone.
pub const NAGIOS_MACROS: [&str; 50] = [
    "CONTACTALIAS",
    "CONTACTNAME",
    "DATE",
    "HOSTACKAUTHOR",
    "HOSTACKCOMMENT",
    "HOSTADDRESS",
    "HOSTALIAS",
    "HOSTATTEMPT",
    "HOSTDISPLAYNAME",
    "HOSTDURATION",
    "HOSTDURATIONSEC",
    "HOSTNAME",
    "HOSTNOTIFICATIONNUMBER",
    "HOSTOUTPUT",
    "HOSTPERFDATA",
    "HOSTSTATE",
    "HOSTSTATEID",
    "HOSTSTATETYPE",
    "LASTHOSTSTATE",
    "LASTHOSTSTATECHANGE",
    "LASTHOSTSTATEID",
    "LASTSERVICESTATE",
    "LASTSERVICESTATECHANGE",
    "LASTSERVICESTATEID",
    "LONGDATETIME",
    "LONGHOSTOUTPUT",
    "LONGSERVICEOUTPUT",
    "MAXHOSTATTEMPTS",
    "MAXSERVICEATTEMPTS",
    "NOTIFICATIONAUTHOR",
    "NOTIFICATIONCOMMENT",
    "NOTIFICATIONNUMBER",
    "NOTIFICATIONRECIPIENTS",
    "NOTIFICATIONTYPE",
    "SERVICEACKAUTHOR",
    "SERVICEACKCOMMENT",
    "SERVICEATTEMPT",
    "SERVICEDESC",
    "SERVICEDISPLAYNAME",
    "SERVICEDURATION",
    "SERVICEDURATIONSEC",
    "SERVICENOTIFICATIONNUMBER",
    "SERVICEOUTPUT",
    "SERVICEPERFDATA",
    "SERVICESTATE",
    "SERVICESTATEID",
    "SERVICESTATETYPE",
    "SHORTDATETIME",
    "TIME",
    "TIMET",
];

/// The variables of Nagios' macros that whit knows the values of.
fn nagios(delivery: &Delivery<CheckNotice>) -> Vec<(&'static str, String)> {
    let notice = &delivery.subject;
    let zone = Offset::from_seconds(notice.utc_offset_s).unwrap_or(Offset::UTC).to_time_zone();
    let at = Timestamp::from_millisecond(delivery.created_ms).unwrap_or_default().to_zoned(zone);
    let (seconds, since_s) = (delivery.created_ms / 1000, notice.since_ms / 1000);
    let host = if notice.host.is_empty() { &notice.machine } else { &notice.host };
    let address = if notice.address.is_empty() { host } else { &notice.address };
    let (author, comment) = notice.acknowledgement.clone().unwrap_or_default();
    let lasts_s = (seconds - since_s).max(0);
    let duration =
        format!("{}d {}h {}m {}s", lasts_s / 86_400, lasts_s / 3600 % 24, lasts_s / 60 % 60, lasts_s % 60);
    let mut variables = vec![
        ("NOTIFICATIONTYPE", notice.kind.name().to_owned()),
        ("NOTIFICATIONNUMBER", notice.times.to_string()),
        ("NOTIFICATIONRECIPIENTS", delivery.receiver.clone()),
        ("NOTIFICATIONAUTHOR", author.clone()),
        ("NOTIFICATIONCOMMENT", comment.clone()),
        ("CONTACTNAME", delivery.receiver.clone()),
        ("CONTACTALIAS", delivery.receiver.clone()),
        ("HOSTNAME", host.clone()),
        ("HOSTALIAS", host.clone()),
        ("HOSTDISPLAYNAME", host.clone()),
        ("HOSTADDRESS", address.clone()),
        ("LONGDATETIME", at.strftime("%a %b %e %H:%M:%S %Z %Y").to_string()),
        ("SHORTDATETIME", at.strftime("%m-%d-%Y %H:%M:%S").to_string()),
        ("DATE", at.strftime("%m-%d-%Y").to_string()),
        ("TIME", at.strftime("%H:%M:%S").to_string()),
        ("TIMET", seconds.to_string()),
    ];
    let is_of_host = notice.service.is_empty();
    let of = |name_of_host: &'static str, name_of_service: &'static str| {
        if is_of_host { name_of_host } else { name_of_service }
    };
    variables.extend([
        (of("HOSTSTATE", "SERVICESTATE"), notice.state_name().to_owned()),
        (of("HOSTSTATEID", "SERVICESTATEID"), number(notice, notice.state).to_string()),
        (of("LASTHOSTSTATE", "LASTSERVICESTATE"), notice.name_of(notice.last_state).to_owned()),
        (of("LASTHOSTSTATEID", "LASTSERVICESTATEID"), number(notice, notice.last_state).to_string()),
        (of("HOSTSTATETYPE", "SERVICESTATETYPE"), "HARD".to_owned()),
        (of("HOSTATTEMPT", "SERVICEATTEMPT"), notice.attempts.0.to_string()),
        (of("MAXHOSTATTEMPTS", "MAXSERVICEATTEMPTS"), notice.attempts.1.to_string()),
        (of("HOSTOUTPUT", "SERVICEOUTPUT"), notice.text.clone()),
        (of("LONGHOSTOUTPUT", "LONGSERVICEOUTPUT"), in_one_line(&notice.long_text)),
        (of("HOSTPERFDATA", "SERVICEPERFDATA"), notice.figures.clone()),
        (of("LASTHOSTSTATECHANGE", "LASTSERVICESTATECHANGE"), since_s.to_string()),
        (of("HOSTDURATION", "SERVICEDURATION"), duration),
        (of("HOSTDURATIONSEC", "SERVICEDURATIONSEC"), lasts_s.to_string()),
        (of("HOSTNOTIFICATIONNUMBER", "SERVICENOTIFICATIONNUMBER"), notice.times.to_string()),
        (of("HOSTACKAUTHOR", "SERVICEACKAUTHOR"), author),
        (of("HOSTACKCOMMENT", "SERVICEACKCOMMENT"), comment),
    ]);
    if !is_of_host {
        // A host that is down silences its services: this one is not.
        let of_host = [("HOSTSTATE", "UP"), ("HOSTSTATEID", "0")];
        variables.extend(of_host.map(|(name, value)| (name, value.to_owned())));
        variables.push(("SERVICEDESC", notice.service.clone()));
        variables.push(("SERVICEDISPLAYNAME", notice.service.clone()));
    }
    variables
}

/// As Nagios writes a text of several lines, and not too long.
fn in_one_line(text: &str) -> String {
    let mut line = text.replace('\n', "\\n");
    if line.len() > MAX_VARIABLE_BYTES {
        line.truncate(line.floor_char_boundary(MAX_VARIABLE_BYTES));
        line.push('…');
    }
    line
}

fn number(notice: &CheckNotice, state: State) -> u8 {
    match notice.service.is_empty() {
        true => u8::from(state != State::Ok),
        false => state.number(),
    }
}
