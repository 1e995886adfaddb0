//! Checks without a plugin, and results that come and go by Nagios' ways.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{Running, Scratch, WHIT, document, port, wait_for, whit};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let openssl = Need::Program("openssl");
    vec![
        exact("checks_need_no_process", &[Need::Root, openssl], native),
        exact("no_value_is_run_by_a_shell", &[], hostile_values),
        exact("dashboards_and_commands_of_nagios_work", &[], nagios),
        exact("checks_begin_when_their_file_can_be_written", &[], begin_late),
        exact("an_agent_pushes_its_results_to_another", &[Need::Program("curl")], push),
    ]
}

fn start(directory: &Path, http: &str) -> Result<Running, Failed> {
    Ok(Running(command(directory, http).stderr(Stdio::null()).spawn()?))
}

fn command(directory: &Path, http: &str) -> Command {
    let mut command = Command::new(WHIT);
    command.args(["agent", "--interval", "1s", "--http", http, "--config"]);
    command.arg(directory.join("agent.toml")).arg("--data").arg(directory.join("data"));
    command.arg("--now").arg(directory.join("now")).arg("--socket").arg(directory.join("socket"));
    command
}

/// What is known of a check.
fn show(directory: &Path, name: &str) -> Value {
    let data = directory.join("data");
    document(&["check", "show", name, "--json", "--data", data.to_str().unwrap()])["checks"][0].clone()
}

/// Each is run once. Those of networks are about this machine alone.
fn native() -> Result<(), Failed> {
    let scratch = Scratch::new("check-native");
    let place = scratch.0.display();
    let make = format!(
        "openssl req -x509 -newkey rsa:2048 -keyout {place}/key -out {place}/certificate -days 20 -nodes -subj /CN=localhost"
    );
    let made = Command::new("sh").args(["-c", &make]).stderr(Stdio::null()).status()?;
    assert!(made.success());
    let port = port();
    let mut server = Command::new("openssl");
    server.args(["s_server", "-quiet", "-accept", &port.to_string()]);
    server.arg("-key").arg(scratch.0.join("key")).arg("-cert").arg(scratch.0.join("certificate"));
    let _server = Running(server.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
    wait_for("the TLS server listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    let files = scratch.0.join("files");
    fs::create_dir_all(files.join("below"))?;
    for name in 0..3 {
        fs::write(files.join(name.to_string()), "")?;
    }
    let old = SystemTime::now() - Duration::from_secs(7200);
    fs::File::options().write(true).open(files.join("0"))?.set_modified(old)?;
    let closed = super::machine::port();
    let cases = [
        ("ping", "ping = \"127.0.0.1\"\npackets = 2".to_owned(), 0, "127.0.0.1 answered 2 of 2"),
        ("ping6", "ping = \"::1\"\npackets = 1".to_owned(), 0, "::1 answered 1 of 1"),
        ("name", "dns = \"localhost\"".to_owned(), 0, "localhost has the address 127.0.0.1"),
        (
            "other",
            "dns = \"localhost\"\naddresses = [\"192.0.2.7\"]".to_owned(),
            2,
            "localhost has the address 127.0.0.1, not 192.0.2.7",
        ),
        ("tcp", format!("tcp = \"localhost:{port}\""), 0, "localhost:"),
        ("closed", format!("tcp = \"127.0.0.1:{closed}\""), 2, "127.0.0.1:"),
        ("certificate", format!("certificate = \"localhost:{port}\""), 2, "the certificate of localhost:"),
        ("no_tls", format!("certificate = \"127.0.0.1:{closed}\""), 2, "127.0.0.1:"),
        ("many", format!("file = \"{place}/files\"\nmost = 2"), 2, ""),
        ("few", format!("file = \"{place}/files\"\nmost = 3"), 0, ""),
        ("old", format!("file = \"{place}/files\"\nolder = \"1h\""), 2, ""),
        ("one", format!("file = \"{place}/files/0\"\nolder = \"1h\""), 2, ""),
        ("new", format!("file = \"{place}/files/1\"\nolder = \"1h\""), 0, ""),
    ];
    let mut config = String::new();
    for (name, options, ..) in &cases {
        config.push_str(&format!("[[check]]\nname = \"{name}\"\n{options}\ntimeout = \"5s\"\n"));
    }
    let path = scratch.0.join("agent.toml");
    fs::write(&path, config)?;
    for (name, _, status, text) in &cases {
        let mut command = Command::new(WHIT);
        command.args(["check", "run", name, "--config"]).arg(&path).arg("--data").arg(&scratch.0);
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(*status), "{name}: {said}");
        assert!(said.split_once(": ").is_some_and(|(_, rest)| rest.starts_with(text)), "{name}: {said}");
        let expected = match *name {
            "certificate" => " days; it is not trusted",
            "many" => "has 3 files",
            "old" => "has 3 files, 1 of them older than",
            _ => "",
        };
        assert!(said.contains(expected), "{name}: {said}");
        // In the second it was made in, a certificate of 20 days has 20 left; later 19 and a part.
        let left = said.contains("expires in 19 days") || said.contains("expires in 20 days");
        assert!(*name != "certificate" || left, "{name}: {said}");
    }
    Ok(())
}

/// Addresses that are programs, between all quotation marks that a text for a shell can have.
fn hostile_values() -> Result<(), Failed> {
    let scratch = Scratch::new("check-hostile");
    let touched = scratch.0.join("touched");
    let run = format!("touch {}", touched.display());
    let addresses = [
        format!("1; {run}"),
        format!("$({run})"),
        format!("`{run}`"),
        format!("'; {run}; '"),
        format!("\"; {run}; \""),
        format!("'\"$({run})\"'"),
        format!("\\\"; {run} #"),
        "a  b * ~ $HOME".to_owned(),
    ];
    let texts = [
        "echo {address}",
        "echo '{address}'",
        "echo \"{address}\"",
        "echo x\"y{address}z\"'{address}'",
        "echo \"$(printf %s '{address}')\"",
        "(printf '%s ' {address} | cat) # {address}",
        "sh -c 'echo \"$1\"' sh {address}",
    ];
    let mut config = String::new();
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    for (place, address) in addresses.iter().enumerate() {
        config += &format!("[[host]]\nname = \"h{place}\"\naddress = {}\n", quoted(address));
    }
    let hosts: Vec<String> = (0..addresses.len()).map(|place| format!("\"h{place}\"")).collect();
    for (place, text) in texts.iter().enumerate() {
        let command = quoted(text);
        let hosts = hosts.join(", ");
        config += &format!(
            "[[check]]\nname = \"c{place}\"\nhosts = [{hosts}]\ncommand = {command}\nshell = true\n"
        );
    }
    let path = scratch.0.join("agent.toml");
    fs::write(&path, config)?;
    for (check, text) in texts.iter().enumerate() {
        for (host, address) in addresses.iter().enumerate() {
            let mut command = Command::new(WHIT);
            command.args(["check", "run", &format!("h{host}/c{check}"), "--config"]).arg(&path);
            let output = command.arg("--data").arg(&scratch.0).output()?;
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(said.contains(address.trim_end()), "{}: {address}: {said}", text);
            assert!(!touched.exists(), "{}: {address}", text);
        }
    }
    Ok(())
}

/// The columns that Thruk asks for whenever it shows a table, and how many rows there are.
const ASKED_BY_THRUK: [(&str, &str, usize); 7] = [
    (
        "hosts",
        "accept_passive_checks acknowledged action_url action_url_expanded active_checks_enabled address alias check_command \
         check_freshness check_interval check_options check_period check_type checks_enabled childs comments current_attempt \
         current_notification_number event_handler event_handler_enabled execution_time custom_variable_names \
         custom_variable_values first_notification_delay flap_detection_enabled groups has_been_checked high_flap_threshold \
         icon_image icon_image_alt icon_image_expanded is_executing is_flapping last_check last_notification \
         last_state_change latency low_flap_threshold max_check_attempts name next_check notes notes_expanded notes_url \
         notes_url_expanded notification_interval notification_period notifications_enabled num_services_crit \
         num_services_ok num_services_pending num_services_unknown num_services_warn num_services obsess_over_host parents \
         percent_state_change perf_data plugin_output process_performance_data retry_interval scheduled_downtime_depth \
         state state_type modified_attributes_list last_time_down last_time_unreachable last_time_up display_name \
         in_check_period in_notification_period contacts contact_groups long_plugin_output services",
        2,
    ),
    (
        "services",
        "accept_passive_checks acknowledged action_url action_url_expanded active_checks_enabled check_command \
         check_interval check_options check_period check_type checks_enabled comments current_attempt \
         current_notification_number description event_handler event_handler_enabled custom_variable_names \
         custom_variable_values execution_time first_notification_delay flap_detection_enabled groups has_been_checked \
         high_flap_threshold host_acknowledged host_action_url_expanded host_active_checks_enabled host_address host_alias \
         host_checks_enabled host_check_type host_latency host_plugin_output host_perf_data host_current_attempt \
         host_check_command host_comments host_groups host_has_been_checked host_icon_image_expanded host_icon_image_alt \
         host_is_executing host_is_flapping host_notes host_name host_notes_url_expanded host_notifications_enabled \
         host_scheduled_downtime_depth host_state host_accept_passive_checks host_last_state_change icon_image \
         icon_image_alt icon_image_expanded is_executing is_flapping last_check last_notification last_state_change latency \
         low_flap_threshold max_check_attempts next_check notes notes_expanded notes_url notes_url_expanded \
         notification_interval notification_period notifications_enabled obsess_over_service percent_state_change perf_data \
         plugin_output process_performance_data retry_interval scheduled_downtime_depth state state_type \
         modified_attributes_list last_time_critical last_time_ok last_time_unknown last_time_warning display_name \
         host_display_name host_custom_variable_names host_custom_variable_values in_check_period in_notification_period \
         host_parents contacts contact_groups long_plugin_output",
        2,
    ),
    (
        "status",
        "accept_passive_host_checks accept_passive_service_checks check_external_commands check_host_freshness \
         check_service_freshness enable_event_handlers enable_flap_detection enable_notifications execute_host_checks \
         execute_service_checks last_command_check last_log_rotation livestatus_version nagios_pid obsess_over_hosts \
         obsess_over_services process_performance_data program_start program_version interval_length",
        1,
    ),
    (
        "comments",
        "author comment entry_time entry_type expires expire_time host_name id persistent service_description source type",
        1,
    ),
    (
        "downtimes",
        "author comment end_time entry_time fixed host_name id start_time service_description triggered_by duration",
        3,
    ),
    ("contacts", "name alias email pager service_notification_period host_notification_period", 0),
    (
        "log",
        "class time type state host_name service_description plugin_output message options state_type contact_name",
        0,
    ),
];

/// Asks Livestatus.
fn ask(socket: &Path, request: &str) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn nagios() -> Result<(), Failed> {
    let scratch = Scratch::new("check-nagios-ways");
    let (fifo, socket) = (scratch.0.join("nagios.cmd"), scratch.0.join("live"));
    let config = format!(
        "[checks]\ncommand_file = \"{}\"\nlivestatus = \"{}\"\n\
         [[host]]\nname = \"web1\"\ncommand = [\"true\"]\ninterval = \"1s\"\n\
         [[check]]\nname = \"http\"\nhost = \"web1\"\npassive = true\nattempts = 1\n\
         [[check]]\nname = \"backup\"\npassive = true\n",
        fifo.display(),
        socket.display()
    );
    fs::write(scratch.0.join("agent.toml"), config)?;
    let _agent = start(&scratch.0, "127.0.0.1:0")?;
    wait_for("the host has a result", || show(&scratch.0, "web1")["state"] == "OK");
    let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let now_s = SystemTime::UNIX_EPOCH.elapsed()?.as_secs();
    let write = |command: &str| fs::write(&fifo, format!("[{now_s}] {command}\n"));
    write("PROCESS_SERVICE_CHECK_RESULT;web1;http;2;broken; really|time=3s")?;
    write(&format!("PROCESS_SERVICE_CHECK_RESULT;{machine};backup;1;late"))?;
    write("PROCESS_SERVICE_CHECK_RESULT;web1;nothing;0;no such check")?;
    write("no command")?;
    wait_for("both results came", || {
        let states = ["web1/http", "backup"].map(|name| show(&scratch.0, name)["state"].clone());
        states == ["CRITICAL", "WARNING"]
    });
    let services = ask(
        &socket,
        "GET services\nColumns: host_name description state plugin_output perf_data host_state\n\
         Filter: state > 0\nOutputFormat: json\n\n",
    );
    let rows: Value = serde_json::from_str(&services)?;
    let expected = serde_json::json!([
        ["web1", "http", 2, "broken; really", "time=3s", 0],
        [machine, "backup", 1, "late", "", 0],
    ]);
    assert_eq!(rows, expected);
    let counts = ask(&socket, "GET services\nStats: state = 0\nStats: state = 2\nStats: state > 0\n\n");
    assert_eq!(counts, "0;1;2\n");
    let hosts = ask(&socket, "GET hosts\nColumns: name state num_services_crit\nFilter: name = web1\n\n");
    assert_eq!(hosts, "web1;0;1\n");
    // Several requests by one connection, and one that is wrong.
    let two = ask(
        &socket,
        "GET hosts\nColumns: name\nFilter: name = web1\nKeepAlive: on\nResponseHeader: fixed16\n\n\
         GET nothing\nResponseHeader: fixed16\n\n",
    );
    assert!(two.starts_with("200           5\nweb1\n404          "), "{two}");
    ask(&socket, &format!("COMMAND [{now_s}] ACKNOWLEDGE_SVC_PROBLEM;web1;http;2;1;0;ann;on it\n\n"));
    let end_s = now_s + 600;
    ask(
        &socket,
        &format!("COMMAND [{now_s}] SCHEDULE_HOST_DOWNTIME;web1;{now_s};{end_s};1;0;600;ann;disk\n\n"),
    );
    wait_for("the acknowledgement is there", || {
        ask(&socket, "GET comments\nColumns: host_name service_description author comment\n\n")
            == "web1;http;ann;on it\n"
    });
    wait_for("the downtime is there", || {
        ask(&socket, "GET hosts\nColumns: scheduled_downtime_depth\nFilter: name = web1\n\n") == "1\n"
    });
    ask(
        &socket,
        &format!("COMMAND [{now_s}] SCHEDULE_HOST_DOWNTIME;{machine};{now_s};{end_s};1;0;600;ann;disk\n\n"),
    );
    wait_for("the machine's own checks have a downtime", || {
        ask(&socket, "GET services\nColumns: scheduled_downtime_depth\nFilter: description = backup\n\n")
            == "1\n"
    });
    for (table, columns, rows) in ASKED_BY_THRUK {
        let answer = ask(
            &socket,
            &format!("GET {table}\nColumns: {columns}\nOutputFormat: json\nResponseHeader: fixed16\n\n"),
        );
        assert!(answer.starts_with("200"), "{table}: {answer}");
        let found: Value = serde_json::from_str(answer.split_once('\n').unwrap_or_default().1)?;
        assert_eq!(found.as_array().map(Vec::len), Some(rows), "{table}");
    }
    // A client that sends nothing does not keep others from an answer.
    let _silent = UnixStream::connect(&socket)?;
    assert_eq!(ask(&socket, "GET hosts\nStats: name = web1\n\n"), "1\n");
    Ok(())
}

/// A file that cannot be opened, here since another process holds its lock, is tried again.
fn begin_late() -> Result<(), Failed> {
    let scratch = Scratch::new("check-begin-late");
    fs::create_dir(scratch.0.join("data"))?;
    let file = fs::File::create_new(scratch.0.join("data/checks.sqlite"))?;
    rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::LockExclusive)?;
    fs::write(
        scratch.0.join("agent.toml"),
        "[[check]]\nname = \"load\"\ncommand = [\"true\"]\ninterval = \"1s\"\n",
    )?;
    let mut agent = command(&scratch.0, "127.0.0.1:0").stderr(Stdio::piped()).spawn()?;
    let errors = agent.stderr.take().ok_or("stderr")?;
    let _agent = Running(agent);
    let mut lines = BufReader::new(errors).lines();
    let is_fault = |line: &String| line.contains("no checks are done until it can be written");
    assert!(lines.by_ref().map_while(Result::ok).any(|line| is_fault(&line)));
    drop(file);
    wait_for("the check has a result", || show(&scratch.0, "load")["state"] == "OK");
    Ok(())
}

/// The results of one agent come to another, also those from before it was there; its feed has their changes.
fn push() -> Result<(), Failed> {
    let (sender, receiver) = (Scratch::new("check-sender"), Scratch::new("check-receiver"));
    let port = port();
    let token = "0123456789abcdef";
    let config = format!(
        "[checks]\npush = {{ url = \"http://127.0.0.1:{port}\", token = \"{token}\", host = \"db1\" }}\n\
         [[check]]\nname = \"load\"\ncommand = [\"sh\", \"-c\", \"echo 'too high|load=7'; exit 2\"]\ninterval = \"1s\"\n\
         [[check]]\nname = \"large\"\ncommand = [\"sh\", \"-c\", \"echo much; head -c 60000 /dev/zero | tr '\\\\0' '%'\"]\ninterval = \"1s\"\n"
    );
    fs::write(sender.0.join("agent.toml"), config)?;
    let _sender = start(&sender.0, "127.0.0.1:0")?;
    wait_for("the sender has a result", || show(&sender.0, "load")["state"] == "CRITICAL");
    let config = format!(
        "[http]\ntoken = \"{token}\"\n[[check]]\nname = \"load\"\nhost = \"db1\"\npassive = true\nattempts = 1\nfresh = \"5s\"\n\
         [[check]]\nname = \"large\"\nhost = \"db1\"\npassive = true\n"
    );
    fs::write(receiver.0.join("agent.toml"), config)?;
    let _receiver = start(&receiver.0, &format!("127.0.0.1:{port}"))?;
    wait_for("the receiver has it", || show(&receiver.0, "db1/load")["figures"] == "load=7");
    wait_for("also what is long", || show(&receiver.0, "db1/large")["text"] == "much");
    let url = format!("http://127.0.0.1:{port}/feed.atom");
    let fetch = |password: &str| {
        let output = Command::new("curl").args(["-s", "-u", &format!("ann:{password}"), &url]).output();
        String::from_utf8_lossy(&output.unwrap().stdout).into_owned()
    };
    let feed = fetch(token);
    assert!(feed.contains("<title>check db1/load is CRITICAL</title>"), "{feed}");
    assert!(!fetch("wrong").contains("db1"));
    drop(_sender);
    wait_for("the result is stale", || show(&receiver.0, "db1/load")["is_stale"] == true);
    let listed = whit(&["check", "list", "--data", receiver.0.join("data").to_str().unwrap()]);
    assert!(listed.contains("UNKNOWN") && listed.contains("stale"), "{listed}");
    Ok(())
}
