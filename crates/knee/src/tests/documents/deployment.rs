//! The files of `deploy/` against the program and against each other: commands, names, paths, and the fields that
//! Kubernetes has.

use super::top;
use crate::args::parse;
use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

fn deploy(path: &str) -> PathBuf {
    top().join("deploy").join(path)
}

fn text(path: &str) -> String {
    std::fs::read_to_string(deploy(path)).unwrap_or_else(|error| panic!("deploy/{path}: {error}"))
}

/// The only document of a YAML file, as the JSON that it stands for.
fn yaml(path: &str) -> Value {
    let text = text(path);
    let all = Yaml::load_from_str(&text).unwrap_or_else(|error| panic!("deploy/{path}: {error}"));
    assert_eq!(all.len(), 1, "deploy/{path}");
    json(&all[0])
}

fn json(yaml: &Yaml<'_>) -> Value {
    match yaml {
        Yaml::Value(Scalar::Null) => Value::Null,
        Yaml::Value(Scalar::Boolean(value)) => (*value).into(),
        Yaml::Value(Scalar::Integer(value)) => (*value).into(),
        Yaml::Value(Scalar::String(value)) => value.as_ref().into(),
        Yaml::Sequence(all) => all.iter().map(json).collect(),
        Yaml::Mapping(all) => {
            let name = |key: &Yaml<'_>| key.as_str().expect("a key is a text").to_owned();
            Value::Object(all.iter().map(|(key, value)| (name(key), json(value))).collect())
        }
        unexpected => panic!("{unexpected:?} is not expected here"),
    }
}

/// The strings of a JSON array.
fn strings(value: &Value) -> Vec<String> {
    let all = value.as_array().unwrap_or_else(|| panic!("{value} is no list"));
    all.iter().map(|word| word.as_str().expect("a word is a text").to_owned()).collect()
}

/// The names that `before` and `after` enclose in a text.
fn enclosed<'a>(text: &'a str, before: &str, after: char) -> BTreeSet<&'a str> {
    let parts = text.split(before).skip(1).filter_map(|part| part.split_once(after));
    parts.map(|(name, _)| name.split(':').next().unwrap_or(name)).collect()
}

/// Parses a command, with `name` for each variable.
fn check_command(words: &[String], file: &str) {
    let plain = |word: &String| if word.contains('$') { "name".to_owned() } else { word.clone() };
    let words: Vec<String> =
        ["knee".to_owned()].into_iter().chain(words.iter().map(plain)).collect();
    if let Err(refused) = parse(&words) {
        panic!("{file}: {words:?}: {refused}");
    }
}

/// The commands of knee in a shell script.
fn commands(script: &str) -> Vec<Vec<String>> {
    let whole_lines = script.replace("\\\n", " ");
    let lines = whole_lines.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let simple = lines.flat_map(|line| line.split([';', '|', '&'])).filter(|part| !part.is_empty());
    let words = simple.map(|command| shlex::split(command).unwrap_or_default());
    words
        .filter_map(|words| {
            let at = words.iter().position(|word| word == "knee")?;
            Some(words[at + 1..].to_vec())
        })
        .collect()
}

#[test]
fn every_command_of_a_script_is_understood() {
    for path in ["slurm/knee.sbatch", "postgres/10-roles.sh"] {
        for words in commands(&text(path)) {
            check_command(&words, path);
        }
    }
    let batch = commands(&text("slurm/knee.sbatch"));
    let names: Vec<&str> = batch.iter().map(|words| words[0].as_str()).collect();
    assert_eq!(names, ["run", "compare"]);
}

/// The schema has the fields that Kubernetes publishes of a Job and a Secret; of those that the manifests don't use, the
/// names only.
#[test]
fn the_manifests_have_only_fields_that_kubernetes_knows() {
    let schemas: Value =
        serde_json::from_str(include_str!("deployment/kubernetes-1.33.json")).unwrap();
    for (path, kind) in [("kubernetes/job.yaml", "Job"), ("kubernetes/secret.yaml", "Secret")] {
        let validator = jsonschema::validator_for(&schemas[kind]).unwrap();
        let manifest = yaml(path);
        assert_eq!(manifest["kind"], kind);
        let wrong: Vec<String> = validator.iter_errors(&manifest).map(|e| e.to_string()).collect();
        assert!(wrong.is_empty(), "deploy/{path}: {wrong:?}");
        let mut unknown = manifest.clone();
        unknown["spce"] = Value::Null;
        assert!(!validator.is_valid(&unknown), "the schema finds what is misspelt");
    }
}

#[test]
fn the_job_runs_what_knee_understands_with_what_the_secret_has() {
    let (job, secret) = (yaml("kubernetes/job.yaml"), yaml("kubernetes/secret.yaml"));
    let spec = &job["spec"];
    let pod = &spec["template"]["spec"];
    let container = &pod["containers"][0];
    let script = strings(&container["args"]).join("\n");
    let all = commands(&script);
    assert_eq!(all.len(), 2, "it runs and pushes: {all:?}");
    for words in &all {
        check_command(words, "kubernetes/job.yaml");
    }
    let at = all[0].iter().position(|word| word == "--of").unwrap();
    let ranks: u64 = all[0][at + 1].parse().unwrap();
    assert_eq!((&spec["completions"], &spec["parallelism"]), (&ranks.into(), &ranks.into()));
    assert_eq!(spec["completionMode"], "Indexed");
    let set = container["env"].as_array().unwrap();
    let set: BTreeSet<&str> = set.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    for name in enclosed(&script, "\"$", '"')
        .into_iter()
        .filter(|name| name.starts_with(char::is_uppercase))
    {
        assert!(set.contains(name), "{name} is not set");
    }
    let password = set.contains("PGPASSWORD")
        && container["env"].as_array().unwrap().iter().any(|entry| {
            let key = &entry["valueFrom"]["secretKeyRef"];
            key["name"] == secret["metadata"]["name"]
                && secret["stringData"][key["key"].as_str().unwrap_or_default()].is_string()
        });
    assert!(password, "the password is a key of the secret");
    let volumes = pod["volumes"].as_array().unwrap();
    for mount in container["volumeMounts"].as_array().unwrap() {
        assert!(volumes.iter().any(|volume| volume["name"] == mount["name"]), "{mount}");
    }
    let archive = volumes.iter().find(|volume| volume["name"] == "archive").unwrap();
    assert_eq!(archive["secret"]["secretName"], secret["metadata"]["name"]);
    for item in archive["secret"]["items"].as_array().unwrap() {
        assert!(secret["stringData"][item["key"].as_str().unwrap()].is_string(), "{item}");
        let file = format!("/etc/knee/{}", item["path"].as_str().unwrap());
        assert!(container["env"].to_string().contains(&file), "{file} is read by nothing");
    }
}

#[test]
fn the_services_have_their_files_and_passwords() {
    let compose = yaml("compose.yaml");
    let services = compose["services"].as_object().unwrap();
    for (name, service) in services {
        for mount in strings(&service["volumes"].as_array().cloned().unwrap_or_default().into()) {
            let source = mount.split(':').next().unwrap();
            if source.starts_with('.') {
                assert!(deploy(source).exists(), "{name}: {source}");
            } else {
                assert!(compose["volumes"].get(source).is_some(), "{name}: {source}");
            }
        }
        for port in strings(&service["ports"].as_array().cloned().unwrap_or_default().into()) {
            assert!(port.starts_with("127.0.0.1:"), "{name} listens on {port}");
        }
    }
    let owner = &services["make-archive"];
    check_command(&strings(&owner["command"]), "compose.yaml");
    let build = &owner["build"];
    let file =
        deploy(build["context"].as_str().unwrap()).join(build["dockerfile"].as_str().unwrap());
    assert!(file.exists(), "{}", file.display());
    // Each password is asked for in the file that the README makes, and has no default.
    let readme = text("README.md");
    let compose = text("compose.yaml");
    for name in enclosed(&compose, "${", '}') {
        assert!(readme.contains(name), "deploy/README.md lacks {name}");
        assert!(compose.contains(&format!("${{{name}:?")), "{name} is not required");
    }
}

#[test]
fn grafana_finds_its_dashboard_and_its_archive() {
    let services = yaml("compose.yaml")["services"].clone();
    let grafana = &services["grafana"];
    let mounts = strings(&grafana["volumes"]);
    let path = |source: &str| {
        let mount = mounts.iter().find_map(|mount| mount.strip_prefix(source)?.strip_prefix(':'));
        mount.expect("it is mounted").trim_end_matches(":ro").to_owned()
    };
    assert_eq!(path("./grafana/provisioning"), "/etc/grafana/provisioning");
    let dashboards = yaml("grafana/provisioning/dashboards/knee.yaml");
    assert_eq!(dashboards["providers"][0]["options"]["path"], path("./grafana/dashboards"));
    let source = yaml("grafana/provisioning/datasources/knee.yaml")["datasources"][0].clone();
    assert_eq!(source["url"], "db:5432", "the service of that name");
    let database = &services["db"]["environment"]["POSTGRES_DB"];
    assert_eq!(&source["jsonData"]["database"], database);
    let user = source["user"].as_str().unwrap();
    assert!(text("postgres/roles.sql").contains(&format!("CREATE ROLE {user} ")));
    let password = source["secureJsonData"]["password"].as_str().unwrap();
    let variable = password.strip_prefix('$').expect("a variable");
    assert!(grafana["environment"].get(variable).is_some(), "{variable} is not set");
    // What the panels ask is tested in crate archive, by a real server.
    let dashboard: Value = serde_json::from_str(&text("grafana/dashboards/knee.json")).unwrap();
    for panel in dashboard["panels"].as_array().unwrap() {
        let title = panel["title"].as_str().unwrap();
        for uid in [&panel["datasource"]["uid"], &panel["targets"][0]["datasource"]["uid"]] {
            assert_eq!(*uid, source["uid"], "{title}");
        }
        assert_eq!(panel["datasource"]["type"], source["type"], "{title}");
    }
}

#[test]
fn the_image_is_made_of_the_oldest_rust_that_is_promised_or_a_newer() {
    let file = text("Containerfile");
    let manifest = std::fs::read_to_string(top().join("Cargo.toml")).unwrap();
    let oldest = manifest.split("rust-version = \"").nth(1).unwrap().split('"').next().unwrap();
    assert!(file.contains(&format!("FROM rust:{oldest}")), "Rust {oldest}");
    let build = file.lines().find(|line| line.contains("cargo build")).unwrap();
    assert!(build.contains("--features postgres"), "{build}");
    let user = file.lines().find_map(|line| line.strip_prefix("USER ")).unwrap();
    let job = yaml("kubernetes/job.yaml");
    let context = &job["spec"]["template"]["spec"]["securityContext"];
    assert_eq!(format!("{}:{}", context["runAsUser"], context["runAsGroup"]), user);
}

/// Each input is declared and used, and no script holds one as text. (`check-jsonschema` has the schema of actions.)
#[test]
fn the_action_passes_its_inputs_on_as_variables() {
    let text = std::fs::read_to_string(top().join("action.yml")).unwrap();
    let all = Yaml::load_from_str(&text).unwrap();
    let action = json(&all[0]);
    let declared: BTreeSet<&str> =
        action["inputs"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(enclosed(&text, "${{ inputs.", ' '), declared);
    let steps = action["runs"]["steps"].as_array().unwrap();
    for script in steps.iter().filter_map(|step| step["run"].as_str()) {
        assert!(!script.contains("${{"), "{script}");
    }
    let script = "deploy/gate/pull-request.sh";
    assert!(text.contains(script) && top().join(script).exists());
}
