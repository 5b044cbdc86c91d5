//! The JSON Schemas of the published formats, generated from their types.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::difference::Diff;
use super::doctor::Diagnosis;
use super::evidence::Evidence;
use super::explain::Explained;
use super::inventory::Inventory;
use crate::journal::export::Export;

/// Returns each published format: file name under `assets/schema/`, schema.
pub fn all() -> [(&'static str, Value); 6] {
    [
        ("inventory-1.schema.json", of::<Inventory>()),
        ("evidence-1.schema.json", of::<Evidence>()),
        ("explain-1.schema.json", of::<Explained>()),
        ("record-1.schema.json", of::<Export>()),
        ("diff-1.schema.json", of::<Diff>()),
        ("doctor-1.schema.json", of::<Diagnosis>()),
    ]
}

/// Returns the schema of what a type writes: a key that is always written is required, though it
/// may be `null`.
fn of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::all;

    #[test]
    fn the_files_are_what_the_types_say() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/schema");
        for (name, schema) in all() {
            let path = folder.join(name);
            let wanted = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
            if std::env::var_os("MCPWAKE_BLESS").is_some() {
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(&path, &wanted).unwrap();
            }
            let found = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(
                found == wanted,
                "{name} differs from its type: MCPWAKE_BLESS=1 cargo test --lib schema"
            );
        }
    }
}
