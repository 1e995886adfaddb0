//! Names of containers: what engines leave in files, and what is said of tasks in their cgroups. No engine runs: its files are made, in a
//! mount namespace of their own.

use std::fs;
use std::path::PathBuf;

use libtest_mimic::Failed;

use super::machine::{Load, Scratch, WHIT, documents, shell, unified_mount, whit};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let needs = [Need::Root, Need::Accounting, Need::Program("unshare")];
    vec![exact("containers_have_the_names_of_their_engines", &needs, names)]
}

/// The cgroup of a container, the file that names it, and the labels that follow.
struct Engine {
    cgroup: &'static str,
    file: &'static str,
    text: &'static str,
    labels: [(&'static str, &'static str); 5],
}

/// In paths and texts `ID` stands for the id.
const ENGINES: [Engine; 4] = [
    Engine {
        cgroup: "docker/ID",
        file: "/var/lib/docker/containers/ID/config.v2.json",
        text: r#"{"ID":"ID","Name":"/whit-shop-db","Config":{"Image":"postgres:16","Labels":{}}}"#,
        labels: [
            ("engine", "docker"),
            ("container", "whit-shop-db"),
            ("image", "postgres:16"),
            ("pod", ""),
            ("namespace", ""),
        ],
    },
    Engine {
        cgroup: "libpod-ID.scope",
        file: "/var/lib/containers/storage/overlay-containers/volatile-containers.json",
        text: r#"[{"id":"ID","names":["web"],"metadata":"{\"image-name\":\"nginx:1\"}"}]"#,
        labels: [
            ("engine", "podman"),
            ("container", "web"),
            ("image", "nginx:1"),
            ("pod", ""),
            ("namespace", ""),
        ],
    },
    Engine {
        cgroup: "cri-containerd-ID.scope",
        file: "/run/containerd/io.containerd.runtime.v2.task/k8s.io/ID/config.json",
        text: r#"{"annotations":{"io.kubernetes.cri.container-name":"proxy","io.kubernetes.cri.image-name":"envoy:1",
            "io.kubernetes.cri.sandbox-name":"web-7d9f","io.kubernetes.cri.sandbox-namespace":"shop"}}"#,
        labels: [
            ("engine", "containerd"),
            ("container", "proxy"),
            ("image", "envoy:1"),
            ("pod", "web-7d9f"),
            ("namespace", "shop"),
        ],
    },
    Engine {
        cgroup: "pod12-34/ID",
        file: "/var/log/containers/db-0_shop_postgres-ID.log",
        text: "",
        labels: [
            ("engine", "container"),
            ("container", "postgres"),
            ("image", ""),
            ("pod", "db-0"),
            ("namespace", "shop"),
        ],
    },
];

/// Cgroups that end with the trial.
struct Cgroups(PathBuf);

impl Drop for Cgroups {
    fn drop(&mut self) {
        shell(&format!("find {} -depth -type d -exec rmdir {{}} +", self.0.display()));
    }
}

fn id(number: usize) -> String {
    format!("c0ffee{number:02x}{:056x}", std::process::id())
}

fn names() -> Result<(), Failed> {
    let scratch = Scratch::new("containers");
    let data = scratch.0.join("data");
    let cgroups =
        Cgroups(PathBuf::from(format!("{}/whit-containers-{}", unified_mount()?, std::process::id())));
    let mut sleepers = Vec::new();
    let mut script =
        "set -e; for place in /var/lib /var/log /run; do mount -t tmpfs none $place; done\n".to_owned();
    for (number, engine) in ENGINES.iter().enumerate() {
        let [cgroup, file, text] =
            [engine.cgroup, engine.file, engine.text].map(|part| part.replace("ID", &id(number)));
        let directory = cgroups.0.join(cgroup);
        fs::create_dir_all(&directory)?;
        let sleeper = Load::start(&["sleep", "1000"]);
        fs::write(directory.join("cgroup.procs"), sleeper.id().to_string())?;
        sleepers.push(sleeper);
        script += &format!("mkdir -p $(dirname {file}); cat > {file} <<'END'\n{text}\nEND\n");
    }
    let places = format!("--data {0} --now {0}/now --socket {0}/socket", data.display());
    script += &format!("{WHIT} agent -i 100ms -n 5 {places}; {WHIT} top --json -n 1 -i 200ms -C web\n");
    let path = scratch.0.join("script");
    fs::write(&path, script)?;
    let output = shell(&format!("unshare -m sh {}", path.display()));
    assert!(output.status.success(), "{output:?}");
    // The commands outside of the namespace see no engine's files: the history has the names.
    let data = data.to_str().unwrap_or_default();
    let exported = |series: &str| {
        documents(&whit(&["history", "export", "--data", data, "--format", "json", "--series", series]))
    };
    let described = exported("whit_container_info*");
    let tasks =
        whit(&["query", "count by (namespace, pod, container) (whit_task_resident_bytes)", "--data", data]);
    for (number, Engine { labels, .. }) in ENGINES.iter().enumerate() {
        let known = labels.iter().filter(|(_, value)| !value.is_empty());
        let pair = |(label, value): &(&str, &str)| format!("{label}=\"{value}\"");
        let mut pairs: Vec<String> = known.clone().map(pair).collect();
        pairs.push(format!("id=\"{}\"", &id(number)[..12]));
        pairs.sort();
        let series = format!("whit_container_info{{{}}}", pairs.join(","));
        assert!(described.iter().any(|one| one["series"] == series.as_str()), "{series}: {described:#?}");
        let mut of_tasks: Vec<String> =
            known.filter(|(label, _)| !["engine", "image"].contains(label)).map(pair).collect();
        of_tasks.sort();
        assert!(tasks.contains(&format!("{{{}}}", of_tasks.join(","))), "{of_tasks:?}: {tasks}");
    }
    for name in ["whit-shop-db", &id(0)[..12], &id(0)] {
        let said = whit(&["why", name, "--data", data, "--since", "-10m"]);
        // How long is said only if a reading was early in the window, which a busy machine may not have.
        assert!(said.starts_with("It slept") || said.starts_with("Asleep"), "{name}: {said}");
    }
    let tick = documents(&String::from_utf8(output.stdout)?).pop().ok_or("no tick")?;
    let rows = tick["tasks"].as_array().ok_or("no tasks")?;
    let found: Vec<_> = rows.iter().map(|row| (&row["pid"], row["container"].as_str())).collect();
    let web = serde_json::json!(sleepers[1].id());
    assert_eq!(found, [(&web, Some("web"))]);
    drop(sleepers);
    drop(cgroups);
    Ok(())
}
