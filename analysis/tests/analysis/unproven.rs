//! What the architecture report leaves out because nothing proves it.

use crate::support::Repo;
use analysis::report::architecture::{ArchitectureReport, Role};
use analysis::{Budget, Depth, Report as _, architecture};

fn medium(repo: &Repo) -> ArchitectureReport {
    architecture(
        repo.path(),
        Depth::Medium,
        &Budget::for_depth(Depth::Medium),
    )
    .unwrap()
}

#[test]
fn a_sponsor_is_no_summary() {
    let repo = Repo::init();
    repo.write(
        "README.md",
        "# fast\n\nA benchmarking tool.\n\nMeasures how long commands take.\n\n### Sponsors\n\nA special *thank you* goes to our biggest sponsor, without whom nothing would be:\n",
    );
    let identity = medium(&repo).identity;
    assert_eq!(
        identity.summary.as_deref(),
        Some("Measures how long commands take.")
    );
}

#[test]
fn names_below_the_source_are_no_roles() {
    let repo = Repo::init();
    repo.write("src/main.rs", "mod benchmark;\nfn main() {}\n")
        .write("src/benchmark/mod.rs", "pub fn run() {}\n")
        .write("src/util/mod.rs", "pub fn max() {}\n")
        .write("benches/all.rs", "fn main() {}\n");
    let report = medium(&repo);
    let roles: Vec<(&str, Role)> = report
        .folders
        .items
        .iter()
        .map(|role| (role.folder.as_str(), role.role))
        .collect();
    assert_eq!(
        roles,
        [("src", Role::Source), ("benches", Role::Benchmarks)]
    );
}

#[test]
fn a_language_without_imports_has_no_graph() {
    let repo = Repo::init();
    repo.write("app.gemspec", "Gem::Specification.new do |s|\n  s.name = 'app'\nend\n")
        .write("lib/app.rb", "class App\n  def self.[](key)\n  end\n  def call(env)\n  end\n  def call(other)\n  end\nend\n");
    let report = medium(&repo);
    assert!(report.graph.is_none() && report.public_surface.is_none());
    assert!(
        !report.headline().contains("cycle"),
        "{}",
        report.headline()
    );
    assert!(
        report
            .incomplete
            .items
            .iter()
            .any(|part| part.what == "graph")
    );
    // Gem specifications are programs: what they ask for is not counted here.
    assert_eq!(report.packages.items[0].external_dependencies, None);
    let symbols = report.symbols.unwrap();
    let names: Vec<&str> = symbols.items[0]
        .symbols
        .iter()
        .map(|symbol| symbol.name.as_str())
        .collect();
    assert_eq!(names, ["App", "call"]);
}
