//! `NuGet`, Composer and Bundler.

use super::*;

#[test]
fn composer() {
    let manifest = "{\n \"name\": \"a/b\",\n \"license\": [\"MIT\", \"GPL-3.0\"],\n \"require\": {\n  \"php\": \">=8.1\",\n  \"monolog/monolog\": \"^3.0\"\n },\n \"require-dev\": { \"phpunit/phpunit\": \"dev-main\" }\n}";
    let lock = r#"{"packages":[{"name":"monolog/monolog","version":"3.5.0","license":["MIT"],"require":{"psr/log":"^3"}},{"name":"psr/log","version":"3.0.0","license":["MIT"]}],"packages-dev":[]}"#;
    let report = Repository::with(&[("composer.json", manifest), ("composer.lock", lock)])
        .report(Depth::Medium);
    assert_eq!(
        line(&report, "monolog/monolog"),
        "monolog/monolog ^3.0 -> 3.5.0 Normal Registry composer.json:6"
    );
    assert_eq!(direct(&report, "phpunit/phpunit").kind, Kind::Dev);
    assert!(report.direct.iter().all(|each| each.name != "php"));
    assert_eq!(
        report.manifests[0].licence.as_deref(),
        Some("MIT OR GPL-3.0")
    );
    assert_eq!(
        (
            report.licences[0].licence.as_str(),
            report.licences[0].packages
        ),
        ("MIT", 2)
    );
}

#[test]
fn bundler() {
    let gemfile = "source 'https://rubygems.org'\ngem 'rails', '~> 7.1', '>= 7.1.2'\ngem \"puma\"\ngroup :development, :test do\n  gem 'rspec' # comment\nend\ngem 'fork', github: 'me/fork', branch: 'main'\ngem 'inner', path: './inner', require: false\ngem 'single', group: :test\n";
    let lock = "GIT\n  remote: https://github.com/me/fork\n  specs:\n    fork (0.1.0)\n\nGEM\n  remote: https://rubygems.org/\n  specs:\n    nokogiri (1.16.0-arm64-darwin)\n    nokogiri (1.16.0-x86_64-linux)\n    rails (7.1.3)\n      nokogiri (>= 1.0)\n\nPLATFORMS\n  ruby\n\nDEPENDENCIES\n  rails (~> 7.1)\n";
    let report = Repository::with(&[
        ("Gemfile", gemfile),
        ("Gemfile.lock", lock),
        ("inner/inner.gemspec", "Gem::Specification.new do |s|\n  s.name = 'inner'\n  s.license = 'MIT'\n  s.add_development_dependency 'rake', '~> 13'\nend\n"),
    ])
    .report(Depth::Medium);
    assert_eq!(
        line(&report, "rails"),
        "rails ~> 7.1, >= 7.1.2 -> 7.1.3 Normal Registry Gemfile:2"
    );
    assert_eq!(
        line(&report, "rspec"),
        "rspec - -> - Dev Registry Gemfile:5"
    );
    assert_eq!(direct(&report, "single").kind, Kind::Dev);
    assert_eq!(
        line(&report, "rake"),
        "rake ~> 13 -> - Dev Registry inner/inner.gemspec:4"
    );
    assert_eq!(reason(&report, "fork"), Some(LooseReason::GitFloating));
    assert_eq!(direct(&report, "inner").location.as_deref(), Some("inner"));
    assert_eq!(
        report.duplicates.len(),
        0,
        "platforms are no versions: {:?}",
        report.duplicates
    );
    assert_eq!(locked(&report).len(), 3);
}

#[test]
fn nuget() {
    let project = "<Project Sdk=\"Microsoft.NET.Sdk\">\n<PropertyGroup><V>3.1</V></PropertyGroup>\n<ItemGroup>\n<PackageReference Include=\"Serilog\" Version=\"$(V)\" />\n<PackageReference Include=\"Central\" />\n<PackageReference Include=\"Analyzer\"><Version>1.0</Version><PrivateAssets>all</PrivateAssets></PackageReference>\n<ProjectReference Include=\"..\\Other\\Other.csproj\" />\n</ItemGroup></Project>";
    let central = "<Project><ItemGroup><PackageVersion Include=\"Central\" Version=\"9.9\" /></ItemGroup></Project>";
    let lock = r#"{"version":1,"dependencies":{"net8.0":{"Serilog":{"type":"Direct","resolved":"3.1.0"}},"net6.0":{"Serilog":{"type":"Direct","resolved":"3.1.0"}}}}"#;
    let report = Repository::with(&[
        ("App/App.csproj", project),
        ("Directory.Packages.props", central),
        ("App/packages.lock.json", lock),
        (
            "Old/packages.config",
            "<packages><package id=\"Serilog\" version=\"2.0\" /></packages>",
        ),
    ])
    .report(Depth::Medium);
    assert_eq!(report.incomplete.len(), 1, "{:?}", report.incomplete);
    assert_eq!(report.incomplete[0].what, "usage of NuGet dependencies");
    assert!(report.direct.iter().any(|each| each.name == "Serilog"
        && each.requirement.as_deref() == Some("3.1")
        && each.locked.as_deref() == Some("3.1.0")));
    assert_eq!(
        line(&report, "Central"),
        "Central 9.9 -> - Normal Registry App/App.csproj:5"
    );
    assert_eq!(
        line(&report, "Analyzer"),
        "Analyzer 1.0 -> - Dev Registry App/App.csproj:6"
    );
    assert_eq!(
        direct(&report, "Other").location.as_deref(),
        Some("Other/Other.csproj")
    );
    assert_eq!(
        (
            report.conflicts[0].name.as_str(),
            report.conflicts[0].disagreement
        ),
        ("serilog", Disagreement::Different)
    );
    assert_eq!(locked(&report).len(), 1);
}

#[test]
fn a_gemfile_beside_a_specification_is_for_those_who_work_on_the_gem() {
    let gemfile = "source 'https://rubygems.org'\ngemspec\ngem 'rake'\ngem 'theme', :path => File.expand_path('test/theme', __dir__)\ngroup :benchmark do\n  gem 'benchmark-ips'\nend\n";
    let report = Repository::with(&[
        ("Gemfile", gemfile),
        ("x.gemspec", "s.add_dependency('liquid', '~> 4')\n"),
    ])
    .report(Depth::Shallow);
    assert_eq!(direct(&report, "rake").kind, Kind::Dev);
    assert_eq!(direct(&report, "benchmark-ips").kind, Kind::Optional);
    assert_eq!(direct(&report, "liquid").kind, Kind::Normal);
    let theme = direct(&report, "theme");
    assert_eq!(
        (theme.origin, theme.location.as_deref()),
        (Origin::Path, None)
    );
    assert_eq!(reason(&report, "theme"), None);
}

#[test]
fn a_version_that_code_computes_is_one() {
    let report = Repository::with(&[(
        "app.gemspec",
        "version = File.read('VERSION')\nGem::Specification.new do |s|\n  s.add_dependency 'rack'\n  s.add_dependency 'app-core', version\n  s.add_dependency 'app-web', \"= #{version}\"\nend\n",
    )])
    .report(Depth::Medium);
    let loose: Vec<&str> = report
        .loose
        .iter()
        .map(|loose| loose.name.as_str())
        .collect();
    assert_eq!(loose, ["rack"]);
}
