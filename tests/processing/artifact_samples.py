"""What the tests build artifacts of: genuine results, their methods' metadata, and the table of their tasks."""

import csv
import shutil
from pathlib import Path

from processing_samples import DATA, METHODS, RAW

from benchwright.arena import MethodMetadata
from benchwright.processing import build_artifact
from benchwright.raw import find_results

ALL_METHODS = ["LightGBM", "LinearModel", "RandomForest", "DemoLogisticSystem"]
SUITE = "local-2026-11-29"
TASKS = DATA / "tabflow_workspace/setup_out/demo_local/job_batch_demo_local_cpu/task_metadata.csv"


def metadata_of(method, /, **changes):
    """The metadata that the public pipeline recorded for a method, without the folder it lies in."""
    known = MethodMetadata.from_yaml((METHODS / method / "metadata.yaml").read_text()).to_dict()
    return MethodMetadata.from_dict({**known, **changes})


def files_of(method, root=RAW):
    """The result files of a method, by the first token of their configs' names."""
    return [file for file in find_results(root).files if file.method.startswith(f"{method}_")]


def task_rows():
    with TASKS.open(newline="") as file:
        return list(csv.DictReader(file))


def build(method, root, *, source=RAW, **options):
    """The artifact of a method's results in the cache ``root``."""
    metadata = options.pop("metadata", None) or metadata_of(method)
    options = {"jobs": 1, "task_rows": task_rows(), **options}
    return build_artifact(files_of(method, source), metadata, cache_root=root, **options)


def contents(folder):
    """The bytes of every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def copied(target: Path, *configs, source=RAW):
    """A results tree with these configs' folders."""
    for config in configs:
        shutil.copytree(source / config, target / config)
    return target
