//! CCCL's headers in a form that clang accepts. The toolkit's own files are not changed; clang receives changed texts.
//!
//! - A block's `cuda::barrier` has a destructor, for which clang refuses the usual `__shared__ cuda::barrier<…> b;`,
//!   and also `cuda::pipeline_shared_state`. nvcc only warns, because the destructor of a shared variable is never
//!   called. The destructor is removed.
//! - From sm_80 on, barriers are PTX's `mbarrier` objects; the header's own form for older architectures does the same
//!   with atomic operations. The older form is used if no code for a GPU is generated; on a GPU, code that uses the
//!   object directly as an `mbarrier` must find one.

use std::path::{Path, PathBuf};

const BARRIER: &str = "cuda/__barrier/barrier_block_scope.h";
const IS_MBARRIER: &str = "cuda/__memcpy_async/is_local_smem_barrier.h";

/// Returns whether sources include a changed header.
pub fn concerns(files: &[(PathBuf, String)]) -> bool {
    files.iter().any(|(_, text)| ["cuda/barrier", "cuda/pipeline"].iter().any(|name| text.contains(name)))
}

/// Returns the changed files and their texts, below CCCL's folder. The list is empty for a release in which the files
/// have another content.
pub fn changed(folder: &Path, gpu: bool) -> Vec<(PathBuf, String)> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let Some(barrier) = read(BARRIER).and_then(|text| without_destructor(&text)) else { return Vec::new() };
    let question = if gpu { None } else { read(IS_MBARRIER).and_then(|text| never_mbarrier(&text)) };
    match question {
        Some(answer) => vec![(folder.join(BARRIER), without_mbarrier(&barrier)), (folder.join(IS_MBARRIER), answer)],
        None => vec![(folder.join(BARRIER), barrier)],
    }
}

/// Removes the destructor. Line numbers do not change.
fn without_destructor(text: &str) -> Option<String> {
    let start = text.find("_LIBCUDACXX_HIDE_FROM_ABI ~barrier()")?;
    let body = start + text[start..].find('{')?;
    let mut depth = 0;
    let length = text[body..].find(|c| {
        depth += match c {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        depth == 0
    })?;
    let end = body + length + 1;
    let lines = text[start..end].matches('\n').count();
    Some(format!("{}{}{}", &text[..start], "\n".repeat(lines), &text[end..]))
}

fn without_mbarrier(text: &str) -> String {
    text.replace("NV_PROVIDES_SM_80", "NV_NO_TARGET").replace("NV_PROVIDES_SM_90", "NV_NO_TARGET")
}

fn never_mbarrier(text: &str) -> Option<String> {
    let condition = "_Is_mbarrier && __isShared(&__barrier)";
    text.contains(condition).then(|| text.replace(condition, "false"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "class barrier {\n  barrier() = default;\n  _LIBCUDACXX_HIDE_FROM_ABI ~barrier()\n  {\n    if (x) { NV_PROVIDES_SM_80 }\n  }\n  int after;\n};\n";

    #[test]
    fn the_destructor_goes_and_lines_stay() {
        let new = without_destructor(TEXT).unwrap();
        assert!(!new.contains('~') && new.contains("barrier() = default;"));
        assert_eq!(new.lines().position(|line| line == "  int after;"), Some(6));
        assert_eq!(without_destructor("class barrier {};"), None);
        assert_eq!(without_destructor("_LIBCUDACXX_HIDE_FROM_ABI ~barrier() {"), None);
    }

    #[test]
    fn code_for_a_gpu_keeps_its_barriers() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        assert_eq!(changed(folder.path(), false), []);
        write(BARRIER, &format!("{TEXT}NV_PROVIDES_SM_90"));
        write(IS_MBARRIER, "return _Is_mbarrier && __isShared(&__barrier);");
        let both = changed(folder.path(), true);
        assert_eq!(both.len(), 1);
        assert!(both[0].1.ends_with("NV_PROVIDES_SM_90"));
        let both = changed(folder.path(), false);
        assert!(both[0].1.ends_with("NV_NO_TARGET") && !both[0].1.contains('~'));
        assert_eq!(both[1].1, "return false;");
    }
}
