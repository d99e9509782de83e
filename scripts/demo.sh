#!/bin/sh
# The demo: benchmark XGBoost on the mini arena with the commands a user types, each printed before it runs.
# A second run finds the fits on disk and only evaluates again.
set -eu
cd "$(dirname "$0")/.."

step() {
    printf '\n$ %s\n' "$*"
    "$@"
}

# A folder of its own: a maintainer may have a run script for XGBoost already.
scripts=tmp_scripts/demo
run=$scripts/run_xgboost.py
step .venv/bin/python scripts/new_benchmark.py XGBoost --arena mini --configs 0 --name demo_xgboost \
    --script-dir $scripts --force
step .venv/bin/python $run setup
step .venv/bin/python $run run --parallel 2
step .venv/bin/python $run eval

out=$scripts/eval_output/demo_xgboost
printf '\nOpen these:\n'
printf '  %-84s %s\n' \
    "$out/report.md" "the report, ready to relay" \
    "$out/subsets/full/leaderboard.html" "the leaderboard, to sort and filter" \
    "$out/subsets/full/pareto_front_explorer.html" "quality against time" \
    "$out/subsets/full/winrate_explorer.html" "who beats whom, how often" \
    "$run" "its first lines are all there is to change"
