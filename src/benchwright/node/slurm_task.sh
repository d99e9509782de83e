#!/bin/sh
#SBATCH --ntasks=1
#SBATCH --open-mode=append
#SBATCH --propagate=NONE
# One task of an array: sbatch --array=0-K ... slurm_task.sh JOB.json
#
# Hands over to the bundle runner, under the Python that the job file names. SLURM runs a copy of this file, so that all
# it knows is its argument. The log of a task that is requeued goes on where the attempt before ended.

job_file=$1
python=$(head -c 65536 "$job_file" | sed -n '1s/^{"defaults": {"python": "\([^"\\]*\)".*/\1/p')
if [ -z "$python" ] || ! command -v "$python" >/dev/null; then
    echo "##### no item can run: '$python', of $job_file, is no program on $(hostname)" >&2
    exit 3
fi
# Files of the folder that the array was launched from are no modules: -P, and no empty entry in the path.
PYTHONPATH=$(printf '%s' "${PYTHONPATH-}" | sed 's/::*/:/g; s/^://; s/:$//')
export PYTHONPATH
exec "$python" -P -m benchwright.node.slurm_task "$job_file"
