#!/bin/sh
# Watch a SkyPilot launch to its end: sky_progress.sh QUEUE_URI N_BUNDLES [--launch ID] [--log-dir L] [--interval S]
# [--once] [--json]; --help says more. The bucket's client comes from the checkout's environment, made by make setup; the
# launch's jobs are listed by the sky client on PATH.
set -u
root=$(dirname "$(readlink -f "$0")")/../../../..
python=$root/.venv/bin/python
if [ ! -x "$python" ]; then
    echo "sky_progress.sh: no environment at $python; in the checkout: make setup" >&2
    exit 3
fi
# The checkout's modules, and none of the current folder.
exec "$python" -c 'import sys; sys.path[:] = [sys.argv.pop(1), *filter(None, sys.path)]
from benchwright.launch.sky_progress import main
sys.exit(main())' "$root/src" "$@"
