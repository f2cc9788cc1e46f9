//! Commands that install missing parts, by Linux distribution. The names are in `scripts/packages.txt`.

use crate::pins;

const TABLE: &str = include_str!("../../../scripts/packages.txt");

/// Files that describe the running system; the first existing file counts.
const OS_RELEASE: [&str; 2] = ["/etc/os-release", "/usr/lib/os-release"];

/// The parts to which the row `note` applies.
const LLVM_PARTS: [&str; 2] = ["clang", "llvm"];

/// Returns the command that installs `parts` (names of rows) on this system. On an unknown distribution, returns the commands of
/// all package managers in the table.
pub fn install(parts: &[&str]) -> String {
    let system = OS_RELEASE.iter().find_map(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    install_on(&system, parts)
}

/// The variant of [`install`] for a system whose `os-release` is `system`.
fn install_on(system: &str, parts: &[&str]) -> String {
    match column(system) {
        Some(column) => {
            let command = format!("sudo {}", command(column, parts));
            let note = cell("note", column).filter(|_| parts.iter().any(|part| LLVM_PARTS.contains(part)));
            note.map_or(command.clone(), |note| format!("{command} ({note})"))
        }
        None => {
            let mut commands: Vec<String> = (1..=columns()).map(|column| command(column, parts)).collect();
            commands.dedup();
            format!("one of: {}", commands.join(" | "))
        }
    }
}

/// Returns the column of the distribution that `os-release` names: by `ID`, otherwise by the words of `ID_LIKE` in
/// their order.
fn column(system: &str) -> Option<usize> {
    let value = |name: &str| {
        let line = system.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_default().trim_matches(['"', '\''])
    };
    let mut names = std::iter::once(value("ID")).chain(value("ID_LIKE").split_whitespace());
    names.find_map(|name| {
        (1..=columns()).find(|column| cell("ids", *column).is_some_and(|ids| ids.split(' ').any(|id| id == name)))
    })
}

fn columns() -> usize {
    row("ids").map_or(0, |cells| cells.len() - 1)
}

fn row(part: &str) -> Option<Vec<&'static str>> {
    let mut rows = TABLE.lines().filter(|line| !line.starts_with('#'));
    rows.find_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        (cells[0] == part).then_some(cells)
    })
}

fn cell(part: &str, column: usize) -> Option<String> {
    row(part)?.get(column).map(|cell| cell.replace('@', &pins::llvm_major().to_string()))
}

/// Returns the package manager's command; a part without a row keeps its own name.
fn command(column: usize, parts: &[&str]) -> String {
    let packages = parts.iter().map(|part| cell(part, column).unwrap_or_else(|| (*part).to_owned()));
    let words = std::iter::once(cell("install", column).unwrap_or_default()).chain(packages);
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_distribution_has_its_command() {
        let on = |system: &str| install_on(system, &["g++"]);
        assert_eq!(on("ID=debian\n"), "sudo apt-get install -y --no-install-recommends g++");
        assert_eq!(on("NAME=x\nID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"), "sudo dnf install -y gcc-c++");
        assert_eq!(on("ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\n"), "sudo zypper install -y gcc-c++");
        assert_eq!(on("ID=manjaro\nID_LIKE=arch\n"), "sudo pacman -S --needed gcc");
        // Ubuntu's derivatives match Ubuntu before Debian.
        assert_eq!(column("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"), column("ID=ubuntu\n"));
        let unknown = on("ID=plan9\n");
        assert!(["apt-get", "dnf", "zypper", "pacman"].iter().all(|name| unknown.contains(name)), "{unknown}");
    }

    #[test]
    fn llvm_comes_with_its_note() {
        let text = install_on("ID=ubuntu\nID_LIKE=debian\n", &["clang", "llvm"]);
        let major = pins::llvm_major();
        assert!(text.contains(&format!("clang-{major} llvm-{major}-dev")), "{text}");
        assert!(text.contains(&format!("llvm.sh {major}")), "{text}");
    }

    #[test]
    fn all_rows_have_all_columns() {
        let rows: Vec<&str> = TABLE.lines().filter(|line| !line.starts_with('#')).collect();
        for row in &rows {
            assert_eq!(row.split('|').count(), columns() + 1, "{row}");
            assert!(row.split('|').all(|cell| !cell.trim().is_empty()), "{row}");
        }
    }
}
