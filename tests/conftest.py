"""What holds for every test: Hypothesis has no clock, and tries the same examples in every run;
a test is marked by the real parts that it uses; its files lie in memory; Ctrl-C is heard.
"""

import signal

import pytest
from hypothesis import HealthCheck, settings

from tests import markers, scratch

settings.register_profile(
    "steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")
scratch.use_memory()


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known, and Ctrl-C heard: a job in the background is started deaf to it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name, about in markers.PROMISED.items():
        config.addinivalue_line("markers", f"{name}: {about}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test, before `-m` chooses."""
    markers.mark(items)
