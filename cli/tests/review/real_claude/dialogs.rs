//! A dialog of Claude Code is answered from the dashboard, and only the dialog that was seen.

use scripted_model::{Answer, Rule};
use serde_json::{Value, json};
use shared::model::InstanceId;
use tests::dashboard::Dashboard;

use super::ClaudeEnv;

/// Wants to run two commands, one after the other, that both need a permission.
fn two_commands() -> Vec<Rule> {
    let answers = vec![
        Answer::bash("curl -o first http://127.0.0.1:1/"),
        Answer::bash("curl -o second http://127.0.0.1:1/"),
        Answer::text("FINISHED"),
    ];
    vec![Rule::when("BEGIN", answers).once()]
}

fn dialog(dashboard: &Dashboard, id: &InstanceId) -> Value {
    let board = dashboard.get("/api/board").good();
    let columns = board["columns"].as_array().unwrap();
    let waiting = columns.iter().find(|column| column["key"] == "waiting");
    let cards = waiting.unwrap()["cards"].as_array().unwrap();
    let card = cards.iter().find(|card| card["id"] == id.as_str());
    card.map_or(Value::Null, |card| card["dialog"].clone())
}

fn is_about(dialog: &Value, what: &str) -> bool {
    dialog["detail"].to_string().contains(what)
}

#[test]
fn a_dialog_is_answered_from_its_card_and_no_other_is() {
    let Some(env) = ClaudeEnv::new(two_commands()) else {
        return;
    };
    let dashboard = Dashboard::start(&env, &[]);
    let coder = env.coder("BEGIN");
    env.until("the card has the first dialog", || {
        is_about(&dialog(&dashboard, &coder), "-o first")
    });
    let first = dialog(&dashboard, &coder);
    assert_eq!(first["question"], "Do you want to proceed?", "{first}");
    let choices = first["choices"].as_array().unwrap();
    assert_eq!(choices[0], json!({ "number": 1, "label": "Yes" }));
    let path = format!("/api/instances/{coder}/answer");
    let with = |dialog: &Value, choice: u64| {
        let body = json!({ "dialog": dialog["fingerprint"], "choice": choice });
        dashboard.post(&path, &body)
    };
    let wrong = with(&first, 9);
    assert_eq!(wrong.code(), "INVALID_ARGUMENTS");

    let answered = with(&first, 1).good();
    assert_eq!(answered["answered"], "Yes");
    env.until("the second dialog is open", || {
        is_about(&dialog(&dashboard, &coder), "-o second")
    });
    // The same question with the same choices, about another command: what was seen is not what is asked.
    let late = with(&first, 1);
    assert_eq!((late.status, late.code().as_str()), (409, "DIALOG_CHANGED"));
    let second = dialog(&dashboard, &coder);
    assert!(is_about(&second, "-o second"), "it is still open: {second}");

    // Whoever is in control answers by hand.
    let control = format!("/api/instances/{coder}/control");
    let taken = dashboard
        .post(&control, &json!({ "name": "Somebody" }))
        .good();
    assert_eq!(with(&second, 1).code(), "CONTROL_TAKEN");
    let lease = taken["lease"].as_str().unwrap();
    dashboard.delete(&control, &[("x-codex-lease", lease)]);
    let last = second["choices"].as_array().unwrap().last().unwrap();
    let no = with(&second, last["number"].as_u64().unwrap()).good();
    assert_eq!(no["answered"], "No");
    env.until("nothing is asked any more", || {
        dialog(&dashboard, &coder).is_null()
    });
    assert_eq!(with(&second, 1).code(), "DIALOG_CHANGED");
}
