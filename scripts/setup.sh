#!/bin/sh
# Set up this checkout: a private uv in .uv, the locked environment in .venv, and on Debian the system packages that
# the wheels load. `users` leaves the development tools out, `developers` adds them and Harbor, in .venv/harbor. A
# second run does nothing.
set -eu
cd "$(dirname "$0")/.."

audience=${1:-users}
uv_version=0.13.9
python=${PYTHON:-python3}
stamp=.venv/.benchwright-$audience

say() { echo "setup: $*" >&2; }
fail() { echo "setup: $*" >&2; exit 3; }

# The interpreter itself, not a shim: uv cannot use a shim that picks its version by folder.
asked=$python
python=$("$asked" -c 'import sys; print(getattr(sys, "_base_executable", None) or sys.executable)' 2>/dev/null) ||
    fail "$asked does not run. Install Python 3.11, 3.12 or 3.13, or name one: make setup PYTHON=/path/to/python3.12"

digest() { { cat uv.lock pyproject.toml scripts/setup.sh scripts/harbor-requirements.txt; echo "$python"; } | cksum; }

if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$(digest)" ]; then
    if [ "$audience" = users ] || [ -x .venv/harbor/bin/harbor ]; then exit 0; fi
fi

"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' ||
    fail "$("$python" -V 2>&1) is not supported. Name Python 3.11, 3.12 or 3.13: make setup PYTHON=/path/to/python3.12"

install_debian_packages() {
    [ $# -gt 0 ] || return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        say "installing Debian packages: $*"
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } \
            >/dev/null || fail "could not install them; try: apt-get install $*"
    else
        fail "missing system packages; as root: apt-get install $*"
    fi
}

missing=
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
# LightGBM and XGBoost link the OpenMP runtime of the system.
"$python" -c 'import ctypes; ctypes.CDLL("libgomp.so.1")' 2>/dev/null || missing="$missing libgomp1"
# The tests open the pages in a browser, and run arrays on a SLURM cluster of their own with its accounts.
if [ "$audience" = developers ]; then
    command -v chromium >/dev/null 2>&1 || missing="$missing chromium"
    for daemon in slurmctld slurmdbd mariadbd; do
        [ -x "/usr/sbin/$daemon" ] && continue
        missing="$missing slurm-wlm slurmdbd mariadb-server"
        break
    done
fi
# shellcheck disable=SC2086  # a list of words
install_debian_packages $missing

if [ "$(.uv/bin/uv --version 2>/dev/null | cut -d' ' -f2)" != "$uv_version" ]; then
    say "installing a private uv $uv_version in .uv"
    rm -rf .uv
    "$python" -m venv .uv
    .uv/bin/python -m pip install --quiet --disable-pip-version-check "uv==$uv_version"
fi

groups=
[ "$audience" = developers ] && groups="--group dev"
say "installing the locked environment in .venv (about 2 GB, from uv.lock)"
# --inexact keeps the development tools when a user's set-up follows a developer's.
# shellcheck disable=SC2086
UV_PYTHON_DOWNLOADS=never .uv/bin/uv sync --quiet --frozen --inexact --all-extras $groups --python "$python"

# Harbor, whose jobs the tests run and resume, needs Python 3.12, and other versions of what is in .venv.
python_for_harbor() {
    for candidate in "${HARBOR_PYTHON:-}" "$python" python3.12 python3.13 \
        "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[23].*/bin/python; do
        [ -n "$candidate" ] || continue
        "$candidate" -c 'import sys; sys.exit(not (3, 12) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null || continue
        echo "$candidate"
        return
    done
    # none is here: uv brings one along, where it can
    .uv/bin/uv python install --quiet 3.12 2>/dev/null && .uv/bin/uv python find --managed-python 3.12 2>/dev/null
}

if [ "$audience" = developers ]; then
    harbor_python=$(python_for_harbor) ||
        fail "Harbor needs Python 3.12 or 3.13; install or name one: HARBOR_PYTHON=/path/to/python3.12 make setup-dev"
    say "installing Harbor for the tests in .venv/harbor (300 MB)"
    rm -rf .venv/harbor
    .uv/bin/uv venv --quiet --python "$harbor_python" .venv/harbor
    .uv/bin/uv pip install --quiet --python .venv/harbor/bin/python --no-deps \
        --requirement scripts/harbor-requirements.txt
fi

digest >"$stamp"
if [ "$audience" = developers ]; then digest >.venv/.benchwright-users; fi
say "ready: .venv/bin/python ($(.venv/bin/python -V))"
