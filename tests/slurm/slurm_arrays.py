"""Arrays on the cluster as tests look at them."""

from __future__ import annotations

from datetime import datetime

from slurm_cluster import SlurmCluster

AT_WORK = {"PENDING", "RUNNING", "COMPLETING", "CONFIGURING"}


def states_of(cluster: SlurmCluster, job: int) -> dict[str, str]:
    """The state of each task that the queue lists."""
    listed = cluster.output("squeue", "-h", "-r", "-t", "all", "-j", str(job), "-o", "%K %T")
    return dict(line.split() for line in listed.splitlines())


def hurry(cluster: SlurmCluster, job: int) -> dict[str, str]:
    """Let requeued tasks begin now and not in two minutes; the states of all.

    A node refuses a task in the second of its end (job credential revoked), after which it is held or at an end: it is
    left alone for two. So is one that only waits for the scheduler, which begins its round again at each update.
    """
    listed = cluster.output("squeue", "-h", "-r", "-t", "all", "-j", str(job), "-o", "%K %T %V %r")
    rows = [line.split(maxsplit=3) for line in listed.splitlines()]
    for task, _, requeued, reason in rows:
        if reason == "BeginTime" and (datetime.now() - datetime.fromisoformat(requeued)).total_seconds() > 3:
            cluster.run("scontrol", "update", f"jobid={job}_{task}", "StartTime=now")
        elif "held" in reason.lower():
            cluster.run("scontrol", "release", f"{job}_{task}")
    return {task: state for task, state, *_ in rows}
