//! The dashboards of deploy/fleet.

mod grafana;
mod table;

use crate::outcome::Outcome;

use table::{DASHBOARDS, Dashboard};

/// Writes a file for each.
pub(crate) fn write() -> Outcome {
    for dashboard in &DASHBOARDS {
        let (path, text) = file(dashboard);
        std::fs::write(&path, text).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}

fn file(dashboard: &Dashboard) -> (String, String) {
    let path = format!("deploy/fleet/dashboards/{}.json", dashboard.file);
    (path, format!("{:#}\n", grafana::json(dashboard)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_made_of_the_tables() {
        for dashboard in &DASHBOARDS {
            let (path, text) = file(dashboard);
            let kept = std::fs::read_to_string(format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
            assert!(kept == text, "{path}: cargo xtask docs");
        }
    }
}
