"""`tilesim view FILE...`: a page that this machine alone can open, anew when a file changes."""

import os
import signal
import socket
import subprocess
import sys
import threading
from http.client import HTTPConnection

import pytest
from command_line import said, tilesim
from programs import data_in, opening, race, split

from tilesim import player
from tilesim.cli.arguments.film_targets import spoken
from tilesim.cli.commands.view import LOOPBACK, PageServer


@pytest.fixture
def file(tmp_path):
    race()[0].save(tmp_path / "run.npz")
    return tmp_path / "run.npz"


@pytest.fixture
def server(file):
    with PageServer((str(file),), {}, {}) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def got(server, path="/", host=None):
    """(status, text) of a request."""
    connection = HTTPConnection(LOOPBACK, server.server_port, timeout=20)
    connection.request("GET", path, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_it_serves_the_page_on_the_loopback_and_nothing_else(server):
    assert server.server_address[0] == "127.0.0.1"
    status, text = got(server)
    assert status == 200
    assert [run["makespan"] for run in data_in(text)["runs"]] == [race()[0].makespan]
    assert data_in(text)["version"] == got(server, "/version")[1]
    assert "connect-src &#x27;self&#x27;" in text and "connect-src" not in player.page(race())
    for host in ("example.org", "127.0.0.1", "127.0.0.1.example.org:80"):
        status, text = got(server, host=host)
        assert status == 403 and "script" not in text
    for path in ("/run.npz", "/../run.npz", "/version/", "/?at=-1", "/?at=1e9", f"/?at={10**18}"):
        assert got(server, path)[0] == 404
    assert "is outside the runs" in got(server, "/?at=999999999999")[1]


def test_it_speaks_another_language(file):
    words = spoken("pt")
    text = page_of(file, words=words)
    assert '<html lang="pt"' in text and words["words"]["play or pause"] in text


def test_it_serves_the_window_at_an_instant(server, file, monkeypatch):
    monkeypatch.setattr("tilesim.player.data.MOST", 8)
    race()[0].save(file)
    data = data_in(got(server)[1])
    seen = []
    while True:
        shown = data["runs"][0]["window"]
        seen += range(shown["first"], shown["last"])
        if data["later"] is None:
            break
        data = data_in(got(server, f"/?at={data['later']}")[1])
        assert data["runs"][0]["window"]["since"] <= data["at"]
    assert sorted(set(seen)) == list(range(18))
    while data["earlier"] is not None:
        before, data = data, data_in(got(server, f"/?at={data['earlier']}")[1])
        shown, next = (one["runs"][0]["window"] for one in (data, before))
        assert shown["first"] < next["first"] <= shown["last"]
    assert shown["first"] == 0


def test_another_file_is_another_page_and_one_that_breaks_is_said_in_it_until_it_is_whole(server, file):
    before = got(server, "/version")[1]
    assert got(server, "/version")[1] == before
    split().save(file)
    assert got(server, "/version")[1] != before
    assert data_in(got(server)[1])["runs"][0]["makespan"] == split().makespan
    whole = file.read_bytes()
    file.write_bytes(whole[:100])
    status, text = got(server)
    assert status == 200
    assert "is not a complete tilesim trace" in text
    file.unlink()
    assert "there is no such file" in got(server)[1]
    file.write_bytes(whole)
    assert data_in(got(server)[1])["runs"]


def page_of(*files, words=None):
    with PageServer(tuple(map(str, files)), {}, words or {}) as server:
        return server.page(None)


def test_what_a_broken_file_is_called_stays_text(tmp_path):
    text = page_of(tmp_path / "<script>alert(1)<")
    assert text.count("<script") == 2
    assert "&lt;script&gt;alert(1)" in text


def test_a_port_that_is_taken_is_one_sentence_and_a_browser_that_is_not_there_a_note(file, monkeypatch):
    with socket.create_server((LOOPBACK, 0)) as taken:
        refusal = said("view", "--no-browser", file, "--port", taken.getsockname()[1], code=1)
    assert refusal.startswith("error: cannot listen on port")
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    monkeypatch.setattr(PageServer, "serve_forever", lambda self, poll_interval: None)
    assert "no browser could be started; open http://127.0.0.1:" in tilesim("view", file).stderr


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_ends_it_without_a_word(file):
    command = [sys.executable, "-m", "tilesim", "view", "--no-browser", str(file)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr.readline().startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(timeout=30) == 130
        finally:
            process.kill()
        assert process.stderr.read().strip() == ""


def test_the_browser_loads_a_changed_file_again(browser, server, file):
    with opening(browser, server.address) as visit:
        page = visit(server.address)
        page.wait_for_function("() => globalThis.tilesim?.player?.runs[0].name === 'naive'")
        file.write_bytes(b"no trace")
        page.wait_for_selector("[role=alert]")
        race()[1].save(file)
        page.wait_for_function("() => globalThis.tilesim?.player?.runs[0].name === 'persistent'")


def test_a_long_run_is_seen_window_by_window(browser, server, file, monkeypatch):
    monkeypatch.setattr("tilesim.player.data.MOST", 6)
    race()[0].save(file)
    first = "() => globalThis.tilesim?.player?.runs[0].window.first"
    page = browser.new_page()
    page.goto(server.address)
    assert page.get_by_role("button", name="The window before").is_disabled()
    assert "Earlier and Later show the others" in page.locator(".note").inner_text()
    page.get_by_role("button", name="The window after").click()
    page.wait_for_function(f"{first} > 0")
    page.keyboard.press(",")
    page.wait_for_function(f"{first} === 0")
    page.keyboard.press(".")
    page.wait_for_function(f"{first} > 0")
