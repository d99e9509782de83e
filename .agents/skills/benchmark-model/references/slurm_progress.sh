#!/bin/sh
# Watch a SLURM array to its end: slurm_progress.sh JOB_ID TASKS [--results-dir D --expected-results N] [--log-dir L]
# [--interval S] [--once] [--json]; --help says more. Needs the system's python3 alone, 3.9 or newer; where that is
# older, the checkout's own Python is taken.
set -u
root=$(dirname "$(readlink -f "$0")")/../../../..
for python in python3 "$root/.venv/bin/python"; do
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' >/dev/null 2>&1; then
        # The checkout's modules, and none of the current folder.
        exec "$python" -c 'import sys; sys.path[:] = [sys.argv.pop(1), *filter(None, sys.path)]
from benchwright.node.slurm_progress import main
sys.exit(main())' "$root/src" "$@"
    fi
done
echo "slurm_progress.sh: Python 3.9 or newer is needed, and python3 is: $(python3 -V 2>&1)" >&2
exit 3
