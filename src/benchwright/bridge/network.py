"""Whether a server can be reached, asked quickly: the libraries around us retry for minutes before they say no."""

from __future__ import annotations

import threading

_PATIENCE_S = 10.0
_TIMEOUT_S = 5.0


def reachable(url: str) -> bool:
    """Whether anything answers at ``url`` within ten seconds, through the proxies that the environment names.

    Any HTTP answer counts, an error too. The question runs in a thread of its own, since a name look-up knows no
    timeout.
    """
    answered = threading.Event()

    def ask() -> None:
        import requests

        try:
            requests.head(url, timeout=_TIMEOUT_S)
        except requests.RequestException:
            return
        answered.set()

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_PATIENCE_S)
    return answered.is_set()
