#!/usr/bin/env python3
"""Checks prose: replaced words, line length of Markdown, subjects of commits. `make lint` runs it.

scripts/prose-baseline.json has the number of violations that are still allowed, for each page and for each
top folder of code. A number above its allowance is an error. `--shrink` lowers the allowances to what is
there, and refuses to raise their sum. `--long` lists the sentences of Markdown with more than 25 words.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASELINE = ROOT / "scripts/prose-baseline.json"
COLUMNS = 100
SUBJECT = 72
WORDS_OF_A_SENTENCE = 25

# What not to write, and what to write.
WORDS = [
    (r"(?:un)?(?:tells?|told|telling)", "report, state, show, distinguish"),
    (r"says?|said", "show, contain, print, state, specify"),
    (r"asks?|asked|asking", "query, request, require"),
    (r"look(?:s|ed|ing)? (?:at|for|through)", "inspect, search, scan"),
    (r"taken for", "treated as, assumed to be"),
    (r"laps?", "iteration, trip count"),
    (r"(?:the|a|its|each|their) begin", "start, beginning"),
    (r"beside", "next to, in addition to, separate from"),
    (r"by (?:itself|themselves)", "alone, independent"),
    (r"nobody", "no caller, no thread, is not reported"),
    (r"in vain", "without effect, unused, failed"),
    (r"mend(?:s|ed|ing)?|cured", "fix"),
    (r"(?:lean|rest)(?:s|ed|ing)? on", "depend on, rely on"),
    (r"how near", "how accurate"),
    (r"another than", "different from"),
    (r"(?:some|several|a few) per cent", "the number"),
    (r"is no (?:form|item)", "is not a valid …"),
    (r"knows|wants?|forgets?|forgot(?:ten)?", "track, contain, require, discard"),
]
PATTERN = re.compile(r"\b(?:" + "|".join(words for words, _ in WORDS) + r")\b", re.IGNORECASE)

# Pages that code writes: their sentences are counted where the code has them. Others end with such a part.
GENERATED = {"docs/ptx.md", "docs/cuda-functions.md"}
GENERATED_PART = "<!-- The rest is made from the code"
# Literals and comments of Rust and C++, comments and strings of Python.
TEXT_OF_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|r(#*)".*?"\1|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\\\'\n])\'', re.DOTALL)
TEXT_OF_PYTHON = re.compile(r'""".*?"""|#[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
LANGUAGES = {".rs": TEXT_OF_CODE, ".cpp": TEXT_OF_CODE, ".h": TEXT_OF_CODE, ".cu": TEXT_OF_CODE, ".ts": TEXT_OF_CODE, ".py": TEXT_OF_PYTHON}


def git(*arguments: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True).stdout


def tracked_files() -> list:
    return [ROOT / name for name in git("ls-files", "-z").split("\0") if name]


def read(path: Path) -> str:
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    return text.partition(GENERATED_PART)[0] if path.suffix == ".md" else text


def without_code(text: str) -> list:
    """Returns the lines of Markdown; those of code blocks are empty, and inline code is a single letter."""
    lines, code = [], False
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        code ^= fence
        lines.append("" if code or fence else line)
    # Inline code may go on in the next line.
    letter = lambda found: "x" + "\n" * found.group().count("\n")
    return re.sub(r"`(?:[^`\n]|\n(?!\s*\n))+`", letter, "\n".join(lines)).split("\n")


def advice(word: str) -> str:
    return next(instead for words, instead in WORDS if re.fullmatch(words, word, re.IGNORECASE))


def check_page(path: Path) -> "tuple[list, list]":
    """Returns the replaced words and the long lines of a page, as messages."""
    name = path.relative_to(ROOT)
    text = read(path)
    words = [f"{name}:{number}: \"{found.group()}\": write {advice(found.group())}"
             for number, line in enumerate(without_code(text), 1) for found in PATTERN.finditer(line)]
    lines, code = [], False
    for number, line in enumerate(text.split("\n"), 1):
        fence = line.lstrip().startswith("```")
        code ^= fence
        # A line that cannot be broken, such as a link, may be longer.
        breakable = " " in line.strip()[:COLUMNS] and not re.match(r"\s*(?:\||\[\S+\]:|!\[|#)", line)
        if len(line) > COLUMNS and breakable and not code and not fence:
            lines.append(f"{name}:{number}: {len(line)} columns, at most {COLUMNS}")
    return words, lines


def check_code(path: Path) -> list:
    """Returns the replaced words in comments and literals of a source file, as messages."""
    text = read(path)
    found = []
    for piece in LANGUAGES[path.suffix].finditer(text):
        for word in PATTERN.finditer(piece.group()):
            line = text.count("\n", 0, piece.start() + word.start()) + 1
            found.append(f"{path.relative_to(ROOT)}:{line}: \"{word.group()}\": write {advice(word.group())}")
    return found


def violations() -> dict:
    """Returns lists of messages by kind and by page or folder."""
    found = {"words": {}, "lines": {}, "code": {}}
    for path in tracked_files():
        name = path.relative_to(ROOT).as_posix()
        if path.suffix == ".md" and name not in GENERATED:
            found["words"][name], found["lines"][name] = check_page(path)
        elif path.suffix in LANGUAGES and path != Path(__file__).resolve():
            found["code"].setdefault(name.split("/")[0], []).extend(check_code(path))
    return found


def check_commits(since: str) -> list:
    """Returns what is wrong with the subjects of the commits after `since`; nothing without history."""
    try:
        subjects = git("log", "--no-merges", "--format=%h %s", f"{since}..HEAD").splitlines()
    except (subprocess.CalledProcessError, FileNotFoundError):
        return []
    wrong = []
    for line in subjects:
        commit, _, subject = line.partition(" ")
        if subject.startswith('Revert "'):
            continue
        if not re.match(r"[a-z][\w ,/.-]*: \S", subject) or subject.endswith("."):
            wrong.append(f"commit {commit}: write \"area: summary\", not \"{subject}\"")
        elif len(subject) > SUBJECT:
            wrong.append(f"commit {commit}: {len(subject)} characters, at most {SUBJECT}: \"{subject}\"")
    return wrong


def counts(found: dict) -> dict:
    return {kind: {name: len(messages) for name, messages in sorted(by_name.items()) if messages}
            for kind, by_name in found.items()}


def shrink(found: dict, allowed: dict) -> int:
    now = counts(found)
    for kind, by_name in now.items():
        if sum(by_name.values()) > sum(allowed[kind].values()):
            print(f"prose: more {kind} than allowed; fix them first", file=sys.stderr)
            return 1
    BASELINE.write_text(json.dumps({"since": allowed["since"], **now}, indent=1) + "\n", encoding="utf-8")
    return 0


def print_long_sentences() -> None:
    total = 0
    for path in tracked_files():
        if path.suffix != ".md" or path.relative_to(ROOT).as_posix() in GENERATED:
            continue
        prose = "\n".join("" if re.match(r"\s*[|#]", line) else line for line in without_code(read(path)))
        prose = re.sub(r"^\s*(?:[-*]|\d+\.)\s", "\n\n", prose, flags=re.MULTILINE)
        for paragraph in re.split(r"\n\s*\n", prose):
            for sentence in re.split(r"(?<=[.:;?!])\s+", " ".join(paragraph.split())):
                total += 1
                if len(sentence.split()) > WORDS_OF_A_SENTENCE:
                    print(f"{path.relative_to(ROOT)}: {len(sentence.split())} words: {sentence}")
    print(f"{total} sentences", file=sys.stderr)


def main() -> int:
    if "--long" in sys.argv:
        print_long_sentences()
        return 0
    allowed = json.loads(BASELINE.read_text(encoding="utf-8"))
    found = violations()
    if "--shrink" in sys.argv:
        return shrink(found, allowed)
    failed = False
    for kind, by_name in found.items():
        for name, messages in by_name.items():
            limit = allowed[kind].get(name, 0)
            if len(messages) > limit:
                failed = True
                print("\n".join(messages), file=sys.stderr)
                print(f"prose: {name} has {len(messages)} {kind}, at most {limit} are allowed", file=sys.stderr)
    wrong = check_commits(allowed["since"])
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    return 1 if failed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
