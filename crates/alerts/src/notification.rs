//! Notifications of alerts for receivers.

use serde_json::{Value, json};

use super::active::Active;
use history::answer::rfc3339;
use notify::{Delivery, Letter, Subject, Variables};

impl Subject for Active {
    fn key(&self) -> String {
        self.name().to_string()
    }

    fn title(&self) -> String {
        format!("the alert \"{}\"", self.rule())
    }

    fn letter(delivery: &Delivery<Self>) -> Letter {
        let alert = &delivery.subject;
        let line = format!("[{}] {}: {}", state(delivery), alert.rule(), alert.text);
        let labels =
            alert.labels.iter().map(|(name, value)| format!("{name} = {value}\n")).collect::<String>();
        Letter { line, text: format!("{labels}value = {}\nsince {}\n", alert.value, rfc3339(alert.since_ms)) }
    }

    fn document(delivery: &Delivery<Self>) -> Value {
        document(delivery)
    }

    fn variables(delivery: &Delivery<Self>) -> Variables {
        let alert = &delivery.subject;
        let fields = vec![
            ("{name}", alert.rule().to_owned()),
            ("{state}", state(delivery).to_owned()),
            ("{text}", alert.text.clone()),
            ("{value}", alert.value.clone()),
            ("{kind}", "alert".to_owned()),
        ];
        let variables = [
            ("WHIT_ALERT_ID", delivery.id.clone()),
            ("WHIT_ALERT_NAME", alert.rule().to_owned()),
            ("WHIT_ALERT_STATE", state(delivery).to_owned()),
            ("WHIT_ALERT_TEXT", alert.text.clone()),
            ("WHIT_ALERT_VALUE", alert.value.clone()),
            ("WHIT_ALERT_SINCE", rfc3339(alert.since_ms)),
            ("WHIT_ALERT_LABELS", json!(alert.labels).to_string()),
        ];
        let environment = variables.map(|(name, value)| (name.to_owned(), value));
        Variables { fields, environment: environment.to_vec() }
    }
}

fn state(delivery: &Delivery<Active>) -> &'static str {
    if delivery.is_end { "resolved" } else { "firing" }
}

/// Returns the document that Alertmanager's webhooks are sent, version 4: many receivers know it.
/// <https://prometheus.io/docs/alerting/latest/configuration/#webhook_config>
fn document(delivery: &Delivery<Active>) -> Value {
    let alert = &delivery.subject;
    let annotations = json!({ "summary": alert.text, "value": alert.value });
    let ends_at =
        if delivery.is_end { rfc3339(delivery.created_ms) } else { "0001-01-01T00:00:00Z".to_owned() };
    json!({
        "version": "4",
        "groupKey": delivery.id,
        "truncatedAlerts": 0,
        "status": state(delivery),
        "receiver": delivery.receiver,
        "groupLabels": {},
        "commonLabels": alert.labels,
        "commonAnnotations": annotations,
        "externalURL": "",
        "alerts": [{
            "status": state(delivery),
            "labels": alert.labels,
            "annotations": annotations,
            "startsAt": rfc3339(alert.since_ms),
            "endsAt": ends_at,
            "generatorURL": "",
            "fingerprint": delivery.id,
        }],
    })
}
