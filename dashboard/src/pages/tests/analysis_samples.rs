//! Analysis reports for the tests of pages, with hostile text in every field.

use serde_json::{Value, json};

use super::samples::{HOSTILE, hostile, time};
use crate::view::{AnalysisSummary, AnalysisView};

pub(super) fn analysis_view(scope: &str) -> AnalysisView {
    AnalysisView {
        summary: AnalysisSummary {
            id: format!("{scope}-deep-0123456789abcdef"),
            scope: scope.to_owned(),
            depth: hostile(),
            at: time(),
            bytes: 4_000,
        },
        report: match scope {
            "architecture" => architecture_report(),
            "codebase" => codebase_report(),
            _ => json!({ HOSTILE: { "deep": [[[[[[[[HOSTILE]]]]]]]] } }),
        },
    }
}

fn listing(items: &Value) -> Value {
    json!({ "items": items, "omitted": 2 })
}

fn codebase_report() -> Value {
    let lines = json!({ "code": 10, "comment": 2, "blank": 1 });
    let apart = json!({ "files": 0, "lines": lines, "places": listing(&json!([])) });
    let spot = json!({
        "path": HOSTILE, "score": 50.5, "commits": 4, "churn": 9, "code": 3, "authors": 1, "lastChange": HOSTILE,
    });
    json!({
        "depth": "deep",
        "totals": { "files": 3, "lines": lines },
        "languages": listing(&json!([{ "language": HOSTILE, "files": 3, "lines": lines }])),
        "folders": listing(&json!([])),
        "tests": { "testFiles": 1, "productionFiles": 2, "testCode": 4, "productionCode": 6, "ratio": 0.6 },
        "largestFiles": listing(&json!([])),
        "generated": apart,
        "vendored": apart,
        "skipped": {
            "binary": 0, "huge": 0, "unknown": 0, "unreadable": 0, "symlinks": 0, "nestedRepositories": listing(&json!([HOSTILE])),
        },
        "history": {
            "commits": 4, "authors": 1, "first": HOSTILE, "last": HOSTILE, "added": 9, "deleted": 0,
            "hotspots": listing(&json!([spot])), "owners": listing(&json!([])), "busFactor": 1,
        },
        "complexity": {
            "functions": 3, "files": 1, "medianLines": 4, "longLines": 9, "top": listing(&json!([])),
            "distribution": [{ "from": 1, "to": 5, "functions": 2 }, { "from": 6, "functions": 1 }],
        },
        HOSTILE: { "deep": [[[[[[[[HOSTILE]]]]]]]] },
    })
}

fn architecture_report() -> Value {
    let none = || listing(&json!([]));
    json!({
        "depth": "deep",
        "identity": {
            "name": HOSTILE, "summary": HOSTILE, "languages": [{ "language": HOSTILE, "files": 3 }], "documents": [HOSTILE],
        },
        "packages": none(), "entryPoints": none(), "commands": none(), "folders": none(),
        "graph": {
            "files": 3, "fileImports": 2, "unresolved": 0, "modules": none(), "edges": none(), "cycles": none(),
            "fileCycles": none(), "layers": listing(&json!([{ "layer": 0, "modules": [HOSTILE] }])),
            "centralFiles": none(), "fileEdges": none(),
        },
        "changeCoupling": listing(&json!([{ "one": HOSTILE, "other": "b", "together": 3, "confidence": 70.0 }])),
    })
}
