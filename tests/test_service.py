"""The service's files, and what is run to start and stop it. Nothing is started here."""

from __future__ import annotations

import plistlib
import shlex
from pathlib import Path

import pytest

from clew.errors import ConfigError, InputError
from clew.service import install, planned, plist, status, uninstall, unit
from tests.conftest import ROOT

GOLDEN = ROOT / "tests" / "golden" / "service"
COMMAND = ["/home/ann/my tools/clew", "serve"]


class Control:
    """A service manager that writes down what it is asked, and answers as told."""

    def __init__(self, *codes):
        self.asked, self.codes = [], list(codes)

    def __call__(self, command):
        self.asked.append(" ".join(command))
        code = self.codes.pop(0) if self.codes else 0
        return code, "no bus\n" if code else ""


def linux(tmp_path, **env):
    return planned("linux", {"HOME": str(tmp_path), **env}, COMMAND, 1000)


def test_the_systemd_unit():
    text = unit(COMMAND, {"CLEW_HOME": "/data/50% full"}, Path("/data/50% full/service.env"))
    assert text == (GOLDEN / "clew.service").read_text()


def test_the_launchd_agent():
    text = plist(COMMAND, {"CLEW_CONFIG": "/etc/a&b.yaml"}, Path("/home/ann/.clew/serve.log"))
    assert text == (GOLDEN / "clew.serve.plist").read_text()
    assert plistlib.loads(text.encode())["ProgramArguments"] == COMMAND


@pytest.mark.parametrize("word", ["a b", 'say "x"', "50%", "$HOME", "back\\slash", "", "it's", ";"])
def test_any_word_of_the_command_comes_through_systemds_quoting(word):
    line = next(x for x in unit(["clew", word, "end"], {}, Path("/e")).splitlines() if x.startswith("ExecStart="))
    # systemd reads words as a shell does, but for % and $, which it doubles
    assert [w.replace("%%", "%").replace("$$", "$") for w in shlex.split(line.removeprefix("ExecStart="))] == [
        "clew",
        word,
        "end",
    ]


def test_a_line_break_is_refused():
    with pytest.raises(ConfigError, match="can't stand in a unit file"):
        unit(["clew\nExecStartPre=/bin/evil"], {}, Path("/e"))


def test_where_the_files_are(tmp_path):
    assert linux(tmp_path).path == tmp_path / ".config/systemd/user/clew.service"
    assert linux(tmp_path, XDG_CONFIG_HOME="/x").path == Path("/x/systemd/user/clew.service")
    assert "Environment=CLEW_HOME=/c" in linux(tmp_path, CLEW_HOME="/c", OTHER="1").text
    mac = planned("darwin", {"HOME": "/Users/ann"}, COMMAND, 501)
    assert mac.path == Path("/Users/ann/Library/LaunchAgents/clew.serve.plist")
    assert mac.start == (("launchctl", "bootstrap", "gui/501", str(mac.path)),)
    with pytest.raises(ConfigError, match="win32"):
        planned("win32", {"HOME": "/"}, COMMAND, 0)


def test_installed_asked_for_and_taken_away(tmp_path):
    service, control = linux(tmp_path), Control()
    assert "installed and started" in install(service, control)
    assert service.path.read_text() == service.text
    assert control.asked == ["systemctl --user daemon-reload", "systemctl --user enable --now clew.service"]
    assert status(service, Control(0)) == (True, f"running ({service.path})")
    assert status(service, Control(3))[0] is False
    control = Control()
    assert "stopped and removed" in uninstall(service, control)
    assert control.asked == ["systemctl --user disable --now clew.service"]
    assert not service.path.exists()
    assert "not installed" in uninstall(service, control)
    assert status(service, control) == (False, f"not installed: there is no {service.path} (clew service install)")
    assert len(control.asked) == 1


def test_a_service_that_does_not_run_is_taken_away_all_the_same(tmp_path):
    service = linux(tmp_path)
    install(service, Control())
    assert "stopped and removed" in uninstall(service, Control(1))


def test_a_manager_that_refuses_is_told_with_its_words(tmp_path):
    with pytest.raises(InputError, match="no bus") as e:
        install(linux(tmp_path), Control(1))
    assert "clew serve" in e.value.hint


def test_a_launchd_agent_is_unloaded_before_it_is_loaded_again(tmp_path):
    service, control = planned("darwin", {"HOME": str(tmp_path)}, COMMAND, 501), Control()
    install(service, control)
    install(service, control)
    assert [a.split()[1] for a in control.asked] == ["bootstrap", "bootout", "bootstrap"]


def test_a_file_of_an_older_version_is_told(tmp_path):
    service = linux(tmp_path)
    install(service, Control())
    service.path.write_text("old")
    assert "install it again" in status(service, Control(0))[1]
