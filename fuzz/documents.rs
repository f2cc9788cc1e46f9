//! Changes documents at random such that they stay JSON: numbers, names, rows and fields differ, and most documents can
//! still be read.

use serde_json::Value;

use super::harness::Random;

/// Returns a document with a few changes.
pub fn changed(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let read = |seed: &Vec<u8>| serde_json::from_slice::<Value>(seed).expect("a seed is a document");
    let mut document = read(&seeds[random.below(seeds.len())]);
    for _ in 0..1 + random.below(6) {
        change(pick(&mut document, random), random);
    }
    serde_json::to_vec(&document).expect("JSON")
}

/// Selects a value in the document: at each level, every branch is equally likely, so that long lists do not get all
/// changes.
fn pick<'a>(value: &'a mut Value, random: &mut Random) -> &'a mut Value {
    let count = value.as_array().map_or(0, Vec::len) + value.as_object().map_or(0, serde_json::Map::len);
    // Containers themselves also change.
    if count == 0 || random.below(12) == 0 {
        return value;
    }
    let chosen = random.below(count);
    let inner = match value {
        Value::Array(items) => items.get_mut(chosen),
        Value::Object(fields) => fields.iter_mut().nth(chosen).map(|(_, inner)| inner),
        _ => None,
    };
    pick(inner.expect("as many as were counted"), random)
}

fn change(value: &mut Value, random: &mut Random) {
    match value {
        Value::Number(number) => {
            let old = number.as_u64().unwrap_or(1);
            *value = match random.below(12) {
                0 => 0u64.into(),
                1 => u64::MAX.into(),
                2 => u32::MAX.into(),
                3 => (1u64 << random.below(64)).into(),
                4 => i64::MIN.into(),
                5 => f64::MAX.into(),
                6 => f64::MIN_POSITIVE.into(),
                7 => (-1).into(),
                8 => old.wrapping_add(1).into(),
                9 => old.wrapping_sub(1).into(),
                10 => random.below(40).into(),
                _ => (old.wrapping_mul(0x1_0001) ^ random.next() >> random.below(64)).into(),
            };
        }
        Value::String(text) => match random.below(5) {
            0 => text.clear(),
            1 => *text = text.repeat(1 + random.below(400)),
            2 => text.insert_str(0, "=\u{202e}\x1b[2J\r\n\0\"<script>,;"),
            3 => text.truncate(text.char_indices().nth(random.below(text.len() + 1)).map_or(0, |(at, _)| at)),
            _ => *text = random.next().to_string(),
        },
        Value::Array(items) if !items.is_empty() => {
            let (at, other) = (random.below(items.len()), random.below(items.len()));
            match random.below(6) {
                0 => _ = items.remove(at),
                1 => items.insert(at, items[other].clone()),
                2 => items.swap(at, other),
                3 => items.truncate(at),
                4 => items.clear(),
                _ => (0..random.below(200)).for_each(|_| items.push(items[at].clone())),
            }
        }
        Value::Object(fields) if !fields.is_empty() => {
            let names: Vec<String> = fields.keys().cloned().collect();
            let (name, other) = (&names[random.below(names.len())], &names[random.below(names.len())]);
            match random.below(3) {
                0 => _ = fields.remove(name),
                1 => _ = fields.insert(name.clone(), fields[other].clone()),
                _ => _ = fields.insert(random.next().to_string(), fields[other].clone()),
            }
        }
        Value::Bool(bit) => *bit = !*bit,
        Value::Null => *value = random.next().into(),
        _ => {}
    }
}
