//! `path` and `query` of `analyze_repository`: the answer, the cache and refusals.

use serde_json::{Value, json};

use crate::analysis::{arguments, planner, project};

#[test]
fn a_query_or_a_path_is_answered_with_what_belongs_to_it() {
    let env = project();
    let mut client = planner(&env);
    let tools = client.request("tools/list", json!({})).unwrap();
    let schema = jsonschema::validator_for(&tools["tools"][1]["outputSchema"]).unwrap();
    let fields = client.read("codex://schemas/focus").unwrap();
    let fields = jsonschema::validator_for(&fields).unwrap();
    let mut ask = |more: Value| {
        let mut asked = arguments("codebase", "medium");
        for (name, value) in more.as_object().unwrap() {
            asked[name] = value.clone();
        }
        client.call("analyze_repository", asked)
    };
    let by_query = ask(json!({"query": "greet in the core"}));
    assert!(!by_query.is_error, "{by_query:?}");
    let answer = &by_query.value;
    assert!(
        schema.is_valid(answer) && fields.is_valid(&answer["focus"]),
        "{answer}"
    );
    assert_eq!(answer["codebase"], Value::Null);
    assert_eq!(
        answer["focus"]["files"]["items"][0]["path"],
        "core/src/lib.rs"
    );
    assert!(
        answer["analysisId"]
            .as_str()
            .unwrap()
            .starts_with("focus-medium-")
    );
    assert_eq!(
        ask(json!({"query": "greet in the core"})).value["cached"],
        true
    );

    let by_path = ask(json!({"path": "core", "query": "greet in the core"})).value;
    assert_eq!(by_path["cached"], false, "the path is part of the key");
    assert_ne!(by_path["analysisId"], answer["analysisId"]);
    let files = by_path["focus"]["files"]["items"].as_array().unwrap();
    assert!(!files.is_empty());
    assert!(
        files
            .iter()
            .all(|file| file["path"].as_str().unwrap().starts_with("core/"))
    );

    for wrong in [
        json!({"path": "../.."}),
        json!({"path": "/etc"}),
        json!({"path": "no/such/file"}),
        json!({"query": "?"}),
        json!({"query": "word ".repeat(200)}),
    ] {
        let refused = ask(wrong.clone());
        assert!(refused.is_error, "{wrong}");
        assert_eq!(
            refused.value["code"], "INVALID_ARGUMENTS",
            "{wrong}: {refused:?}"
        );
        assert!(!refused.value["hint"].as_str().unwrap().is_empty());
    }
}
