//! Python manifests and lock files.

use super::*;

const PYPROJECT: &str = r#"[project]
name = "demo"
version = "1.2"
license = "MIT"
dependencies = [
  "requests[security]>=2.8.1,<3 ; python_version > '3.8'",
  "PyYAML",
  "direct @ git+https://token@github.com/a/direct.git@v1.0",
  "flask>=2",
]
[project.optional-dependencies]
docs = ["sphinx~=7.0"]
[dependency-groups]
test = ["pytest>=8", {include-group = "other"}]
prod = ["gunicorn==21.0"]
[build-system]
requires = ["hatchling"]
[tool.uv.sources]
flask = { path = "../flask" }
"#;

#[test]
fn pyproject_with_uv_lock() {
    let lock = "version = 1\n[[package]]\nname = \"demo\"\nversion = \"1.2\"\nsource = { editable = \".\" }\n[[package]]\nname = \"requests\"\nversion = \"2.32.3\"\nsource = { registry = \"https://pypi.org/simple\" }\ndependencies = [{ name = \"idna\" }]\n[[package]]\nname = \"pyyaml\"\nversion = \"6.0.2\"\nsource = { registry = \"https://pypi.org/simple\" }\n";
    let repository = Repository::with(&[("pyproject.toml", PYPROJECT), ("uv.lock", lock)]);
    let report = repository.report(Depth::Medium);
    assert_eq!(
        line(&report, "requests"),
        "requests >=2.8.1, <3 -> 2.32.3 Normal Registry pyproject.toml:6"
    );
    assert_eq!(
        direct(&report, "requests").condition.as_deref(),
        Some("python_version > '3.8'")
    );
    assert_eq!(direct(&report, "pyyaml").locked.as_deref(), Some("6.0.2"));
    assert_eq!(direct(&report, "sphinx").kind, Kind::Optional);
    assert_eq!(
        direct(&report, "pytest").condition.as_deref(),
        Some("group test")
    );
    assert_eq!(direct(&report, "gunicorn").kind, Kind::Optional);
    assert_eq!(direct(&report, "hatchling").kind, Kind::Build);
    assert_eq!(
        direct(&report, "direct").location.as_deref(),
        Some("https://github.com/a/direct.git#v1.0")
    );
    assert_eq!(
        reason(&report, "flask"),
        Some(LooseReason::PathOutsideRepository)
    );
    assert_eq!(reason(&report, "direct"), Some(LooseReason::GitPinned));
    assert_eq!(reason(&report, "pyyaml"), None, "the lock file decides");
    assert_eq!(
        locked(&report).len(),
        2,
        "the project itself is no dependency"
    );
    assert_eq!(report.manifests[0].licence.as_deref(), Some("MIT"));
}

#[test]
fn poetry_with_its_lock() {
    let project = "[tool.poetry]\nname = \"p\"\nversion = \"0\"\n[tool.poetry.dependencies]\npython = \"^3.10\"\nDjango = \"^4.2\"\nlocal = { path = \"./local\" }\nextra = { version = \"^1\", optional = true }\n[tool.poetry.group.dev.dependencies]\nblack = \"^24\"\n";
    let lock = "[[package]]\nname = \"django\"\nversion = \"4.2.11\"\n[package.dependencies]\nasgiref = \">=3.6\"\n[[package]]\nname = \"asgiref\"\nversion = \"3.8.1\"\n[metadata]\nlock-version = \"2.0\"\n";
    let report = Repository::with(&[("pyproject.toml", project), ("poetry.lock", lock)])
        .report(Depth::Medium);
    assert_eq!(
        line(&report, "Django"),
        "Django ^4.2 -> 4.2.11 Normal Registry pyproject.toml:6"
    );
    assert_eq!(direct(&report, "extra").kind, Kind::Optional);
    assert_eq!(direct(&report, "black").kind, Kind::Dev);
    assert_eq!(direct(&report, "local").location.as_deref(), Some("local"));
    assert!(report.direct.iter().all(|each| each.name != "python"));
    assert!(
        locked(&report)
            .into_iter()
            .any(|each| each.name == "asgiref" && !each.direct)
    );
}

#[test]
fn requirements_include_each_other() {
    let repository = Repository::with(&[
        (
            "requirements.txt",
            "# comment\n-r base/common.txt\nflask==2.0.1 \\\n    --hash=sha256:abc\n-e git+https://example.com/x.git@main#egg=thing\n./local\nnot a requirement at all !!\n-r ../../etc/passwd\n",
        ),
        (
            "base/common.txt",
            "-r ../requirements.txt\nnumpy>=1.20\nhttps://example.com/wheel.whl\n",
        ),
        ("requirements-dev.txt", "pytest\n"),
    ]);
    let report = repository.report(Depth::Shallow);
    assert_eq!(
        line(&report, "flask"),
        "flask ==2.0.1 -> - Normal Registry requirements.txt:3"
    );
    assert_eq!(
        line(&report, "numpy"),
        "numpy >=1.20 -> - Normal Registry base/common.txt:2"
    );
    assert_eq!(direct(&report, "pytest").kind, Kind::Dev);
    assert_eq!(direct(&report, "thing").origin, Origin::Git);
    assert_eq!(reason(&report, "numpy"), Some(LooseReason::NoUpperBound));
    assert_eq!(reason(&report, "thing"), Some(LooseReason::GitFloating));
    assert_eq!(report.incomplete.len(), 2, "{:?}", report.incomplete);
}

#[test]
fn setup_cfg_pipfile_and_conflicts() {
    let repository = Repository::with(&[
        (
            "setup.cfg",
            "[metadata]\nname = old\nlicense = BSD\n[options]\ninstall_requires =\n    requests>=2\n    six==1.15\n[options.extras_require]\ntest = pytest\n",
        ),
        (
            "tool/Pipfile",
            "[packages]\nsix = \"==1.16\"\n[dev-packages]\nmypy = \"*\"\n",
        ),
        (
            "tool/Pipfile.lock",
            r#"{"default":{"six":{"version":"==1.16.0"}},"develop":{}}"#,
        ),
        ("setup.py", "setup(install_requires=['x'])"),
    ]);
    let report = repository.report(Depth::Shallow);
    assert_eq!(
        line(&report, "requests"),
        "requests >=2 -> - Normal Registry setup.cfg:6"
    );
    assert_eq!(
        direct(&report, "pytest").condition.as_deref(),
        Some("extra test")
    );
    assert_eq!(
        (
            report.conflicts[0].name.as_str(),
            report.conflicts[0].disagreement
        ),
        ("six", Disagreement::Incompatible)
    );
    assert!(report.incomplete.iter().any(|each| each.what == "setup.py"));
    assert!(
        report
            .direct
            .iter()
            .any(|each| each.name == "six" && each.locked.as_deref() == Some("1.16.0"))
    );
}

#[test]
fn python_usage() {
    let repository = Repository::with(&[(
        "requirements.txt",
        "PyYAML\nrequests\nscikit-learn\ngunicorn\npsycopg2-binary\nobscure-thing\n",
    )]);
    repository.write(
        "app/main.py",
        "import yaml\nfrom requests.adapters import HTTPAdapter\n\"\"\"\nimport sklearn\n\"\"\"\n",
    );
    repository.write("Procfile", "web: gunicorn app:main\n");
    let report = repository.report(Depth::Deep);
    let yaml = report
        .usage
        .iter()
        .find(|each| each.name == "pyyaml")
        .unwrap();
    assert_eq!((yaml.files, yaml.modules[0].folder.as_str()), (1, "app"));
    assert!(unused(&report).is_empty(), "an address may load a driver");
}

#[test]
fn a_page_about_requirements_is_no_manifest() {
    let page = "Requirements\n============\n\nYou need:\n\n- Python 3.9 or later\n- a C compiler\n\nDjango\n\nThen run the installer and follow it.\n";
    let report = Repository::with(&[
        ("docs/requirements.txt", page),
        ("docs/requirements.md", "flask\n"),
        ("docs/requirements.rst", "flask\n"),
        ("doc/requirements.in", "sphinx>=7\n"),
    ])
    .report(Depth::Shallow);
    let manifests: Vec<&str> = report
        .manifests
        .iter()
        .map(|each| each.path.as_str())
        .collect();
    assert_eq!(manifests, ["doc/requirements.in"]);
    assert_eq!(direct(&report, "sphinx").kind, Kind::Dev);
    assert!(report.incomplete.is_empty(), "{:?}", report.incomplete);
}

#[test]
fn constraints_ask_for_nothing_and_bound_what_others_ask_for() {
    let report = Repository::with(&[
        (
            "requirements.txt",
            "-c constraints.txt\nkombu[redis]\nopen\n",
        ),
        ("constraints.txt", "kombu==5.6\nsetuptools<80\n"),
        ("requirements/extras/redis.txt", "kombu[redis]\n"),
    ])
    .report(Depth::Shallow);
    assert_eq!(
        report.headline(),
        "PyPI (2 direct); 1 not pinned to a version of a registry"
    );
    assert_eq!(reason(&report, "open"), Some(LooseReason::AnyVersion));
    assert_eq!(reason(&report, "kombu"), None);
    let kinds: Vec<Kind> = report
        .direct
        .iter()
        .filter(|each| each.name == "kombu")
        .map(|each| each.kind)
        .collect();
    assert_eq!(kinds, [Kind::Normal, Kind::Optional]);
}

#[test]
fn markers_choose_between_requirements() {
    let report = Repository::with(&[(
        "requirements.txt",
        "curl<7; sys_platform == 'win32'\ncurl>=7; sys_platform != 'win32'\n",
    )])
    .report(Depth::Shallow);
    assert!(report.conflicts.is_empty(), "{:?}", report.conflicts);
}

#[test]
fn pip_reads_no_lock_file_of_other_tools() {
    let lock = "[[package]]\nname = \"django\"\nversion = \"4.2.11\"\n";
    let report = Repository::with(&[
        (
            "pyproject.toml",
            "[tool.poetry]\nname = \"p\"\n[tool.poetry.dependencies]\nDjango = \"^4.2\"\n",
        ),
        ("poetry.lock", lock),
        ("docs/requirements.txt", "django>=5\nsphinx>=7\n"),
    ])
    .report(Depth::Shallow);
    assert_eq!(direct(&report, "django").locked, None);
    assert_eq!(direct(&report, "Django").locked.as_deref(), Some("4.2.11"));
    assert_eq!(reason(&report, "sphinx"), Some(LooseReason::NoUpperBound));
}

#[test]
fn a_folder_of_requirement_files_serves_the_code_around_it() {
    let repository = Repository::with(&[("requirements/default.txt", "requests\n")]);
    repository.write("app/main.py", "import requests\n");
    let report = repository.report(Depth::Deep);
    assert_eq!(report.usage[0].manifest, "requirements/default.txt");
}

#[test]
fn a_lock_file_with_several_versions_decides_too() {
    let package = |version: &str| {
        format!(
            "[[package]]\nname = \"django\"\nversion = \"{version}\"\nsource = {{ registry = \"https://pypi.org/simple\" }}\n"
        )
    };
    let report = Repository::with(&[
        (
            "pyproject.toml",
            "[project]\nname = \"p\"\ndependencies = [\"Django>=5.2\"]\n",
        ),
        (
            "uv.lock",
            &format!("{}{}", package("5.2.1"), package("6.0")),
        ),
    ])
    .report(Depth::Shallow);
    assert_eq!(direct(&report, "django").locked, None);
    assert_eq!(reason(&report, "django"), None);
}

#[test]
fn an_extra_that_names_others_asks_for_nothing() {
    let report = Repository::with(&[(
        "pyproject.toml",
        "[project]\nname = \"My_Lib\"\n[project.optional-dependencies]\nall = [\"my-lib[plot]\"]\nplot = [\"matplotlib<4\"]\n",
    )])
    .report(Depth::Shallow);
    assert_eq!(direct(&report, "my-lib").origin, Origin::Workspace);
    assert_eq!(report.headline(), "PyPI (1 direct)");
}
