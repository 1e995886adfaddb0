//! Dashboards as Grafana imports them
//! (<https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/>).

use serde_json::{Value, json};

use super::table::{Dashboard, Panel, Shape, Unit};

/// The model of version 10; later ones take it over.
const SCHEMA_VERSION: u32 = 39;
const HEIGHT: u8 = 9;
const FULL_WIDTH: u8 = 24;

pub(super) fn json(dashboard: &Dashboard) -> Value {
    let (mut x, mut y) = (0, 0);
    let panels = dashboard.panels.iter().enumerate().map(|(index, panel)| {
        if x + panel.width > FULL_WIDTH {
            (x, y) = (0, y + u32::from(HEIGHT));
        }
        let place = json!({ "x": x, "y": y, "w": panel.width, "h": HEIGHT });
        x += panel.width;
        panel_json(panel, dashboard.is_of_one, index + 1, place)
    });
    json!({
        "uid": format!("whit-{}", dashboard.file),
        "title": dashboard.title,
        "tags": ["whit"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": true,
        "refresh": "30s",
        "time": { "from": "now-1h", "to": "now" },
        "templating": { "list": [datasource(), machines(dashboard.is_of_one)] },
        "links": [{ "type": "dashboards", "title": "whit", "tags": ["whit"], "asDropdown": true, "keepTime": true, "includeVars": true }],
        "panels": panels.collect::<Vec<_>>(),
    })
}

fn datasource() -> Value {
    json!({ "name": "datasource", "label": "Store", "type": "datasource", "query": "prometheus" })
}

fn machines(is_of_one: bool) -> Value {
    let query = "label_values(whit_build_info, instance)";
    json!({
        "name": "instance",
        "label": if is_of_one { "Machine" } else { "Machines" },
        "type": "query",
        "datasource": source(),
        "query": { "query": query, "refId": "machines" },
        "definition": query,
        "refresh": 2,
        "sort": 1,
        "multi": !is_of_one,
        "includeAll": !is_of_one,
        "allValue": ".*",
        "current": if is_of_one { json!({}) } else { json!({ "text": "All", "value": "$__all" }) },
    })
}

fn source() -> Value {
    json!({ "type": "prometheus", "uid": "${datasource}" })
}

fn panel_json(panel: &Panel, is_of_one: bool, id: usize, place: Value) -> Value {
    let machines = if is_of_one { "instance=\"$instance\"" } else { "instance=~\"$instance\"" };
    let is_table = matches!(panel.shape, Shape::Table);
    let targets = panel.curves.iter().zip('A'..).map(|((expression, name), letter)| {
        json!({
            "refId": letter.to_string(),
            "datasource": source(),
            "expr": expression.replace("$m", machines).replace("$w", "$__rate_interval"),
            "legendFormat": name,
            "instant": is_table,
            "range": !is_table,
            "format": if is_table { "table" } else { "time_series" },
        })
    });
    let stacking = if matches!(panel.shape, Shape::Stack) { "normal" } else { "none" };
    let custom = match panel.shape {
        Shape::Table => json!({ "filterable": true }),
        _ => {
            json!({ "fillOpacity": if stacking == "none" { 0 } else { 60 }, "stacking": { "mode": stacking } })
        }
    };
    let mut json = json!({
        "id": id,
        "title": panel.title,
        "type": if is_table { "table" } else { "timeseries" },
        "datasource": source(),
        "gridPos": place,
        "targets": targets.collect::<Vec<_>>(),
        "fieldConfig": { "defaults": { "unit": unit(panel.unit), "min": 0, "custom": custom }, "overrides": [] },
    });
    if is_table {
        json["transformations"] = columns(panel);
    }
    json
}

/// One row of all answers about the same labels, with the names of the expressions above it.
fn columns(panel: &Panel) -> Value {
    // A single answer has its value in "Value", several have theirs in "Value #A" and so on.
    let name =
        |letter: char| if panel.curves.len() == 1 { "Value".to_owned() } else { format!("Value #{letter}") };
    let renamed = panel.curves.iter().zip('A'..).map(|((_, title), letter)| (name(letter), json!(title)));
    json!([
        { "id": "merge", "options": {} },
        { "id": "organize", "options": { "excludeByName": { "Time": true }, "renameByName": renamed.collect::<serde_json::Map<_, _>>() } },
    ])
}

/// Grafana's name of a unit.
fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => "bytes",
        Unit::BytesPerSecond => "Bps",
        Unit::Count => "short",
        Unit::Ratio => "percentunit",
        Unit::Seconds => "s",
        Unit::Waiting => "suffix: s/s",
    }
}
