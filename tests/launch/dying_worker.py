"""A worker that is killed right before one of its writes into the bucket, the one that TEST_DIES_AT counts to.

Renewals of a lease, which come with time, do not count.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading

from benchwright.launch import bucket_worker
from benchwright.objects.s3 import S3Store

WRITES = itertools.count(1)
put_stream = S3Store.put_stream


def dying(*arguments, **options):
    if threading.current_thread() is threading.main_thread() and next(WRITES) == int(os.environ["TEST_DIES_AT"]):
        os.kill(os.getpid(), signal.SIGKILL)
    return put_stream(*arguments, **options)


S3Store.put_stream = dying

if __name__ == "__main__":
    sys.exit(bucket_worker.main())
