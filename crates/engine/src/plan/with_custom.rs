//! The workloads of a plan with what the user adds to each.

use super::request::{RequestError, RunRequest};
use crate::workload::Workload;
use model::Custom;
use std::collections::HashSet;

pub(super) type Chosen = (&'static dyn Workload, Option<Box<Custom>>);

/// The workloads with what the user adds to each. One without subjects of its own lives on that alone, and
/// says what it needs.
pub(super) fn with_custom(
    request: &RunRequest,
    workloads: Vec<&'static dyn Workload>,
) -> Result<Vec<Chosen>, RequestError> {
    let with_custom = |row: &'static dyn Workload| {
        let asked = request.of_workload(row.name());
        let custom = asked.custom().filter(|custom| !custom.is_empty());
        let custom = custom.or_else(|| row.subjects().is_empty().then(Box::default));
        let Some(custom) = custom else { return Ok((row, None)) };
        let workload = unique_names(&custom)
            .and_then(|()| row.with_custom(&custom, asked.axis()))
            .map_err(|what| RequestError::Usage(format!("{}: {what}", row.name())))?;
        // A process plans once, and its plan refers to it.
        Ok((Box::leak(workload), Some(custom)))
    };
    workloads.into_iter().map(with_custom).collect()
}

/// Refuses two subjects of one name, which may come from flags of several kinds, and from a suite too.
fn unique_names(custom: &Custom) -> Result<(), String> {
    let mut names = HashSet::new();
    match custom.templates().find(|template| !names.insert(&template.name)) {
        Some(twice) => Err(format!("two are called {}; give each a name of its own", twice.name)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan;
    use super::*;
    use crate::run::settings::Secrets;
    use crate::workload::custom::{unused_words, word_axis, word_parameters};
    use crate::{About, Cell, Failure, Fit, Overrides, Probe, Subject};
    use model::{LimitCause, MetricInfo, Template, Value, WorkloadInfo};
    use quantities::template;
    use std::sync::LazyLock;

    /// A workload whose subjects are those that the user adds.
    struct Toy;

    struct CustomToy {
        about: About,
        custom: Custom,
    }

    static TOY: LazyLock<About> = LazyLock::new(|| About {
        info: WorkloadInfo {
            name: "toy".into(),
            metrics: vec![MetricInfo::time("elapsed", "nothing")],
            ..About::plain().info
        },
        ..About::plain()
    });

    impl Workload for Toy {
        fn about(&self) -> &About {
            &TOY
        }

        fn subjects(&self) -> Vec<Subject> {
            Vec::new()
        }

        fn with_custom(
            &self,
            custom: &Custom,
            axis: Option<&str>,
        ) -> Result<Box<dyn Workload>, String> {
            let axis = axis.unwrap_or("n");
            let mut parameters = vec![word_axis(custom, axis)];
            parameters.extend(word_parameters(custom, axis));
            let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
            if custom.commands.is_empty() {
                return Err("a toy needs --command".to_owned());
            }
            for text in custom.texts() {
                template::check(text, &names)?;
            }
            let about = About { parameters, ..TOY.clone() };
            Ok(Box::new(CustomToy { about, custom: custom.clone() }))
        }

        fn measure(&self, _: &Cell, _: &mut Probe) -> Result<(), Failure> {
            Ok(())
        }
    }

    impl Workload for CustomToy {
        fn about(&self) -> &About {
            &self.about
        }

        fn subjects(&self) -> Vec<Subject> {
            let subject = |command: &model::Template| Subject {
                unused: unused_words(&self.custom, [command.text.as_str()]),
                ..Subject::plain(&command.name, "")
            };
            self.custom.commands.iter().map(subject).collect()
        }

        fn fit(&self, cell: &Cell) -> Fit {
            if cell.subject != "stray" {
                return Fit::Measure;
            }
            let cause = LimitCause::Descriptors { max: 1 };
            Fit::AtMost { parameter: "watched", max: 1, cause, remedy: String::new() }
        }

        fn measure(&self, _: &Cell, _: &mut Probe) -> Result<(), Failure> {
            Ok(())
        }
    }

    fn split(typed: &str) -> (String, String) {
        typed.split_once('=').map(|(name, text)| (name.to_owned(), text.to_owned())).unwrap()
    }

    fn read_template(typed: &str) -> Template {
        let (name, text) = split(typed);
        Template { name, text }
    }

    fn read_word(typed: &str) -> (String, Vec<Value>) {
        let (word, values) = split(typed);
        (word, values.split(',').map(Value::from).collect())
    }

    fn custom(command: &str) -> Box<Custom> {
        let words = [read_word("size=4k,64k")].into();
        let commands = vec![read_template(command)];
        Box::new(Custom { commands, words, ..Custom::default() })
    }

    fn request(custom: Option<Box<Custom>>) -> RunRequest {
        RunRequest {
            workloads: vec!["toy".into()],
            points: vec![10.into(), 100.into()],
            rounds: Some(1),
            custom,
            ..RunRequest::default()
        }
    }

    fn line(request: &RunRequest) -> String {
        plan(request, &[&Toy]).unwrap_err().to_string()
    }

    #[test]
    fn what_the_user_adds_is_planned_and_recorded() {
        let plan = plan(&request(Some(custom("a=sort {n} -S {size}"))), &[&Toy]).unwrap();
        assert_eq!(plan.cells.len(), 4, "two points, two sizes");
        assert!(plan.cells.iter().all(|key| key.subject == "a"));
        let sizes = plan.cells.iter().map(|key| key.parameters["size"].text().into_owned());
        assert_eq!(sizes.filter(|size| size == "64k").count(), 2);
        assert_eq!(plan.workloads[0].custom, Some(custom("a=sort {n} -S {size}")));
        assert_eq!(plan.workloads[0].axis_parameter, "n");
    }

    #[test]
    fn what_is_wrong_with_it_is_one_line() {
        assert_eq!(line(&request(None)), "toy: a toy needs --command");
        assert!(line(&request(Some(custom("a=sort {n} {sise}")))).contains("did you mean {size}?"));
        let without_points =
            RunRequest { points: Vec::new(), ..request(Some(custom("a=sort {n}"))) };
        assert!(line(&without_points).contains("--points names the values of {n}"));
        let subjects =
            RunRequest { subjects: vec!["b".into()], ..request(Some(custom("a=sort {n}"))) };
        assert!(line(&subjects).contains("no subject is called `b`"));
    }

    #[test]
    fn what_one_flag_adds_no_flag_leaves_out() {
        let both = |mut custom: Box<Custom>| {
            custom.commands.push(read_template("b=sort {n}"));
            custom
        };
        let custom = both(custom("a=sort {n}"));
        let some = RunRequest { subjects: vec!["b".into()], ..request(Some(custom.clone())) };
        let refused = line(&some);
        assert!(
            refused.starts_with("--subjects leaves out a, which another flag adds"),
            "{refused}"
        );
        let all = RunRequest { subjects: vec!["b".into(), "a".into()], ..some.clone() };
        assert!(plan(&all, &[&Toy]).is_ok());
        // Of those of a suite, some may be chosen.
        let overrides = Overrides { custom: Some(custom), ..Overrides::default() };
        let overrides = [("toy".to_owned(), overrides)].into();
        assert!(plan(&RunRequest { custom: None, overrides, ..some }, &[&Toy]).is_ok());
    }

    #[test]
    fn the_points_of_a_word_are_given_once() {
        let words = Some(custom("a=sort {n}")).map(|mut custom| {
            custom.words.extend([read_word("n=1,8")]);
            custom
        });
        let refused = line(&request(words.clone()));
        assert_eq!(refused, "--points and --set n name the same: n is the axis");
        assert!(plan(&RunRequest { points: Vec::new(), ..request(words) }, &[&Toy]).is_ok());
    }

    #[test]
    fn a_word_multiplies_the_cells_of_those_that_have_it() {
        let mut two = custom("gzip=gzip -{size} {n}");
        two.commands.push(read_template("bzip2=bzip2 -{k} {n}"));
        two.words.extend([read_word("k=1,2")]);
        let request =
            RunRequest { points: vec![10.into(), 100.into(), 1_000.into()], ..request(Some(two)) };
        let plan = plan(&request, &[&Toy]).unwrap();
        assert_eq!(plan.cells.len(), 12);
        for (subject, word, unused) in [("gzip", "size", "k"), ("bzip2", "k", "size")] {
            let cells = || plan.cells.iter().filter(|key| key.subject == subject);
            let values = |word: &str| {
                cells().map(|key| key.parameters[word].to_string()).collect::<HashSet<_>>().len()
            };
            assert_eq!((cells().count(), values(word), values(unused)), (6, 2, 1), "{subject}");
        }
    }

    #[test]
    fn two_of_one_name_are_refused_from_flags_of_whatever_kind() {
        let with_url = |name: &str| {
            Some(custom("app=sort {n}")).map(|mut custom| {
                custom.urls.push(read_template(&format!("{name}=http://127.0.0.1/")));
                custom
            })
        };
        let refused = line(&request(with_url("app")));
        assert_eq!(refused, "toy: two are called app; give each a name of its own");
        assert!(plan(&request(with_url("other")), &[&Toy]).is_ok());
    }

    #[test]
    fn a_word_is_the_axis_with_its_values_as_points() {
        let words = Some(custom("a=sort {threads} {size}")).map(|mut custom| {
            custom.words.extend([read_word("threads=1,8")]);
            custom
        });
        let axis = Some("threads".to_owned());
        let request = RunRequest { axis, points: Vec::new(), ..request(words) };
        let plan = plan(&request, &[&Toy]).unwrap();
        assert_eq!(plan.workloads[0].axis_parameter, "threads");
        assert!(plan.cells.iter().all(|key| [1, 8].contains(&key.point)));
    }

    #[test]
    fn a_limit_on_a_parameter_that_a_workload_lacks_is_an_error() {
        let refused = plan(&request(Some(custom("stray=sort {n}"))), &[&Toy]).unwrap_err();
        assert_eq!(refused.to_string(), "toy: the cell lacks the parameter watched");
    }

    #[test]
    fn what_is_added_to_one_workload_is_filled_up_with_what_is_added_to_all() {
        let overrides = Overrides { custom: Some(custom("a=sort {n}")), ..Overrides::default() };
        let typed = Custom { warm_up: Some(3), ..Custom::default() };
        let request = RunRequest {
            overrides: [("toy".to_owned(), overrides)].into(),
            ..request(Some(Box::new(typed)))
        };
        let plan = plan(&request, &[&Toy]).unwrap();
        let planned = plan.workloads[0].custom.as_ref().unwrap();
        assert_eq!((planned.warm_up, planned.commands[0].name.as_str()), (Some(3), "a"));
    }

    #[test]
    fn a_password_reaches_workers_and_no_plan() {
        let typed = custom("a=curl http://me:secret@host/{n}");
        let mut secrets = Secrets::default();
        let mut hidden = typed.clone();
        secrets.hide_custom(None, &mut hidden).unwrap();
        let plan = plan(&request(Some(hidden.clone())), &[&Toy]).unwrap();
        assert!(!serde_json::to_string(&plan).unwrap().contains("secret"));
        assert_eq!(secrets.reveal_custom("toy", &hidden), *typed);
        let plain = custom("b=x {n}");
        assert_eq!(secrets.reveal_custom("toy", &plain), *plain);
        let values =
            Custom { words: [read_word("to=http://me:secret@host/")].into(), ..Custom::default() };
        let mut hidden = values.clone();
        secrets.hide_custom(Some("toy"), &mut hidden).unwrap();
        assert_eq!(hidden.words["to"][0].text(), "http://***@host/");
        assert_eq!(secrets.reveal_custom("toy", &hidden), values);
    }

    #[test]
    fn a_workload_that_takes_nothing_refuses_it() {
        struct Plain;
        impl Workload for Plain {
            fn about(&self) -> &About {
                &TOY
            }
            fn subjects(&self) -> Vec<Subject> {
                vec![Subject::plain("own", "")]
            }
            fn measure(&self, _: &Cell, _: &mut Probe) -> Result<(), Failure> {
                Ok(())
            }
        }
        let refused = plan(&request(Some(custom("a=sort {n}"))), &[&Plain]).unwrap_err();
        assert_eq!(refused.to_string(), "toy: it takes no commands or servers of your own");
    }
}
