import threading
import time
from collections import Counter
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchwright.bridge import PublishedArena, materialise_tasks, open_arena
from benchwright.bridge.network import reachable
from benchwright.contract import Exit, Failure
from benchwright.mini import MiniSource
from benchwright.raw.protocol import BEYONDARENA_KEY

GRID_FACTS = ("dataset", "fold", "repeat", "split", "n_features", "n_classes", "problem_type")


@pytest.fixture(scope="module", params=["tabarena", "beyondarena"])
def published(request):
    return open_arena(request.param)


def test_arenas_open_by_name():
    assert isinstance(open_arena("mini"), MiniSource)
    assert open_arena("tabarena").spec.title == "TabArena-v0.1"


def test_an_unknown_arena_is_refused_with_close_names():
    with pytest.raises(Failure) as raised:
        open_arena("tabarna")
    assert raised.value.exit == Exit.USAGE
    assert str(raised.value) == "arena: no arena is called 'tabarna'\n    fix: did you mean 'tabarena'?"


def test_tabarena_has_its_splits_and_sizes():
    tasks = open_arena("tabarena").spec.tasks
    assert (len(tasks), len(tasks.datasets)) == (816, 51)
    sizes = {name: len(tasks.select(name).datasets) for name in ("low_cats", "high_cats", "binary", "multiclass")}
    assert sizes == {"low_cats": 36, "high_cats": 15, "binary": 30, "multiclass": 8}
    assert {split.metric for split in tasks} == {"roc_auc", "log_loss", "rmse"}
    assert {split.task_key for split in tasks} == {str(split.tid) for split in tasks}


def test_splits_are_those_of_tabarenas_own_collection(published):
    from tabarena.benchmark.task.metadata import TaskMetadataCollection

    grid = TaskMetadataCollection.from_preset(published.suite).task_grid()
    theirs = list(grid[list(GRID_FACTS)].itertuples(index=False, name=None))
    ours = [
        (s.dataset, s.fold, s.repeat, s.split, s.n_features, -1 if s.n_classes is None else s.n_classes, s.problem_type)
        for s in published.spec.tasks
    ]
    assert ours == theirs


def test_subsets_are_those_of_tabarenas_own_context(published):
    from tabarena.benchmark.task.metadata import TaskMetadataCollection

    collection = TaskMetadataCollection.from_preset(published.suite)
    for expression in (["lite"], *map(list, published.spec.default_subsets)):
        theirs = collection.subset_tasks(subset=expression).dataset_fold_repeats()
        ours = published.spec.tasks.select(expression)
        assert [(split.dataset, split.fold, split.repeat) for split in ours] == theirs, expression


def test_rules_are_those_of_tabarenas_own_context(published):
    from tabarena.contexts import BeyondArenaContext, TabArenaContext

    context = {"tabarena": TabArenaContext, "beyondarena": BeyondArenaContext}[published.spec.name](methods=[])
    spec = published.spec
    assert (spec.calibration_method, spec.fillna_method) == (context.calibration_method, context.fillna_method)
    assert [list(subset) for subset in spec.default_subsets] == context._default_subsets


def test_beyondarenas_protocol_has_the_key_that_results_are_read_with():
    assert open_arena("beyondarena").spec.validation_protocol == BEYONDARENA_KEY


def test_reference_methods_are_listed_offline(published, no_network):
    methods = published.reference_methods()
    assert len(methods) == {"tabarena": 42, "beyondarena": 12}[published.spec.name]


def test_reference_results_without_a_network_say_so_quickly(no_network):
    start = time.monotonic()
    with pytest.raises(Failure) as raised:
        open_arena("tabarena").reference_results()
    assert time.monotonic() - start < 60
    assert raised.value.exit == Exit.ENVIRONMENT
    assert str(raised.value) == (
        "reference results of TabArena-v0.1: 42 methods' results are not on this machine, and "
        "https://tabarena.s3.amazonaws.com/ and https://data.tabarena.ai/ cannot be reached, expected a network "
        "connection, or a cache that holds them\n"
        "    fix: connect and run this again, or set TABARENA_CACHE to a filled cache"
    )


def test_openml_tasks_without_a_network_say_so_quickly(no_network):
    arena = open_arena("tabarena")
    start = time.monotonic()
    with pytest.raises(Failure) as raised:
        materialise_tasks(arena, arena.spec.tasks.datasets, no_network / "tasks")
    assert time.monotonic() - start < 60
    assert raised.value.exit == Exit.ENVIRONMENT
    assert str(raised.value) == (
        f"{no_network / 'tasks'}: no data of airfoil_self_noise (363612), Amazon_employee_access (363613), "
        "anneal (363614) and 48 more, and https://www.openml.org/api/v1/xml cannot be reached, expected a network "
        "connection, or the data in this folder\n"
        "    fix: connect and run setup again, or fill the folder on a connected machine and copy it here"
    )


def test_beyondarenas_data_need_a_package_that_is_named(no_network):
    arena = open_arena("beyondarena")
    with pytest.raises(Failure) as raised:
        materialise_tasks(arena, arena.spec.tasks.datasets[:1], no_network)
    assert raised.value.exit == Exit.ENVIRONMENT
    assert raised.value.problems[0].fix == "pip install 'tabarena[data-foundry]'"


def test_datasets_of_another_arena_are_refused(tmp_path):
    with pytest.raises(Failure) as raised:
        materialise_tasks(open_arena("mini"), ["airfoil_self_noise", "nothing"], tmp_path)
    assert raised.value.exit == Exit.USAGE
    (problem,) = raised.value.problems
    assert (problem.where, problem.found) == ("datasets", "'airfoil_self_noise', 'nothing'")
    assert (problem.expected, problem.fix[:10]) == ("datasets of Mini arena", "one of min")


def test_mini_tasks_need_nothing(no_network):
    arena = open_arena("mini")
    materialise_tasks(arena, arena.spec.tasks.datasets, no_network / "tasks")
    assert not (no_network / "tasks").exists()


def test_a_server_that_answers_with_an_error_is_reachable(store):
    assert reachable(f"{store.url}missing")
    assert not reachable("http://127.0.0.1:9/")


def test_cached_reference_results_need_no_network(no_network):
    arena = published_by(genuine_method("LightGBM"), genuine_method("DemoLogisticSystem"))
    results = arena.reference_results()
    by_type = Counter(results["method_type"].to_pylist())
    assert by_type == {"config": 9, "hpo": 18, "baseline": 9}
    assert "method_metadata" not in results.column_names


def test_missing_reference_results_are_downloaded(store, monkeypatch, tmp_path):
    monkeypatch.setenv("TABARENA_CACHE", str(tmp_path))
    arena = published_by(remote_method("LightGBM", store.url))
    assert arena.reference_results().num_rows == 27
    assert any("hpo_results.parquet" in path for path in store.asked)
    store.asked.clear()
    assert arena.reference_results().num_rows == 27
    assert store.asked == []


def test_results_that_the_store_lacks_are_named(store, monkeypatch, tmp_path):
    monkeypatch.setenv("TABARENA_CACHE", str(tmp_path))
    with pytest.raises(Failure) as raised:
        published_by(remote_method("LightGBM", store.url), remote_method("Absent", store.url)).reference_results()
    assert raised.value.exit == Exit.REMOTE
    assert str(raised.value) == (
        f"reference results of Genuine: Absent ({SUITE}): {store.url} has no hpo_results.parquet, expected the results "
        "of every method that the installed tabarena lists\n    fix: run this again"
    )


SUITE = "local-2026-11-29"
CACHE = Path(__file__).parents[1] / "data" / "tabarena_cache"


def published_by(*methods) -> PublishedArena:
    return PublishedArena("Genuine", lambda: open_arena("mini").spec, lambda: list(methods))


def genuine_method(name: str):
    from tabarena.models import MethodMetadata

    return MethodMetadata.from_yaml(path=CACHE / "artifacts" / SUITE / "methods" / name)


def remote_method(name: str, url: str):
    from tabarena.models import MethodMetadata

    kwargs = {"bucket": "b", "prefix": "cache", "base_url": url}
    return MethodMetadata.config(method=name, suite=SUITE, ag_key="GBM", cache_type="r2", cache_kwargs=kwargs)


@pytest.fixture
def store():
    """A web server that has the genuine cache below ``cache/``, as the public store does."""
    asked = []

    class Store(SimpleHTTPRequestHandler):
        def translate_path(self, path):
            asked.append(path)
            return str(CACHE / path.removeprefix("/cache/"))

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Store)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield SimpleNamespace(url=f"http://127.0.0.1:{server.server_port}/", asked=asked)
    server.shutdown()
    server.server_close()
