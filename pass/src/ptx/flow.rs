//! The control flow of inline assembly: labels, branches, and guarded instructions that affect the whole warp.

use super::parse::{self, Operand, Statement};

/// Straight-line instructions, and the position where control continues after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The instructions.
    pub statements: Vec<Statement>,
    /// The end of the stretch.
    pub end: End,
}

/// How a stretch ends. Targets are the numbers of stretches; the number of stretches itself is the end of the assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Control continues at this stretch.
    Goto(usize),
    /// If a predicate is true (or false, if negated), control continues at `taken`, otherwise at `next`.
    Branch {
        /// The predicate, and whether it is negated.
        guard: (Operand, bool),
        /// The target if the condition is true.
        taken: usize,
        /// The target if the condition is false.
        next: usize,
    },
}

/// A register that the text declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The name, without `%`.
    pub name: String,
    /// The type, such as `b32`.
    pub ty: String,
}

/// Assembly with control flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The stretches; control starts at the first.
    pub stretches: Vec<Stretch>,
    /// The declared registers.
    pub registers: Vec<Declared>,
}

/// Instructions that affect the complete warp or thread. With a guard, they become a branch around the instruction.
const WHOLE: [&str; 8] = ["bar", "barrier", "mbarrier", "trap", "exit", "ret", "brkpt", "fence"];

enum Piece {
    Label(String),
    Statement(Statement),
}

/// Reads assembly that has control flow; returns `None` for plain instructions, and for text that cannot be read.
pub fn read(text: &str) -> Option<Flow> {
    let plain = parse::without_comments(text)?;
    let (mut pieces, mut registers) = (Vec::new(), Vec::new());
    for piece in parse::split_statements(&plain) {
        let mut rest = piece.trim();
        while let Some((label, behind)) = split_label(rest) {
            pieces.push(Piece::Label(label.to_owned()));
            rest = behind.trim_start_matches(['{', '}', ' ']);
        }
        if let Some(declared) = rest.strip_prefix(".reg") {
            registers.extend(declarations(declared)?);
        } else if rest.starts_with(".pragma") || rest.starts_with(".loc") {
            continue;
        } else if rest.starts_with('.') {
            return None;
        } else if !rest.is_empty() {
            pieces.push(Piece::Statement(parse::statement(rest)?));
        }
    }
    if !pieces.iter().any(needs_flow) || (ends_thread(&pieces) && pieces.len() == 1) {
        return None;
    }
    Some(Flow { stretches: stretches(pieces)?, registers })
}

/// Returns whether the assembly is only `exit;`, which is handled separately.
fn ends_thread(pieces: &[Piece]) -> bool {
    pieces.iter().all(|piece| matches!(piece, Piece::Statement(one) if root(one) == "exit" && one.guard.is_none()))
}

fn root(statement: &Statement) -> &str {
    statement.operation.first().map_or("", String::as_str)
}

fn needs_flow(piece: &Piece) -> bool {
    match piece {
        Piece::Label(_) => true,
        Piece::Statement(one) => {
            matches!(root(one), "bra" | "exit" | "ret") || (one.guard.is_some() && WHOLE.contains(&root(one)))
        }
    }
}

/// Splits a label at the start of a text from the text after it.
fn split_label(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let at = text.find(':')?;
    let label = text[..at].trim_end();
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
    let named = !label.is_empty() && label.chars().all(good);
    (named && !text[at + 1..].starts_with(':')).then(|| (label, text[at + 1..].trim_start()))
}

/// Returns the registers in ` .pred p, q` or ` .b32 r<4>`; `None` for vectors.
fn declarations(text: &str) -> Option<Vec<Declared>> {
    let (ty, names) = text.trim().strip_prefix('.')?.split_once(char::is_whitespace)?;
    let mut list = Vec::new();
    for name in names.split(',') {
        let name = name.trim().trim_start_matches('%');
        match name.split_once('<') {
            Some((stem, count)) => {
                let count: usize = count.strip_suffix('>')?.trim().parse().ok().filter(|count| *count <= 1024)?;
                list.extend((0..count).map(|index| Declared { name: format!("{stem}{index}"), ty: ty.to_owned() }));
            }
            None if name.starts_with('.') => return None,
            None => list.push(Declared { name: name.to_owned(), ty: ty.to_owned() }),
        }
    }
    Some(list)
}

/// The target of a stretch before labels have numbers.
enum Target {
    Number(usize),
    Label(String),
}

/// A stretch before labels have numbers: its statements, the guard of the branch at its end, the branch's target, and
/// the next stretch if the branch is not taken.
type Unnumbered = (Vec<Statement>, Option<(Operand, bool)>, Target, usize);

fn stretches(pieces: Vec<Piece>) -> Option<Vec<Stretch>> {
    let mut list: Vec<Unnumbered> = Vec::new();
    let mut labels: Vec<(String, usize)> = Vec::new();
    let mut open: Vec<Statement> = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Label(label) => {
                let next = list.len() + 1;
                list.push((std::mem::take(&mut open), None, Target::Number(next), next));
                labels.push((label, next));
            }
            Piece::Statement(mut one) if root(&one) == "bra" => {
                let next = list.len() + 1;
                let guard = one.guard.take();
                list.push((std::mem::take(&mut open), guard, Target::Label(branch_target(&one)?), next));
            }
            Piece::Statement(mut one) if one.guard.is_some() && WHOLE.contains(&root(&one)) => {
                let (inside, next) = (list.len() + 1, list.len() + 2);
                let guard = one.guard.take();
                // The text of the instruction must not contain the guard again.
                one.text = one.text.split_once(' ').map_or(String::new(), |(_, rest)| unguarded(rest));
                list.push((std::mem::take(&mut open), guard, Target::Number(inside), next));
                list.push((vec![one], None, Target::Number(next), next));
            }
            Piece::Statement(one) if matches!(root(&one), "exit" | "ret") => {
                let inside = list.len() + 1;
                list.push((std::mem::take(&mut open), None, Target::Number(inside), inside));
                list.push((vec![one], None, Target::Number(inside + 1), inside + 1));
            }
            Piece::Statement(one) => open.push(one),
        }
    }
    let end = list.len() + 1;
    list.push((open, None, Target::Number(end), end));
    let number = |target: Target| match target {
        Target::Number(number) => Some(number),
        Target::Label(label) => labels.iter().find(|(one, _)| *one == label).map(|(_, number)| *number),
    };
    let made = list.into_iter().map(|(statements, guard, target, next)| {
        let target = number(target)?;
        let end = match guard {
            Some(guard) => End::Branch { guard, taken: target, next },
            None => End::Goto(target),
        };
        Some(Stretch { statements, end })
    });
    made.collect()
}

/// Returns the text after the guard `@!p` or `@ ! p`, whose first word was already removed.
fn unguarded(rest: &str) -> String {
    let mut rest = rest.trim_start();
    while let Some((word, behind)) = rest.split_once(' ') {
        let opcode = word.split('.').next().unwrap_or_default();
        if WHOLE.contains(&opcode) {
            break;
        }
        rest = behind.trim_start();
    }
    rest.to_owned()
}

fn branch_target(branch: &Statement) -> Option<String> {
    let text = branch.text.rsplit(' ').next()?.trim();
    (branch.operation.len() <= 2 && !text.is_empty()).then(|| text.to_owned())
}

/// Returns the registers that an instruction may write, which are those of its first operand.
pub fn written(statement: &Statement) -> Vec<Operand> {
    fn collect(operand: &Operand, list: &mut Vec<Operand>) {
        match operand {
            Operand::Group(parts) => parts.iter().for_each(|part| collect(part, list)),
            Operand::Pair(first, second) => {
                collect(first, list);
                collect(second, list);
            }
            Operand::Register(_) | Operand::Argument(_) => list.push(operand.clone()),
            Operand::Number(_) | Operand::Memory(..) | Operand::Texture(..) | Operand::Not(_) => {}
        }
    }
    let mut list = Vec::new();
    if let Some(first) = statement.operands.first() {
        collect(first, &mut list);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(flow: &Flow) -> Vec<Vec<&str>> {
        flow.stretches.iter().map(|one| one.statements.iter().map(|one| one.text.as_str()).collect()).collect()
    }

    #[test]
    fn plain_instructions_have_no_flow() {
        assert_eq!(read("mov.u32 $0, 5; @p mov.u32 $0, 6;"), None);
        assert_eq!(read("exit;"), None);
        assert_eq!(read("ld.shared::cta.u32 $0, [$1];"), None);
    }

    #[test]
    fn branches_lead_to_labels() {
        let flow =
            read("{ .reg .pred p; setp.lt.u32 p, $1, 16; mov.u32 $0, 5; @p bra L1; mov.u32 $0, 6; L1: }").unwrap();
        assert_eq!(flow.registers, [Declared { name: "p".into(), ty: "pred".into() }]);
        assert_eq!(texts(&flow), [vec!["setp.lt.u32 p, $1, 16", "mov.u32 $0, 5"], vec!["mov.u32 $0, 6"], vec![]]);
        let guard = (Operand::Register("p".into()), false);
        assert_eq!(flow.stretches[0].end, End::Branch { guard, taken: 2, next: 1 });
        assert_eq!(flow.stretches[1].end, End::Goto(2));
        assert_eq!(flow.stretches[2].end, End::Goto(3));
    }

    #[test]
    fn waiting_loops_go_back() {
        let text = "{\n.reg .pred P1;\nLAB_WAIT${:uid}:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [$0], $1;\n\
                    @P1 bra DONE${:uid};\nbra LAB_WAIT${:uid};\nDONE${:uid}:\n}";
        let flow = read(text).unwrap();
        assert_eq!(flow.stretches.len(), 5);
        let guard = (Operand::Register("P1".into()), false);
        assert_eq!(flow.stretches[1].end, End::Branch { guard, taken: 4, next: 2 });
        assert_eq!(flow.stretches[2].end, End::Goto(1));
    }

    #[test]
    fn guards_of_barriers_and_exits_are_branches() {
        for text in ["@!p bar.sync 1, 64;", "@ ! p bar.sync 1, 64;"] {
            let flow = read(text).unwrap();
            assert_eq!(texts(&flow), [vec![], vec!["bar.sync 1, 64"], vec![]], "{text}");
            let guard = (Operand::Register("p".into()), true);
            assert_eq!(flow.stretches[0].end, End::Branch { guard, taken: 1, next: 2 });
        }
        assert_eq!(texts(&read("@p exit;").unwrap()), [vec![], vec!["exit"], vec![]]);
        assert_eq!(read("bra NOWHERE;"), None);
    }

    #[test]
    fn ranges_of_registers_are_declared() {
        let list = declarations(" .b32 r<3>, %x").unwrap();
        assert_eq!(list.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["r0", "r1", "r2", "x"]);
        assert_eq!(declarations(" .v2 .f32 x"), None);
    }
}
