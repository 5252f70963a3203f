//! The `OpenAPI` document, generated from the types of requests and responses.

mod operations;
mod review_operations;

use std::sync::LazyLock;

use axum::Json;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};
use shared::error::Error;

use operations::{Answer, Body, Operation, Parameter, Safety};

/// Where the document has its schemas, and references point to.
const SCHEMAS_PATH: &str = "/components/schemas";

static DOCUMENT: LazyLock<Value> = LazyLock::new(build);

/// `GET /api/openapi.json`.
pub(crate) async fn document() -> Json<&'static Value> {
    Json(&DOCUMENT)
}

/// Schema generators for responses (serialized) and requests (deserialized).
struct Schemas {
    given: SchemaGenerator,
    taken: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = SCHEMAS_PATH.into();
                settings.meta_schema = None;
            })
        };
        Self {
            given: settings().for_serialize().into_generator(),
            taken: settings().for_deserialize().into_generator(),
        }
    }

    fn definitions(mut self) -> Map<String, Value> {
        let mut all = self.given.take_definitions(true);
        for (name, schema) in self.taken.take_definitions(true) {
            all.entry(name).or_insert(schema);
        }
        all
    }
}

fn given<T: JsonSchema>(schemas: &mut Schemas) -> Schema {
    schemas.given.subschema_for::<T>()
}

fn taken<T: JsonSchema>(schemas: &mut Schemas) -> Schema {
    schemas.taken.subschema_for::<T>()
}

fn all_operations() -> Vec<Operation> {
    let mut all = operations::all();
    all.extend(review_operations::discarding());
    all.extend(review_operations::all());
    all
}

fn build() -> Value {
    let mut schemas = Schemas::new();
    let error = given::<Error>(&mut schemas);
    let mut paths = Map::new();
    for operation in all_operations() {
        let described = describe(&operation, &error, &mut schemas);
        let path = paths
            .entry(operation.path)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(path) = path {
            path.insert(operation.method.to_owned(), described);
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Claude Codex dashboard",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Agents, their terminals and pull requests, and actions on them. Errors are `{code, message, hint, details}` \
                with a stable code. With the cookie of a browser, requests that change something also need the \
                header `x-codex-csrf`; with `Authorization: Bearer TOKEN` they don't.",
        },
        "servers": [{ "url": "/" }],
        "security": [{ "token": [] }, { "cookie": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "cookie": { "type": "apiKey", "in": "cookie", "name": "codex_dashboard_PORT" },
            },
            "schemas": schemas.definitions(),
        },
    })
}

fn describe(operation: &Operation, error: &Schema, schemas: &mut Schemas) -> Value {
    let mut described = Map::new();
    described.insert("operationId".to_owned(), operation.name.into());
    described.insert("summary".to_owned(), operation.summary.into());
    let in_path = in_path(operation.path);
    let named = operation.parameters.iter();
    let parameters: Vec<Value> = in_path.chain(named.map(parameter)).collect();
    if !parameters.is_empty() {
        described.insert("parameters".to_owned(), parameters.into());
    }
    if let Some(Body { schema, required }) = &operation.body {
        let content = json!({ "application/json": { "schema": schema(schemas) } });
        let body = json!({ "required": required, "content": content });
        described.insert("requestBody".to_owned(), body);
    }
    let mut responses = Map::new();
    for (status, answer) in &operation.answers {
        responses.insert(status.to_string(), response(answer, schemas));
    }
    let problem = json!({
        "description": "An error; its code says which.",
        "content": { "application/json": { "schema": error } },
    });
    responses.insert("4XX".to_owned(), problem.clone());
    responses.insert("5XX".to_owned(), problem);
    described.insert("responses".to_owned(), responses.into());
    if operation.safety == Safety::Open {
        described.insert("security".to_owned(), json!([]));
    }
    Value::Object(described)
}

/// Describes the parameters in a path.
fn in_path(path: &str) -> impl Iterator<Item = Value> {
    path.split('/').filter_map(|part| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        let schema = if name == "number" || name == "comment" {
            json!({ "type": "integer", "minimum": 1, "maximum": i64::MAX })
        } else {
            json!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$" })
        };
        Some(json!({ "name": name, "in": "path", "required": true, "schema": schema }))
    })
}

fn parameter(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "in": parameter.place,
        "required": false,
        "description": parameter.description,
        "schema": parameter.schema,
    })
}

fn response(answer: &Answer, schemas: &mut Schemas) -> Value {
    match answer {
        Answer::Json(what, schema) => json!({
            "description": what,
            "content": { "application/json": { "schema": schema(schemas) } },
        }),
        Answer::Text(what, kind) => json!({
            "description": what,
            "content": { *kind: { "schema": { "type": "string" } } },
        }),
        Answer::Nothing(what) => json!({ "description": what }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `method path` of all routes that are not pages, as the router has them.
    fn routes() -> Vec<String> {
        let source = include_str!("../routes.rs");
        let (_, rest) = source.split_once("fn rest()").unwrap();
        let mut found = Vec::new();
        for route in rest.split(".route(").skip(1) {
            let path = route.split('"').nth(1).unwrap();
            let handlers = route.split('"').nth(2).unwrap();
            for method in ["get", "post", "delete", "put", "patch"] {
                if handlers.contains(&format!("{method}(")) {
                    found.push(format!("{method} {path}"));
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn every_route_is_described_and_every_description_has_a_route() {
        let mut described = Vec::new();
        for (path, methods) in DOCUMENT["paths"].as_object().unwrap() {
            for method in methods.as_object().unwrap().keys() {
                described.push(format!("{method} {path}"));
            }
        }
        described.sort();
        assert_eq!(described, routes());
    }

    #[test]
    fn every_reference_leads_somewhere() {
        fn check(value: &Value) {
            match value {
                Value::Object(fields) => {
                    if let Some(Value::String(reference)) = fields.get("$ref") {
                        let pointer = reference.strip_prefix('#').unwrap();
                        assert!(DOCUMENT.pointer(pointer).is_some(), "{reference}");
                    }
                    fields.values().for_each(check);
                }
                Value::Array(items) => items.iter().for_each(check),
                _ => {}
            }
        }
        check(&DOCUMENT);
        let names: std::collections::BTreeSet<_> = all_operations()
            .iter()
            .map(|operation| operation.name)
            .collect();
        assert_eq!(names.len(), all_operations().len());
    }
}
