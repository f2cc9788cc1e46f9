#!/bin/sh
# Holds profiles to limits against the recordings of a branch and records them. The verdict goes to standard output and to
# $GITHUB_STEP_SUMMARY, the names of its files to $GITHUB_OUTPUT, where these are set. Ends with the code of `warpline gate`.
#
# WARPLINE_PROFILES           patterns of profiles                       *.wlprof
# WARPLINE_BASELINE           branch whose recordings are compared with  main
# WARPLINE_LIMITS             file of limits                             those that are built in
# WARPLINE_COMPILER           compiler and options                       not told
# WARPLINE_RECORD             auto, always or never                      auto: on the baseline's branch, not in pull requests
# WARPLINE_STORE              folder of recordings                       .warpline
# WARPLINE_ALLOW_NO_BASELINE  true: pass while nothing is recorded       true
# WARPLINE_REPORTS            folder of the verdict's files              warpline-gate
set -eu

baseline=${WARPLINE_BASELINE:-main}
record=${WARPLINE_RECORD:-auto}
reports=${WARPLINE_REPORTS:-warpline-gate}
store=${WARPLINE_STORE:-.warpline}
output() { [ -z "${GITHUB_OUTPUT:-}" ] || echo "$1=$2" >>"$GITHUB_OUTPUT"; }

# shellcheck disable=SC2086  # patterns are expanded here
set -- ${WARPLINE_PROFILES:-*.wlprof}
for profile; do
    [ -e "$profile" ] || {
        echo "gate.sh: there is no profile $profile; do the commands before this write it (warpline run -o)?" >&2
        exit 2
    }
done

# A pull request records nothing, whatever its branch is called.
branch=${GITHUB_REF_NAME:-${CI_COMMIT_REF_NAME:-}}
if [ "$record" = auto ]; then
    record=never
    case ${GITHUB_EVENT_NAME:-${CI_PIPELINE_SOURCE:-}} in
    pull_request* | merge_request_event | external_pull_request_event) ;;
    *) [ "$branch" != "$baseline" ] || record=always ;;
    esac
fi

mkdir -p "$reports"
gate_options="--allow-no-baseline"
[ "${WARPLINE_ALLOW_NO_BASELINE:-true}" = true ] || gate_options=""
code=0
# shellcheck disable=SC2086  # nothing, or one word
warpline gate --baseline "$baseline" --store "$store" $gate_options \
    ${WARPLINE_LIMITS:+--limits "$WARPLINE_LIMITS"} ${WARPLINE_COMPILER:+--compiler "$WARPLINE_COMPILER"} \
    --write "markdown=$reports/verdict.md" --write "sarif=$reports/new-findings.sarif" \
    --write "benchmark=$reports/figures.json" --write "json=$reports/verdict.json" -- "$@" || code=$?
output exit-code "$code"
for pair in markdown=verdict.md sarif=new-findings.sarif benchmark=figures.json json=verdict.json; do
    file=$reports/${pair#*=}
    [ ! -e "$file" ] || output "${pair%%=*}" "$file"
done
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || [ ! -e "$reports/verdict.md" ] || cat "$reports/verdict.md" >>"$GITHUB_STEP_SUMMARY"

# Also what broke a limit is recorded, once it is in: it is what the next commit is compared with.
if [ "$record" = always ]; then
    warpline record --store "$store" ${WARPLINE_COMPILER:+--compiler "$WARPLINE_COMPILER"} -- "$@"
    output recorded true
fi
exit "$code"
