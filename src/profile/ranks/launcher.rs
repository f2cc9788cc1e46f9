//! Determines the rank of a process from the environment that its launcher set.

use warpline_format::visible;

use crate::model::Rank;

/// Maximum number of ranks; larger numbers are invalid.
const MOST_RANKS: u32 = 1 << 24;
/// Maximum length of a node's name, as for a host.
const MOST_NAME_BYTES: usize = 255;

/// The environment variables of a launcher.
struct Launcher {
    name: &'static str,
    index: &'static str,
    /// Variables for the number of ranks; the first existing one is used.
    count: &'static [&'static str],
    local_index: Option<&'static str>,
    /// If this variable is absent, the others are ignored.
    only_with: Option<&'static str>,
    /// Whether a single process is not a job.
    only_several: bool,
}

/// The launchers are tested in this order, because a launcher of MPI may run in a task of Slurm or use PMIx.
const LAUNCHERS: [Launcher; 4] = [
    Launcher {
        name: "open-mpi",
        index: "OMPI_COMM_WORLD_RANK",
        count: &["OMPI_COMM_WORLD_SIZE"],
        local_index: Some("OMPI_COMM_WORLD_LOCAL_RANK"),
        only_with: None,
        only_several: false,
    },
    Launcher {
        name: "pmi",
        index: "PMI_RANK",
        count: &["PMI_SIZE"],
        local_index: Some("MPI_LOCALRANKID"),
        only_with: None,
        only_several: false,
    },
    // A batch script has the rank variables of the job's tasks without being a task; only `srun` creates steps. An
    // interactive shell from `srun` is a step of one task, and programs started there are not a job.
    Launcher {
        name: "slurm",
        index: "SLURM_PROCID",
        count: &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"],
        local_index: Some("SLURM_LOCALID"),
        only_with: Some("SLURM_STEP_ID"),
        only_several: true,
    },
    Launcher { name: "pmix", index: "PMIX_RANK", count: &[], local_index: None, only_with: None, only_several: false },
];

/// The rank information in an environment.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RankEnvironment {
    /// The rank, if the process is one.
    pub rank: Option<Rank>,
    /// Notes about invalid variables.
    pub notes: Vec<String>,
}

/// Determines the rank of this process from its variables. `host` is the name of the machine, which is used if no
/// variable names the node.
///
/// The environment is untrusted: an invalid number is reported and has no effect.
pub fn of_environment(variable: impl Fn(&str) -> Option<String>, host: Option<&str>) -> RankEnvironment {
    let mut notes = Vec::new();
    let rank = LAUNCHERS.iter().find_map(|launcher| launcher.rank(&variable, &mut notes)).map(|rank| {
        let named_node = variable("SLURMD_NODENAME").filter(|name| {
            let is_name = !name.is_empty() && name.len() <= MOST_NAME_BYTES;
            if !is_name {
                notes.push("the environment's SLURMD_NODENAME is no name of a node and is ignored".to_owned());
            }
            is_name
        });
        let node = named_node.as_deref().or(host).filter(|name| !name.is_empty());
        Rank { node: node.map(|name| visible::name(name).into_owned()), ..rank }
    });
    RankEnvironment { rank, notes }
}

/// Returns whether a variable contains a rank's number.
pub fn names_a_rank(variable: &str) -> bool {
    LAUNCHERS.iter().any(|launcher| launcher.index == variable)
}

impl Launcher {
    fn rank(&self, variable: &impl Fn(&str) -> Option<String>, notes: &mut Vec<String>) -> Option<Rank> {
        let index = variable(self.index)?;
        if self.only_with.is_some_and(|name| variable(name).is_none()) {
            return None;
        }
        let mut wrong = |name: &str, value: &str, why: &str| {
            let value: String = visible::name(value).chars().take(40).collect();
            notes.push(format!("the environment's {name} is `{value}`, {why}, and is ignored"));
        };
        let Some(number) = number(&index) else {
            wrong(self.index, &index, "which is no number of a rank");
            return None;
        };
        let counted = self.count.iter().find_map(|name| Some((*name, variable(name)?)));
        let count = match &counted {
            None if self.count.is_empty() => None,
            None => {
                wrong(self.index, &index, "but the number of ranks is not set");
                return None;
            }
            Some((name, value)) => match self::number(value).filter(|count| *count > 0) {
                Some(count) if number < count => Some(count),
                Some(count) => {
                    wrong(self.index, &index, &format!("which is none of {count} ranks"));
                    return None;
                }
                None => {
                    wrong(name, value, "which is no number of ranks");
                    return None;
                }
            },
        };
        if self.only_several && count == Some(1) {
            return None;
        }
        let mut local_index = None;
        if let Some((name, value)) = self.local_index.and_then(|name| Some((name, variable(name)?))) {
            local_index = self::number(&value).filter(|local| count.is_none_or(|count| *local < count));
            if local_index.is_none() {
                wrong(name, &value, "which is not the number of a rank on its node");
            }
        }
        Some(Rank { index: number, count, local_index, node: None, launcher: self.name.to_owned() })
    }
}

/// Parses a number that consists only of digits and is not too long.
fn number(text: &str) -> Option<u32> {
    let plain = !text.is_empty() && text.len() <= 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| plain && *number < MOST_RANKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> RankEnvironment {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        of_environment(variable, Some("here"))
    }

    fn rank(index: u32, count: Option<u32>, local_index: Option<u32>, node: &str, launcher: &str) -> Option<Rank> {
        Some(Rank { index, count, local_index, node: Some(node.to_owned()), launcher: launcher.to_owned() })
    }

    #[test]
    fn launchers_are_known_by_their_variables() {
        let open_mpi =
            [("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "8"), ("OMPI_COMM_WORLD_LOCAL_RANK", "1")];
        let pmi = [("PMI_RANK", "0"), ("PMI_SIZE", "1"), ("MPI_LOCALRANKID", "0")];
        let slurm = [
            ("SLURM_PROCID", "12"),
            ("SLURM_NTASKS", "64"),
            ("SLURM_LOCALID", "4"),
            ("SLURM_STEP_ID", "0"),
            ("SLURMD_NODENAME", "n07"),
        ];
        assert_eq!(environment(&open_mpi).rank, rank(3, Some(8), Some(1), "here", "open-mpi"));
        assert_eq!(environment(&pmi).rank, rank(0, Some(1), Some(0), "here", "pmi"));
        assert_eq!(environment(&slurm).rank, rank(12, Some(64), Some(4), "n07", "slurm"));
        assert_eq!(environment(&[("PMIX_RANK", "7")]).rank, rank(7, None, None, "here", "pmix"));
        // `mpirun` runs in an allocation of Slurm: the rank is from MPI, and the node's name is from Slurm.
        assert_eq!(environment(&[&slurm[..], &open_mpi].concat()).rank, rank(3, Some(8), Some(1), "n07", "open-mpi"));
        assert_eq!(environment(&[]), RankEnvironment::default());
    }

    #[test]
    fn a_batch_script_and_a_shell_of_slurm_are_no_ranks() {
        assert_eq!(environment(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "64")]), RankEnvironment::default());
        let shell = [
            ("SLURM_PROCID", "0"),
            ("SLURM_NTASKS", "64"),
            ("SLURM_STEP_NUM_TASKS", "1"),
            ("SLURM_STEP_ID", "4294967290"),
        ];
        assert_eq!(environment(&shell), RankEnvironment::default());
    }

    #[test]
    fn what_is_no_rank_is_reported_and_ignored() {
        let long = "9".repeat(400);
        for (index, count, what) in [
            ("-1", "8", "no number of a rank"),
            ("", "8", "no number of a rank"),
            (" 1", "8", "no number of a rank"),
            ("+1", "8", "no number of a rank"),
            (&long, "8", "no number of a rank"),
            ("99999999", "8", "no number of a rank"),
            ("../../x", "8", "no number of a rank"),
            ("\u{1b}[31m", "8", "\\x1b"),
            ("8", "8", "none of 8 ranks"),
            ("0", "0", "no number of ranks"),
            ("0", "many", "no number of ranks"),
        ] {
            let environment = environment(&[("PMI_RANK", index), ("PMI_SIZE", count)]);
            assert_eq!((environment.rank, environment.notes.len()), (None, 1), "{index} of {count}");
            assert!(environment.notes[0].contains(what) && environment.notes[0].len() < 160, "{:?}", environment.notes);
        }
        let alone = environment(&[("OMPI_COMM_WORLD_RANK", "0")]);
        assert!(alone.rank.is_none() && alone.notes[0].contains("the number of ranks is not set"), "{alone:?}");
        // The next launcher is tested.
        let other = environment(&[("OMPI_COMM_WORLD_RANK", "x"), ("PMI_RANK", "1"), ("PMI_SIZE", "2")]);
        assert_eq!((other.rank, other.notes.len()), (rank(1, Some(2), None, "here", "pmi"), 1));
        let local = environment(&[("PMI_RANK", "1"), ("PMI_SIZE", "2"), ("MPI_LOCALRANKID", "2")]);
        assert_eq!((local.rank, local.notes.len()), (rank(1, Some(2), None, "here", "pmi"), 1));
        let node = environment(&[("PMI_RANK", "1"), ("PMI_SIZE", "2"), ("SLURMD_NODENAME", &long)]);
        assert_eq!((node.rank, node.notes.len()), (rank(1, Some(2), None, "here", "pmi"), 1));
        let hidden = environment(&[("PMIX_RANK", "1"), ("SLURMD_NODENAME", "n\n\u{202e}1")]);
        assert_eq!(hidden.rank.unwrap().node.unwrap(), "n\\n\\u{202e}1");
    }
}
