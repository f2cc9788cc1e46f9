//! Splits a command line into options and inputs. Every argument belongs to exactly one item, in order.

use super::Dialect;
use super::table::{Form, Meaning, Spec, TABLE};

/// The kinds of warnings that nvcc's `-Werror` accepts.
const WARNING_KINDS: [&str; 7] = [
    "all-warnings",
    "cross-execution-space-call",
    "reorder",
    "default-stream-launch",
    "missing-launch-bounds",
    "ext-lambda-captures-this",
    "deprecated-declarations",
];

/// A piece of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An option of the table.
    Known {
        /// The meaning of the option.
        meaning: Meaning,
        /// The value of the option, "" for flags.
        value: String,
        /// The arguments as given.
        given: Vec<String>,
    },
    /// A flag that is not in the table.
    Unknown(String),
    /// Not an option: a file, or `-` for standard input.
    Input(String),
}

impl Item {
    /// Returns the arguments of the item.
    pub fn given(&self) -> &[String] {
        match self {
            Item::Known { given, .. } => given,
            Item::Unknown(argument) | Item::Input(argument) => std::slice::from_ref(argument),
        }
    }
}

/// The last option has no value.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("argument to '{0}' is missing (expected 1 value)")]
pub struct MissingValue(pub String);

/// Splits the arguments of a command line, without the program's name.
pub fn lex(arguments: &[String], dialect: Dialect) -> Result<Vec<Item>, MissingValue> {
    let mut items = Vec::new();
    let mut rest = arguments;
    while let [argument, following @ ..] = rest {
        let (item, used) = one(argument, following, dialect)?;
        items.push(item);
        rest = &rest[used..];
    }
    Ok(items)
}

fn one(argument: &str, following: &[String], dialect: Dialect) -> Result<(Item, usize), MissingValue> {
    if !argument.starts_with('-') || argument == "-" {
        return Ok((Item::Input(argument.into()), 1));
    }
    let Some(found) = find(argument, dialect) else {
        return Ok((Item::Unknown(argument.into()), 1));
    };
    let known = |value: &str, given: &[&str]| Item::Known {
        meaning: found.spec.meaning,
        value: value.into(),
        given: given.iter().map(|&part| part.into()).collect(),
    };
    if let Some(value) = found.value {
        return Ok((known(value, &[argument]), 1));
    }
    let next = following.first();
    match found.spec.form {
        Form::Flag | Form::Joined | Form::Equals => Ok((known("", &[argument]), 1)),
        Form::WarningKind => match next.filter(|next| next.split(',').all(|kind| WARNING_KINDS.contains(&kind))) {
            Some(next) => Ok((known(next, &[argument, next]), 2)),
            None => Ok((known("", &[argument]), 1)),
        },
        Form::Value | Form::Separate | Form::JoinedOrSeparate => {
            let next = next.ok_or_else(|| MissingValue(argument.into()))?;
            Ok((known(next, &[argument, next]), 2))
        }
    }
}

struct MatchedOption<'a> {
    spec: &'static Spec,
    /// The value inside the argument; `None` if it is the next argument or absent.
    value: Option<&'a str>,
}

/// Returns the row for an argument: first an exact name, then a name with `=`, then the longest name that is a prefix.
fn find(argument: &str, dialect: Dialect) -> Option<MatchedOption<'_>> {
    let (name, dashes) = match argument.strip_prefix("--") {
        Some(name) => (name, 2),
        None => (&argument[1..], 1),
    };
    let rows = || TABLE.iter().filter(|spec| spec.dialect.is_none_or(|only| only == dialect));
    // A row for one dialect takes precedence over a row for both.
    let prefer = |spec: &&Spec| (spec.dialect.is_some(), 0);
    // Names of one letter have one dash, except nvcc's `--x`.
    let fits = |candidate: &str| dashes == 1 || candidate.len() > 1 || (candidate, dialect) == ("x", Dialect::Nvcc);
    let exact = rows()
        .filter(|spec| spec.form != Form::Equals && spec.names.iter().any(|&known| known == name && fits(known)))
        .max_by_key(prefer);
    if let Some(spec) = exact {
        let value = (spec.form == Form::Joined).then_some("");
        return Some(MatchedOption { spec, value });
    }
    if let Some((before, value)) = name.split_once('=') {
        let spec = rows()
            .filter(|spec| matches!(spec.form, Form::Value | Form::Equals | Form::WarningKind))
            .find(|spec| spec.names.iter().any(|&known| known == before && fits(known)));
        // `-Werror=name` with a name that nvcc does not support is clang's option.
        let spec = spec.filter(|spec| {
            spec.form != Form::WarningKind || value.split(',').all(|kind| WARNING_KINDS.contains(&kind))
        });
        if let Some(spec) = spec {
            return Some(MatchedOption { spec, value: Some(value) });
        }
    }
    let joined = |spec: &'static Spec| {
        let joins = matches!(spec.form, Form::Joined | Form::JoinedOrSeparate);
        let length = |known: &&str| (joins && name.starts_with(*known)).then_some(known.len());
        spec.names.iter().filter_map(length).max().map(|length| (length, spec))
    };
    if dashes == 2 && !name.starts_with("print-") {
        return None;
    }
    let (length, spec) = rows().filter_map(joined).max_by_key(|(length, _)| *length)?;
    let value = &name[length..];
    // nvcc accepts `=` between any option and its value.
    let value = match (dialect, spec.form) {
        (Dialect::Nvcc, Form::JoinedOrSeparate) => value.strip_prefix('=').unwrap_or(value),
        _ => value,
    };
    Some(MatchedOption { spec, value: Some(value) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn items(line: &str, dialect: Dialect) -> Vec<Item> {
        let arguments: Vec<String> = line.split_whitespace().map(String::from).collect();
        lex(&arguments, dialect).unwrap()
    }

    fn meaning(line: &str, dialect: Dialect) -> (Meaning, String) {
        match items(line, dialect).as_slice() {
            [Item::Known { meaning, value, .. }] => (*meaning, value.clone()),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn every_spelling_of_a_value_is_read() {
        let cases = [
            ("-arch=sm_80", Meaning::Architecture, "sm_80"),
            ("-arch sm_80", Meaning::Architecture, "sm_80"),
            ("--gpu-architecture=sm_80", Meaning::Architecture, "sm_80"),
            (
                "-gencode arch=compute_75,code=[sm_75,compute_75]",
                Meaning::GenerateCode,
                "arch=compute_75,code=[sm_75,compute_75]",
            ),
            ("-gencode=arch=compute_75,code=sm_75", Meaning::GenerateCode, "arch=compute_75,code=sm_75"),
            ("--generate-code=arch=compute_75,code=sm_75", Meaning::GenerateCode, "arch=compute_75,code=sm_75"),
            ("-O3", Meaning::Optimize, "3"),
            ("-O", Meaning::Optimize, ""),
            ("--optimize 2", Meaning::Optimize, "2"),
            ("-Iinclude", Meaning::Common("-I"), "include"),
            ("-I include", Meaning::Common("-I"), "include"),
            ("-I=include", Meaning::Common("-I"), "include"),
            ("-isystem=include", Meaning::Common("-isystem"), "include"),
            ("-include common.h", Meaning::Common("-include"), "common.h"),
            ("-std=c++17", Meaning::Common("-std="), "c++17"),
            ("--std c++17", Meaning::Common("-std="), "c++17"),
            ("-Xcompiler=-Wall,-fPIC", Meaning::HostArguments, "-Wall,-fPIC"),
            ("--compiler-options -fopenmp", Meaning::HostArguments, "-fopenmp"),
            ("-Xlinker=-rpath,x", Meaning::LinkerArguments, "-rpath,x"),
            ("-lineinfo", Meaning::LineInfo, ""),
            ("-lib", Meaning::Library, ""),
            ("-lcublas", Meaning::LinkItem("-l"), "cublas"),
            ("-rdc=true", Meaning::Relocatable, "true"),
            ("-x cu", Meaning::Language, "cu"),
            ("-Werror all-warnings", Meaning::WarningsAsErrors, "all-warnings"),
            ("-Werror=cross-execution-space-call", Meaning::WarningsAsErrors, "cross-execution-space-call"),
            ("-Werror", Meaning::WarningsAsErrors, ""),
            ("-use_fast_math", Meaning::FastMath, ""),
            ("--use_fast_math", Meaning::FastMath, ""),
            ("-MF deps.d", Meaning::DependencyFile, "deps.d"),
            ("-MT=target", Meaning::DependencyTarget("-MT"), "target"),
            ("--warpline-dump=ir", Meaning::WarplineDump, "ir"),
            ("-t4", Meaning::Accepted, "4"),
        ];
        for (line, expected, value) in cases {
            assert_eq!(meaning(line, Dialect::Nvcc), (expected, value.into()), "{line}");
        }
    }

    #[test]
    fn dialects_differ_where_the_compilers_do() {
        assert_eq!(meaning("-lineinfo", Dialect::Clang), (Meaning::LinkItem("-l"), "ineinfo".into()));
        assert_eq!(meaning("--offload-arch=sm_80", Dialect::Clang), (Meaning::Architecture, "sm_80".into()));
        assert_eq!(meaning("-oout", Dialect::Clang), (Meaning::Output, "out".into()));
        assert_eq!(items("-Werror=format", Dialect::Nvcc), [Item::Unknown("-Werror=format".into())]);
        assert_eq!(items("-march=native", Dialect::Nvcc), [Item::Unknown("-march=native".into())]);
        assert_eq!(
            items("-fopenmp a.cu -", Dialect::Clang),
            [Item::Unknown("-fopenmp".into()), Item::Input("a.cu".into()), Item::Input("-".into()),]
        );
    }

    #[test]
    fn a_missing_value_is_reported_in_clangs_words() {
        let error = lex(&["a.cu".into(), "-o".into()], Dialect::Nvcc).unwrap_err();
        assert_eq!(error.to_string(), "argument to '-o' is missing (expected 1 value)");
    }

    #[test]
    fn no_name_is_twice_in_a_dialect() {
        for dialect in [Dialect::Nvcc, Dialect::Clang] {
            let mut seen = std::collections::HashMap::new();
            for spec in TABLE.iter().filter(|spec| spec.dialect.is_none_or(|only| only == dialect)) {
                for name in spec.names {
                    // A row for one dialect may replace a row for both.
                    let key = (*name, spec.dialect.is_some());
                    assert!(seen.insert(key, ()).is_none(), "{name} in {dialect:?}");
                }
            }
        }
    }

    proptest! {
        /// For any command line, no argument is lost, added or reordered.
        #[test]
        fn items_are_the_command_line(
            arguments in prop::collection::vec("(-{0,2}[a-zA-Z#]{0,12}(=[a-z0-9_,]{0,8})?|[a-z]{1,5}\\.(cu|o|a|cpp))", 0..12),
            clang: bool,
        ) {
            let dialect = if clang { Dialect::Clang } else { Dialect::Nvcc };
            match lex(&arguments, dialect) {
                Ok(items) => {
                    let given: Vec<String> = items.iter().flat_map(|item| item.given().to_vec()).collect();
                    prop_assert_eq!(given, arguments);
                }
                Err(MissingValue(option)) => prop_assert_eq!(Some(&option), arguments.last()),
            }
        }

        /// Every option of the table is recognised by each of its names, with its value if it has one.
        #[test]
        fn table_options_are_known(row in 0..TABLE.len(), value in "[a-z0-9]{1,6}") {
            let spec = &TABLE[row];
            let dialect = spec.dialect.unwrap_or(Dialect::Clang);
            for name in spec.names {
                let (arguments, expected) = match spec.form {
                    Form::Flag | Form::WarningKind => (vec![format!("-{name}")], String::new()),
                    Form::Value | Form::Separate => (vec![format!("-{name}"), value.clone()], value.clone()),
                    Form::JoinedOrSeparate => (vec![format!("-{name}"), value.clone()], value.clone()),
                    Form::Equals => (vec![format!("-{name}={value}")], value.clone()),
                    Form::Joined => (vec![format!("-{name}{value}")], value.clone()),
                };
                match lex(&arguments, dialect).unwrap().as_slice() {
                    [Item::Known { value, .. }] => prop_assert_eq!(value, &expected),
                    other => prop_assert!(false, "{:?} is {:?}", arguments, other),
                }
            }
        }
    }
}
