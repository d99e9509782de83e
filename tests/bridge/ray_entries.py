"""An entry that starts the Ray session of an item on a shared node, and fails."""

import json
import os
from pathlib import Path

from benchwright.bridge.ray_session import start_ray


def run(item, defaults):
    start_ray(defaults)
    import ray

    there = {
        "resources": ray.cluster_resources(),
        "session": ray._private.worker._global_node.get_session_dir_path(),
        "store": ray.get(ray.remote(lambda: 3).remote()),
        "pid": os.getpid(),
    }
    Path(defaults["output_dir"], "there.json").write_text(json.dumps(there))
    raise RuntimeError("the fit failed")
