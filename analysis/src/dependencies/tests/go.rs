use super::*;

const MOD: &str = "module example.com/app\n\ngo 1.22\n\nrequire github.com/pkg/errors v0.9.1\n\nrequire (\n\tgolang.org/x/sync v0.7.0\n\tgithub.com/used/tool v1.0.0\n\tgithub.com/local/thing v1.2.3\n\tgithub.com/deep/one v1.0.0 // indirect\n)\n\nreplace github.com/local/thing => ./thing\n\ntool github.com/used/tool/cmd/x\n";

const SUM: &str = "github.com/pkg/errors v0.9.0 h1:a=\ngithub.com/pkg/errors v0.9.1 h1:a=\ngithub.com/pkg/errors v0.9.1/go.mod h1:b=\ngolang.org/x/sync v0.7.0 h1:c=\ngithub.com/yaml/yaml v1.0.0 h1:d=\ngithub.com/yaml/yaml/v2 v2.1.0 h1:d=\ngithub.com/only/mod v1.0.0/go.mod h1:e=\n";

#[test]
fn modules_replacements_and_usage() {
    let repository = Repository::with(&[("go.mod", MOD), ("go.sum", SUM)]);
    repository.write(
        "main.go",
        "package main\n\nimport (\n\t\"fmt\"\n\t\"golang.org/x/sync/errgroup\"\n)\n",
    );
    let report = repository.report(Depth::Deep);
    assert_eq!(
        line(&report, "github.com/pkg/errors"),
        "github.com/pkg/errors v0.9.1 -> v0.9.1 Normal Registry go.mod:5"
    );
    assert_eq!(direct(&report, "github.com/deep/one").kind, Kind::Indirect);
    assert_eq!(
        direct(&report, "github.com/local/thing")
            .location
            .as_deref(),
        Some("thing")
    );
    assert_eq!(report.locked.len(), 4, "{:?}", report.locked);
    assert_eq!(duplicate(&report, "github.com/yaml/yaml").versions.len(), 2);
    assert_eq!(
        unused(&report, "github.com/pkg/errors"),
        Some(Confidence::High)
    );
    assert_eq!(unused(&report, "golang.org/x/sync"), None);
    assert_eq!(unused(&report, "github.com/used/tool"), None);
    assert_eq!(unused(&report, "github.com/deep/one"), None);
}
