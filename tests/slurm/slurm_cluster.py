"""A real SLURM on this machine: Debian's daemons in a folder, on free ports, with four nodes of one machine."""

from __future__ import annotations

import contextlib
import getpass
import os
import secrets
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from waiting import wait_until

NODES = 4
CPUS = 16
MAX_ARRAY_SIZE = 20_001
PACKAGES = "slurm-wlm slurmdbd mariadb-server"
_DAEMONS = ("slurmctld", "slurmd", "slurmdbd", "mariadbd")
_SBIN = "/usr/sbin:/sbin"  # often not on the path of a user

CONFIGURATION = """\
ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
DefMemPerCPU=100
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_min_interval=100000,batch_sched_delay=0,sched_interval=2,defer_batch
ReturnToService=2
KillWait=1
MinJobAge=300
MaxArraySize={max_array_size}
MaxJobCount=50000
SlurmctldTimeout=30
SlurmdTimeout=60
MessageTimeout=20
PropagateResourceLimits=NONE
{accounting}
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{ports}] CPUs={cpus} RealMemory=64000 State=UNKNOWN
PartitionName=cpu Nodes=n[1-{half}] Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=n[{rest}-{nodes}] MaxTime=2:00:00 DefaultTime=0:10:00 MaxNodes=1 State=UP
PartitionName=closed Nodes=n{nodes} MaxTime=7-00:00:00 State=DOWN
"""
ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={port}"""
NO_ACCOUNTING = "AccountingStorageType=accounting_storage/none"
DATABASE_DAEMON = """\
AuthType=auth/none
DbdHost=localhost
DbdPort={port}
SlurmUser={user}
PidFile={folder}/run/slurmdbd.pid
LogFile={folder}/log/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database_port}
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct_db
"""
GRANTS = """\
create database slurm_acct_db;
create user 'slurm'@'127.0.0.1' identified by 'slurm';
create user 'slurm'@'localhost' identified by 'slurm';
grant all on slurm_acct_db.* to 'slurm'@'127.0.0.1';
grant all on slurm_acct_db.* to 'slurm'@'localhost';
"""


def require_slurm() -> None:
    """Fail with the command that installs what is missing."""
    missing = [name for name in (*_DAEMONS, "sbatch", "mariadb-install-db") if _find(name) is None]
    assert not missing, f"not installed: {', '.join(missing)}; as root: apt-get install {PACKAGES}"


def _find(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ['PATH']}{os.pathsep}{_SBIN}")


def free_ports(count: int) -> list[int]:
    """Consecutive free ports, which a node range needs, below those that connections and other servers are given."""
    while True:
        start = 10_000 + secrets.randbelow(22_000)
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in range(start, start + count):
                stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return list(range(start, start + count))


class SlurmCluster:
    """Four nodes of 16 CPUs; ``accounting`` adds slurmdbd and its database.

    Clients wait for a busy daemon; with the configuration ``impatient`` they give up soon where none answers, and with
    ``without_accounting`` none of the accounts does.
    """

    def __init__(self, folder: Path, *, accounting: bool) -> None:
        require_slurm()
        self.folder = folder
        self.accounting = accounting
        self.configuration = folder / "slurm.conf"
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        for name in ("state", "spool", "log", "run"):
            (folder / name).mkdir(parents=True)
        self._user = getpass.getuser()
        ports = free_ports(NODES + 3)
        self._dbd_port, self._database_port = ports[NODES + 1 :]
        accounting_lines = ACCOUNTING.format(port=self._dbd_port) if accounting else NO_ACCOUNTING
        text = CONFIGURATION.format(
            host=socket.gethostname().partition(".")[0],
            user=self._user,
            folder=folder,
            nodes=NODES,
            half=NODES // 2,
            rest=NODES // 2 + 1,
            cpus=CPUS,
            ports=f"{ports[0]}-{ports[NODES - 1]}",
            controller_port=ports[NODES],
            max_array_size=MAX_ARRAY_SIZE,
            accounting=accounting_lines,
        )
        self.configuration.write_text(text)
        self.impatient = folder / "impatient.conf"
        self.impatient.write_text(text.replace("MessageTimeout=20\n", "MessageTimeout=2\n"))
        # The daemons look for it beside slurm.conf; without it they say so in every log.
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        self.without_accounting = folder / "unreachable-accounting.conf"
        other = self.impatient.read_text().replace(f"StoragePort={self._dbd_port}", f"StoragePort={free_ports(1)[0]}")
        self.without_accounting.write_text(other)

    @property
    def environment(self) -> dict[str, str]:
        """What a client needs to find this cluster."""
        return {"SLURM_CONF": str(self.configuration)}

    def start(self) -> None:
        if self.accounting:
            self._start_accounting()
        self.start_controller()
        for number in range(1, NODES + 1):
            (self.folder / "spool" / f"n{number}").mkdir()
            self._run_daemon(f"n{number}", "slurmd", "-D", "-N", f"n{number}")
        wait_until(lambda: self.output("sinfo", "-h", "-N", "-p", "cpu,short", "-o", "%T").count("idle") == NODES)

    def start_controller(self) -> None:
        self._run_daemon("controller", "slurmctld", "-D")

    def stop_controller(self) -> None:
        """End the controller; jobs at work go on."""
        self._end("controller")

    def _start_accounting(self) -> None:
        data, socket_path = self.folder / "mysql", self.folder / "run" / "mysql.sock"
        self.output(
            "mariadb-install-db", "--no-defaults", f"--user={self._user}", f"--datadir={data}", "--skip-test-db",
            "--auth-root-authentication-method=normal",
        )  # fmt: skip
        self._run_daemon(
            "database", "mariadbd", "--no-defaults", f"--user={self._user}", f"--datadir={data}",
            f"--socket={socket_path}", f"--port={self._database_port}", "--bind-address=127.0.0.1",
            f"--pid-file={self.folder}/run/mysqld.pid", "--innodb-buffer-pool-size=64M",
            "--innodb-lock-wait-timeout=900", "--innodb-flush-log-at-trx-commit=0", "--performance-schema=OFF",
        )  # fmt: skip
        client = ("mariadb", "--no-defaults", f"--socket={socket_path}", "--user=root")
        wait_until(lambda: self._works(*client, "-e", "select 1"))
        self.output(*client, "-e", GRANTS)
        daemon = self.folder / "slurmdbd.conf"
        daemon.write_text(
            DATABASE_DAEMON.format(
                port=self._dbd_port, database_port=self._database_port, user=self._user, folder=self.folder
            )
        )
        daemon.chmod(0o600)
        self._run_daemon("dbd", "slurmdbd", "-D")
        wait_until(lambda: self._works("sacctmgr", "-i", "add", "cluster", "bench"))

    def submit(self, script: str, *options: str, name: str = "job") -> int:
        """Submit a shell script as ``sbatch`` does; the job's id."""
        path = self.folder / f"{name}.sh"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return int(self.output("sbatch", "--parsable", *options, str(path)))

    def output(self, *command: str) -> str:
        """Run a client and return what it prints."""
        done = self.run(*command)
        assert done.returncode == 0, f"{command}: exit {done.returncode}: {done.stderr}{self._logs()}"
        return done.stdout

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        program = _find(command[0])
        assert program, command[0]
        environment = {**os.environ, **self.environment}
        return subprocess.run(
            [program, *command[1:]], env=environment, cwd=self.folder, capture_output=True, text=True, check=False
        )

    def shown(self) -> str:
        """What queue, nodes and logs say, for a wait that was in vain."""
        queue = self.output("squeue", "-r", "-t", "all", "-o", "%i %T %r %S")
        nodes = self.output("sinfo", "-N", "-o", "%N %P %T %E")
        return f"{queue}\n{nodes}\n{self._logs()}"

    def _works(self, *command: str) -> bool:
        return self.run(*command).returncode == 0

    def _run_daemon(self, name: str, program: str, *options: str) -> None:
        path = _find(program)
        assert path
        with open(self.folder / "log" / f"{name}.out", "ab") as log:
            self._processes[name] = subprocess.Popen(
                [path, *options],
                env={**os.environ, **self.environment},
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )

    def _end(self, name: str) -> None:
        process = self._processes.pop(name)
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _logs(self) -> str:
        ends = [path.read_text("utf-8", "replace")[-500:] for path in sorted((self.folder / "log").iterdir())]
        return "\n".join(["", *ends])

    def stop(self) -> None:
        """End the daemons, and every process that was started under this cluster's configuration."""
        for name in reversed(list(self._processes)):
            self._end(name)
        mark = f"SLURM_CONF={self.configuration}".encode()
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if int(process.name) != os.getpid() and mark in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGKILL)


@contextlib.contextmanager
def running_cluster(folder: Path, *, accounting: bool) -> Iterator[SlurmCluster]:
    cluster = SlurmCluster(folder, accounting=accounting)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
