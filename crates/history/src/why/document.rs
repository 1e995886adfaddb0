//! Findings as JSON, as `whit why --json` prints them and the agent answers with them, and back.

use serde_json::{Value, json};

use super::sentence::{Culprit, Evidence, Findings, Program, Sentence, Trouble};

impl Findings {
    /// Returns them as the fields of a document: `sentences` and `missing`.
    pub fn to_json(&self) -> Value {
        let sentences = self.sentences.iter().map(|sentence| {
            let evidence = sentence.evidence.iter();
            let evidence = evidence.map(|one| json!({ "expression": one.expression, "value": one.value }));
            let program = sentence.culprit.as_ref().and_then(Culprit::program);
            json!({
                "trouble": sentence.trouble.name(),
                "weight_ratio": sentence.weight,
                "lost_ratio": sentence.lost,
                "text": sentence.text,
                "culprit": sentence.culprit.as_ref().map(Culprit::name),
                "culprit_kind": sentence.culprit.as_ref().map(Culprit::kind),
                "culprit_pid": program.and_then(|program| program.pid),
                "culprit_cgroup": program.and_then(|program| program.cgroup.as_deref()),
                "culprit_container": program.and_then(|program| program.container.as_deref()),
                "evidence": evidence.collect::<Vec<_>>(),
            })
        });
        json!({ "sentences": sentences.collect::<Vec<_>>(), "missing": self.missing })
    }

    /// Reads what [`Self::to_json`] returned; `None` if a field is missing, or names something that this version does not know.
    pub fn from_json(document: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let sentences = document["sentences"].as_array()?.iter().map(sentence).collect::<Option<_>>()?;
        Some(Self {
            sentences,
            missing: document["missing"].as_array()?.iter().map(text).collect::<Option<_>>()?,
        })
    }
}

fn sentence(document: &Value) -> Option<Sentence> {
    let evidence = |one: &Value| {
        let expression = one["expression"].as_str()?.to_owned();
        // JSON cannot contain NaN: null stands in its place.
        Some(Evidence { expression, value: one["value"].as_f64().unwrap_or(f64::NAN) })
    };
    Some(Sentence {
        trouble: Trouble::by_name(document["trouble"].as_str()?)?,
        weight: document["weight_ratio"].as_f64()?,
        lost: document["lost_ratio"].as_f64(),
        text: document["text"].as_str()?.to_owned(),
        culprit: culprit(document)?,
        evidence: document["evidence"].as_array()?.iter().map(evidence).collect::<Option<_>>()?,
    })
}

/// The culprit of a sentence, which may have none; `None` if it is of an unknown kind.
fn culprit(document: &Value) -> Option<Option<Culprit>> {
    let text = |name: &str| document[name].as_str().map(str::to_owned);
    let Some(name) = text("culprit") else { return Some(None) };
    Some(Some(match document["culprit_kind"].as_str()? {
        "program" => Culprit::Program(Program {
            comm: name,
            // Agents of before say only the name.
            pid: document["culprit_pid"].as_u64().and_then(|pid| pid.try_into().ok()),
            cgroup: text("culprit_cgroup"),
            container: text("culprit_container"),
        }),
        "cgroup" => Culprit::Cgroup(name),
        "filesystem" => Culprit::Filesystem(name),
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_come_back_from_json() {
        let sentence = |trouble, culprit| Sentence {
            trouble,
            weight: 0.5,
            lost: None,
            text: "Tasks waited.".to_owned(),
            culprit,
            evidence: vec![Evidence { expression: "node_load1".to_owned(), value: 1.25 }],
        };
        let [comm, cgroup, container] = ["dd", "/docker/3f2a", "docker shop-db"].map(str::to_owned);
        let program = Program { comm, pid: Some(77), cgroup: Some(cgroup), container: Some(container) };
        let findings = Findings {
            sentences: vec![
                sentence(Trouble::Cpu, Some(Culprit::Program(program))),
                sentence(Trouble::Quota, Some(Culprit::Cgroup("/a.slice".to_owned()))),
                sentence(Trouble::FullFilesystem, Some(Culprit::Filesystem("/srv".to_owned()))),
                Sentence { lost: Some(2.5), ..sentence(Trouble::OwnTime, None) },
            ],
            missing: vec!["PSI".to_owned()],
        };
        let read = Findings::from_json(&findings.to_json()).unwrap();
        assert_eq!((read.sentences, read.missing), (findings.sentences.clone(), findings.missing.clone()));
        let mut document = findings.to_json();
        document["sentences"][0]["trouble"] = "bad_luck".into();
        assert!(Findings::from_json(&document).is_none());
    }

    #[test]
    fn each_trouble_is_found_by_its_name() {
        for trouble in Trouble::ALL {
            assert_eq!(Trouble::by_name(trouble.name()), Some(trouble));
        }
    }
}
