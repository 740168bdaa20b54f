#!/bin/sh
# pull-request.sh BASE BUILD PROGRAM 'CMD {n}' [FLAGS]: is HEAD slower than BASE?
#
# Builds both commits by the command BUILD, each in a tree of its own, measures PROGRAM (its path in a tree, or the
# directory that holds it) by `knee gate` in turns, and ends with its exit code: 0 not slower, 3 slower or of a worse
# growth class, 4 can't tell. FLAGS are those of `knee run command`.
#
# Variables: KNEE (the program knee), KNEE_GATE (flags of the gate: "--fail-above 20%"), KNEE_OUT (directory of gate.md,
# gate.html, junit.xml and the record). In a job of GitHub it writes the job's summary, and an annotation at the line
# that declares CMD; elsewhere the same on standard output and standard error.
set -eu
[ $# -ge 4 ] || {
    sed -n '2,5s/^# *//p' "$0" >&2
    exit 2
}
base=$1 build=$2 program=$3 command=$4
shift 4
top=$(git rev-parse --show-toplevel)
out=${KNEE_OUT:-$top/knee-gate}
trees=$(mktemp -d)
# One word each, or an end of the script at a signal leaves trees behind.
clean() {
    for side in base head; do
        git -C "$top" worktree remove --force "$trees/$side" 2>/dev/null || :
    done
    rm -rf "$trees"
}
trap clean EXIT
trap 'exit 130' INT TERM
mkdir -p "$out"

for side in base head; do
    commit=HEAD
    [ "$side" = head ] || commit=$base
    git -C "$top" worktree add --quiet --detach "$trees/$side" "$commit"
    (cd "$trees/$side" && sh -c "$build") >&2 || {
        echo "pull-request.sh: \`$build\` failed for $side ($commit)" >&2
        exit 1
    }
done

code=0
# The flags of the gate are words.
# shellcheck disable=SC2086
"${KNEE:-knee}" gate --markdown --junit "$out/junit.xml" ${KNEE_GATE:-} "$trees/base/$program" "$trees/head/$program" \
    -- "$command" "$@" --record "$out/knee.db" -o "$out/gate.html" >"$out/gate.md" 2>"$out/gate.log" || code=$?
cat "$out/gate.log" >&2
cat "$out/gate.md" >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"

why=$(sed -n 's/^knee: //p' "$out/gate.log" | tail -n 1)
case $code in
0) level=notice why="not slower: $command" ;;
4) level=warning ;;
*) level=error ;;
esac
# The first file of HEAD that has the command, and its line.
where=$(git -C "$top" grep --line-number --fixed-strings -e "$command" HEAD -- | head -n 1 || :)
where=${where#HEAD:}
file=${where%%:*} line=${where#*:}
line=${line%%:*}
if [ -n "${GITHUB_ACTIONS:-}" ]; then
    why=$(printf %s "$why" | sed 's/%/%25/g')
    [ -z "$where" ] || at=" file=$file,line=$line,title=knee gate"
    echo "::$level${at:- title=knee gate}::$why"
else
    echo "${where:+$file:$line: }$level: $why" >&2
fi
exit "$code"
