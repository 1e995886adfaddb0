//! docs/schema, and documents held against it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value};

/// The root of the source tree.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All schemas by name.
pub(crate) fn schemas() -> BTreeMap<String, Value> {
    let mut schemas = BTreeMap::new();
    for entry in fs::read_dir(root().join("docs/schema")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        schemas.insert(name, serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap());
    }
    schemas
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("no object: {value}"))
}

/// The keywords that the schemas use, checked as JSON Schema defines them.
fn check(whole: &Value, schema: &Value, value: &Value, place: &str) {
    for (keyword, rule) in object(schema) {
        match keyword.as_str() {
            "$schema" | "title" | "description" | "unit" | "$defs" => {}
            "$ref" => {
                let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                check(whole, whole.pointer(pointer).unwrap(), value, place);
            }
            "const" => assert_eq!(value, rule, "{place}"),
            "enum" => assert!(rule.as_array().unwrap().contains(value), "{place}: {value}"),
            "type" => {
                let types = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
                let is_any = types.iter().any(|name| is_of_type(value, name.as_str().unwrap()));
                assert!(is_any, "{place}: {value} is none of {types:?}");
            }
            "required" => {
                if let Some(fields) = value.as_object() {
                    for name in rule.as_array().unwrap() {
                        assert!(fields.contains_key(name.as_str().unwrap()), "{place}: {name} is absent");
                    }
                }
            }
            "properties" | "additionalProperties" => {}
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    check(whole, rule, item, &format!("{place}[]"));
                }
            }
            other => panic!("{place}: the schema says {other}"),
        }
    }
    let Some(fields) = value.as_object() else { return };
    if schema.get("$ref").is_some() {
        return;
    }
    for (name, field) in fields {
        let place = format!("{place}.{name}");
        match (schema["properties"].get(name), &schema["additionalProperties"]) {
            (Some(property), _) => check(whole, property, field, &place),
            (None, Value::Object(_)) => check(whole, &schema["additionalProperties"], field, &place),
            (None, _) => panic!("{place}: the schema has no such field"),
        }
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type is called {other}"),
    }
}

/// Checks a document against its schema; `origin` is what printed it.
pub(crate) fn check_document(schemas: &BTreeMap<String, Value>, document: &Value, origin: &str) {
    let name =
        document["document"].as_str().unwrap_or_else(|| panic!("{origin}: which document? {document}"));
    let schema = schemas.get(name).unwrap_or_else(|| panic!("{origin}: no schema of {name}"));
    check(schema, schema, document, &format!("{origin}: {name}"));
}
