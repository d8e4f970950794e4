"""Orders as files: numbered, never overwritten, read with patience, and deleted once answered."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from penstock.engine.control.attendant import Attendant
from penstock.engine.control.inbox import Inbox
from penstock.engine.control.order import (
    Malformed,
    Order,
    OrderKind,
    file_of,
    give,
    order_names,
    read_order,
    withdraw,
)
from penstock.engine.places.place import Place
from penstock.engine.reports.entries import Answer
from penstock.engine.state.store import Store
from penstock.errors import PlanError
from support.waiting import wait_until


@pytest.fixture(params=["local", "mock"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    name = f"mock://host/{tmp_path.name}/ck?x=y"
    return Store(Place.of(str(tmp_path) if request.param == "local" else name))


def taken(inbox: Inbox, count: int) -> list[Order | Malformed]:
    """What is found, once there is so much of it."""
    found: list[Order | Malformed] = []

    def is_all() -> bool:
        found.extend(inbox.take())
        return len(found) >= count

    wait_until(is_all)
    return found


def test_orders_are_taken_once_in_their_order(store: Store) -> None:
    given = [give(store, "replan", "advise"), give(store, "pin", "(a b)"), give(store, "stop")]
    assert [order.number for order in given] == [1, 2, 3]
    inbox = Inbox(store)
    assert taken(inbox, 3) == given
    given.append(give(store, "shed", "on"))
    assert taken(inbox, 1) == given[3:]
    for order in given:
        inbox.done(order.name)
    assert order_names(store) == []


def test_two_writers_lose_nothing(store: Store) -> None:
    """Also where a file system lets one file be written over another."""
    values: tuple[OrderKind, ...] = ("stop",) * 20
    threads = [
        threading.Thread(target=lambda: [give(store, kind) for kind in values]) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(order_names(store)) == 60
    assert all(isinstance(read_order(store, name), Order) for name in order_names(store))


def test_an_order_may_be_withdrawn_and_written_by_hand(store: Store) -> None:
    order = give(store, "stop")
    withdraw(store, order)
    assert order_names(store) == []
    store.write("control/7.json", b'{"kind": "shed", "value": "off"}')
    inbox = Inbox(store)
    assert taken(inbox, 1) == [Order("shed", "off", 7, "7")]
    inbox.done("7")
    store.write("control/7.json", b'{"kind": "stop"}')
    assert taken(inbox, 1) == [Order("stop", "", 7, "7")]


def test_files_of_others_are_no_orders(store: Store) -> None:
    for name in ("notes.txt", "stop.json", ".1.json", "1.json.bak", "7-x.json"):
        store.write(f"control/{name}", b'{"kind": "stop"}')
    assert order_names(store) == []
    assert Inbox(store).stale(store.names("control")) == []


def test_a_folder_among_orders_is_told_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store(Place.of(tmp_path))
    inbox = Inbox(store)
    (tmp_path / "control" / "7.json").mkdir(parents=True)
    (tmp_path / "control" / "7.json" / "8.json").write_text('{"kind": "stop"}')
    for _ in range(3):
        inbox._look()
    assert inbox._waiting() == []
    (record,) = caplog.records
    assert record.getMessage() == f"{tmp_path}/control/7.json is a folder: orders are files"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", 'it is not like {"kind": "stop"}; the kinds are stop, replan, pin, shed'),
        (b'{"kind": "st', "it is not like"),
        (b"[]", "it is not like"),
        (b'"stop"', "it is not like"),
        (b'{"kind": "jump"}', "it is not like"),
        (b'{"kind": ["stop"]}', "it is not like"),
        (b'{"kind": "stop", "value": "now"}', "stop takes no value, not 'now'"),
        (b'{"kind": "replan"}', "replan takes on or advise or off, not ''"),
        (b'{"kind": "replan", "value": 1}', "replan takes on or advise or off, not 1"),
        (b'{"kind": "pin", "value": ""}', "pin takes the text of a plan, not ''"),
    ],
)
def test_what_is_no_order_is_told(data: bytes, reason: str, tmp_path: Path) -> None:
    store = Store(Place.of(tmp_path))
    store.write("control/1.json", data)
    found = read_order(store, "1")
    assert isinstance(found, Malformed)
    assert found.reason.startswith(reason)


def test_an_order_that_is_being_written_gets_a_second_look(tmp_path: Path) -> None:
    store = Store(Place.of(tmp_path))
    inbox = Inbox(store)
    store.write("control/1.json", b'{"kind": "st')
    inbox._look()
    assert inbox._waiting() == []
    store.write("control/1.json", b'{"kind": "stop"}')
    inbox._look()
    assert inbox._waiting() == [Order("stop", "", 1, "1")]
    store.write("control/2.json", b'{"kind": "st')
    for _ in range(3):
        inbox._look()
    (found,) = inbox._waiting()
    assert isinstance(found, Malformed)


def obeying(store: Store) -> tuple[Attendant, list[str], list[Answer]]:
    """An attendant, what it has had done, and what it has answered."""
    done: list[str] = []
    told: list[Answer] = []

    def obey(order: Order) -> str:
        if order.value == "nonsense":
            raise PlanError("this is no plan", hint="write one")
        done.append(str(order))
        return "as you say"

    return Attendant(store, obey, told.append), done, told


def test_every_order_is_answered_and_deleted(store: Store) -> None:
    attendant, done, told = obeying(store)
    attendant.refuse_stale(store.names("control"))
    given = [give(store, "pin", "nonsense"), give(store, "shed", "on")]

    def is_answered() -> bool:
        attendant.attend()
        return len(told) == 2

    wait_until(is_answered)
    assert done == ["shed on"]
    assert [answer.order for answer in told] == [order.name for order in given]
    assert [answer.is_refused for answer in told] == [True, False]
    assert [answer.change.reason for answer in told] == [
        "pin nonsense: refused: this is no plan\nhint: write one",
        "shed on: as you say",
    ]
    assert order_names(store) == []


def test_orders_from_before_the_run_are_refused(store: Store) -> None:
    give(store, "stop")
    store.write("control/9.json", b"{")
    attendant, done, told = obeying(store)
    attendant.refuse_stale(store.names("control"))
    assert done == []
    assert [answer.change.reason for answer in told] == [
        "stop: refused: it was given before this run",
        "file 9.json: refused: it was given before this run",
    ]
    assert order_names(store) == []
    attendant.attend()
    assert len(told) == 2


def test_a_folder_that_cannot_be_listed_is_no_error(tmp_path: Path) -> None:
    store = Store(Place.of(tmp_path / "gone"))
    attendant, done, told = obeying(store)
    attendant.refuse_stale(store.names("control"))
    attendant.attend()
    assert (done, told) == ([], [])
    assert read_order(store, "1") is None
    assert file_of("1") == "control/1.json"
