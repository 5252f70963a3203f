//! Maven and Gradle.

use super::*;

const PARENT: &str = r"<project><groupId>com.example</groupId><artifactId>parent</artifactId><version>2.0</version>
<licenses><license><name>MIT</name></license></licenses>
<properties><guava.version>33.0.0-jre</guava.version><loop>${loop}</loop></properties>
<dependencyManagement><dependencies>
<dependency><groupId>com.google.guava</groupId><artifactId>guava</artifactId><version>${guava.version}</version></dependency>
</dependencies></dependencyManagement></project>";

const CHILD: &str = r"<project>
<parent><groupId>com.example</groupId><artifactId>parent</artifactId><version>2.0</version></parent>
<artifactId>child</artifactId>
<dependencies>
<dependency><groupId>com.google.guava</groupId><artifactId>guava</artifactId></dependency>
<dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13</version><scope>test</scope></dependency>
<dependency><groupId>javax.servlet</groupId><artifactId>servlet-api</artifactId><version>${loop}</version><scope>provided</scope></dependency>
<dependency><groupId>${project.groupId}</groupId><artifactId>parent</artifactId><version>${project.version}</version></dependency>
</dependencies></project>";

#[test]
fn maven_parents_and_properties() {
    let repository = Repository::with(&[("pom.xml", PARENT), ("child/pom.xml", CHILD)]);
    repository.write(
        "child/src/A.java",
        "package a;\nimport com.google.common.collect.Lists;\n// import org.junit.Test;\n",
    );
    let report = repository.report(Depth::Deep);
    assert!(report.incomplete.is_empty(), "{:?}", report.incomplete);
    assert_eq!(
        line(&report, "com.google.guava:guava"),
        "com.google.guava:guava 33.0.0-jre -> - Normal Registry child/pom.xml:5"
    );
    assert_eq!(direct(&report, "junit:junit").kind, Kind::Dev);
    assert_eq!(
        direct(&report, "javax.servlet:servlet-api").kind,
        Kind::Peer
    );
    assert_eq!(
        direct(&report, "com.example:parent").origin,
        Origin::Workspace
    );
    let child = report
        .manifests
        .iter()
        .find(|each| each.path == "child/pom.xml")
        .unwrap();
    assert_eq!(
        (child.package.as_deref(), child.version.as_deref()),
        (Some("com.example:child"), Some("2.0"))
    );
    assert!(unused(&report).is_empty());
}

#[test]
fn gradle_scripts_and_catalogues() {
    let groovy = "plugins {\n    id 'org.springframework.boot' version '3.2.0'\n}\next.jacksonVersion = '2.17.0'\ndependencies {\n    implementation \"com.fasterxml.jackson.core:jackson-databind:$jacksonVersion\"\n    testImplementation group: 'org.mockito', name: 'mockito-core', version: '5.0'\n    // implementation 'gone:gone:1'\n    api project(':core')\n    runtimeOnly 'org.postgresql:postgresql:+'\n}\n";
    let kotlin = "dependencies {\n    implementation(libs.okhttp.client)\n    implementation(platform(\"io.ktor:ktor-bom:2.3.0\"))\n    kapt(\"com.google.dagger:dagger-compiler:2.50\")\n    androidTestRuntimeOnly(\"de.x:runner:1\")\n    deployed(libs.osgi)\n}\n";
    let catalog = "[versions]\nokhttp = \"4.12.0\"\n[libraries]\nokhttp-client = { module = \"com.squareup.okhttp3:okhttp\", version.ref = \"okhttp\" }\nosgi = \"o.p:osgi:3\"\nunused-one = \"a.b:c:1\"\n[plugins]\nkotlin = { id = \"org.jetbrains.kotlin.jvm\", version = \"1.9.0\" }\n";
    let lock = "# comment\ncom.fasterxml.jackson.core:jackson-databind:2.17.0=compileClasspath\nempty=annotationProcessor\n";
    let repository = Repository::with(&[
        ("app/build.gradle", groovy),
        ("lib/build.gradle.kts", kotlin),
        ("gradle/libs.versions.toml", catalog),
        ("app/gradle.lockfile", lock),
    ]);
    let report = repository.report(Depth::Deep);
    assert_eq!(
        line(&report, "com.fasterxml.jackson.core:jackson-databind"),
        "com.fasterxml.jackson.core:jackson-databind 2.17.0 -> 2.17.0 Normal Registry app/build.gradle:6"
    );
    assert_eq!(
        line(&report, "com.squareup.okhttp3:okhttp"),
        "com.squareup.okhttp3:okhttp 4.12.0 -> - Normal Registry lib/build.gradle.kts:2"
    );
    assert_eq!(direct(&report, "org.mockito:mockito-core").kind, Kind::Dev);
    assert_eq!(direct(&report, ":core").origin, Origin::Workspace);
    assert_eq!(
        direct(&report, "com.google.dagger:dagger-compiler").kind,
        Kind::Build
    );
    assert_eq!(
        direct(&report, "io.ktor:ktor-bom").requirement.as_deref(),
        Some("2.3.0")
    );
    assert_eq!(
        direct(&report, "org.springframework.boot")
            .requirement
            .as_deref(),
        Some("3.2.0")
    );
    assert_eq!(
        direct(&report, "org.jetbrains.kotlin.jvm").kind,
        Kind::Build
    );
    assert_eq!(
        reason(&report, "org.postgresql:postgresql"),
        Some(LooseReason::AnyVersion)
    );
    assert_eq!(direct(&report, "de.x:runner").kind, Kind::Dev);
    assert_eq!(direct(&report, "o.p:osgi").kind, Kind::Optional);
    assert!(report.direct.iter().all(|each| each.name != "gone:gone"));
    assert!(unused(&report).is_empty());
}
