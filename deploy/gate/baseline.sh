#!/bin/sh
# baseline.sh WORKLOAD…: compares a run with the baseline of the main branch.
set -eu
export KNEE_RECORD="${KNEE_RECORD:-knee.db}"
"${KNEE:-knee}" run "$@" -o run.html > run.txt
if [ "${GITHUB_REF_NAME:-}" = main ]; then
    exec "${KNEE:-knee}" compare --save-baseline main
fi
"${KNEE:-knee}" compare --baseline main --fail-above 10% --markdown \
    -o compared.html >> "${GITHUB_STEP_SUMMARY:-/dev/stdout}"
