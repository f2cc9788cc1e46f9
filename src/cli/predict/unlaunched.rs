//! Predicts kernels of an executable that was never run; the user specifies the launch and its arguments.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cli::Failure;
use crate::cli::args::PredictArguments;
use crate::exit_code;
use warpline_prediction::configurations::{is_block, sizes};
use warpline_prediction::executable::{ExecutableError, Unlaunched, made_up, modules, unseen_call};

/// Returns whether a file is an executable.
pub(super) fn is_executable(path: &Path) -> bool {
    let mut head = [0; 4];
    std::fs::File::open(path).is_ok_and(|mut file| std::io::Read::read_exact(&mut file, &mut head).is_ok())
        && head == *b"\x7fELF"
}

/// Returns the kernel whose name matches, if there is exactly one, with the requested launch.
pub(super) fn kernel(arguments: &PredictArguments) -> Result<Unlaunched, Failure> {
    let usage = |message: String| Failure::new(exit_code::USAGE, message);
    let modules = modules(&arguments.file).map_err(|error| {
        let code = match error {
            ExecutableError::NoModules { .. } => exit_code::NOTHING_MATCHED,
            _ => exit_code::UNREADABLE,
        };
        Failure::new(code, error)
    })?;
    let pattern = arguments.kernel.as_deref().map(regex::Regex::new).transpose();
    let pattern = pattern.map_err(|error| usage(format!("--kernel: {error}")))?;
    let all = || modules.iter().flat_map(|module| module.kernels.iter().map(move |kernel| (module, kernel)));
    let name = |module: &warpline_prediction::executable::Module, function: u32| {
        module.table.functions.get(function as usize).map(|function| function.name.clone()).unwrap_or_default()
    };
    let matching: Vec<_> = all()
        .filter(|(module, kernel)| pattern.as_ref().is_none_or(|one| one.is_match(&name(module, kernel.function))))
        .collect();
    let names =
        |kernels: &[(&warpline_prediction::executable::Module, &warpline_prediction::executable::BuiltKernel)]| {
            kernels.iter().map(|(module, kernel)| format!("\n  {}", name(module, kernel.function))).collect::<String>()
        };
    let (module, built) = match matching[..] {
        [one] => one,
        [] => {
            let known = names(&all().collect::<Vec<_>>());
            let wanted = arguments.kernel.as_deref().unwrap_or_default();
            let message = format!("no kernel matches --kernel {wanted}; there are:{known}");
            return Err(Failure::new(exit_code::NOTHING_MATCHED, message));
        }
        _ => return Err(usage(format!("--kernel has to name one kernel; these match:{}", names(&matching)))),
    };
    let own = name(module, built.function);
    if let Some(place) = unseen_call(&modules, module, built) {
        let message = format!(
            "{own}: {place} calls a function that was not inlined, whose accesses are not attributed to kernels; profile the program with `warpline run` \
             and give `predict` the profile, which has what they do"
        );
        return Err(Failure::new(exit_code::NOTHING_MATCHED, message));
    }
    let first = arguments.block.split(',').next().and_then(sizes).filter(|block| is_block(*block));
    let grid = arguments.grid.as_deref().and_then(sizes);
    let (Some(block), Some(grid)) = (first, grid) else {
        return Err(usage(format!(
            "{own} was never launched: --block SHAPE,… and --grid SHAPE are required; give a profile if \
             shapes should follow a launch"
        )));
    };
    let mut values = BTreeMap::new();
    for setting in &arguments.set {
        if let Some((name, value)) = setting.split_once('=')
            && let Ok(value) = value.trim().parse()
        {
            values.insert(name.to_owned(), value);
        }
    }
    let found = made_up(module, built, block, grid, &values).ok_or_else(|| {
        Failure::new(exit_code::NOTHING_MATCHED, format!("{own}: the compiler recorded no address of this kernel; rebuild the program with this version's warpline-cc"))
    })?;
    if !found.missing.is_empty() {
        let list: Vec<String> = found.missing.iter().map(|name| format!("--set {name}=VALUE")).collect();
        return Err(usage(format!("{own} was never launched, so its arguments are not known: {}", list.join(" "))));
    }
    Ok(found)
}
