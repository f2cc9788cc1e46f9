//! Checks documents against the checked-in schemas.

use serde_json::Value;

/// Checks a value against the part of JSON schema that the checked-in files use. A field that the schema does not name
/// is an error here, so that the schema always contains all fields.
pub fn check(schema: &Value, root: &Value, value: &Value, at: &str) {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("{name} is not defined"));
        return check(target, root, value, at);
    }
    if let Some(wanted) = schema.get("const") {
        assert_eq!(value, wanted, "{at}");
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array) {
        assert!(allowed.contains(value), "{at}: {value}");
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let fits = |wanted: &str| wanted == kind || (wanted == "number" && kind == "integer");
    match schema.get("type") {
        Some(Value::String(wanted)) => assert!(fits(wanted), "{at}: {kind} for {wanted}"),
        Some(Value::Array(all)) => assert!(all.iter().any(|wanted| fits(wanted.as_str().unwrap())), "{at}: {kind}"),
        _ => {}
    }
    match value {
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                check(&schema["items"], root, item, &format!("{at}[{number}]"));
            }
        }
        Value::Object(fields) => {
            for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
                assert!(fields.contains_key(name.as_str().unwrap()), "{at}: {name} is missing");
            }
            for (name, field) in fields {
                let known =
                    schema.get("properties").and_then(|all| all.get(name)).or(schema.get("additionalProperties"));
                let known = known.unwrap_or_else(|| panic!("{at}.{name} is not in the schema"));
                check(known, root, field, &format!("{at}.{name}"));
            }
        }
        _ => {}
    }
}
