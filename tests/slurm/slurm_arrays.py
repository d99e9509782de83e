"""Arrays on the cluster as tests look at them."""

from __future__ import annotations

from slurm_cluster import SlurmCluster

AT_WORK = {"PENDING", "RUNNING", "COMPLETING", "CONFIGURING"}


def states_of(cluster: SlurmCluster, job: int) -> dict[str, str]:
    """The state of each task that the queue lists."""
    listed = cluster.output("squeue", "-h", "-r", "-t", "all", "-j", str(job), "-o", "%K %T")
    return dict(line.split() for line in listed.splitlines())


def hurry(cluster: SlurmCluster, job: int) -> dict[str, str]:
    """Let requeued tasks begin now and not in two minutes; the states of all.

    A node refuses a task in the second of its end, and the task is then held. A task that only waits for the scheduler
    is left alone: each update of a job makes the scheduler begin its round again.
    """
    listed = cluster.output("squeue", "-h", "-r", "-t", "all", "-j", str(job), "-o", "%K %T %r")
    rows = [line.split(maxsplit=2) for line in listed.splitlines()]
    for task, _, reason in rows:
        if reason == "BeginTime":
            cluster.run("scontrol", "update", f"jobid={job}_{task}", "StartTime=now")
        elif "held" in reason.lower():
            cluster.run("scontrol", "release", f"{job}_{task}")
    return {task: state for task, state, _ in rows}
