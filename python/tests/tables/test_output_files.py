"""Tests the check of files that a command will write."""

from __future__ import annotations

import os
import select
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from PIL import Image

from stiction.errors import Error
from stiction.tables.output_files import (
    begins_with,
    check_output,
    check_picture_path,
    has_mark,
    remove_output,
    remove_picture,
    write_picture,
)

is_own = begins_with("ours")


def check(path: Path) -> None:
    check_output(path, "a file of ours", is_own)


def test_a_new_file_gets_its_folder_and_is_not_made(tmp_path: Path) -> None:
    check(tmp_path / "a" / "b" / "new.txt")
    assert list(tmp_path.rglob("*")) == [tmp_path / "a", tmp_path / "a" / "b"]


@pytest.mark.parametrize("content", ["", "ours", "ours, and more"])
def test_an_older_or_empty_file_stays_as_it_is(tmp_path: Path, content: str) -> None:
    path = tmp_path / "old.txt"
    path.write_text(content)
    check(path)
    assert path.read_text() == content


@pytest.mark.parametrize("content", ["o", "mine", "not ours"])
def test_a_file_of_the_user_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(content)
    with pytest.raises(
        Error, match=r"mine\.txt: exists and is not a file of ours; give another name"
    ):
        check(path)
    remove_output(path, is_own)
    assert path.read_text() == content


def test_a_link_to_nothing_stays_and_leads_to_the_new_file(tmp_path: Path) -> None:
    link, target = tmp_path / "link.txt", tmp_path / "target.txt"
    link.symlink_to(target)
    check(link)
    assert link.is_symlink() and not target.exists()
    link.write_text("ours")
    assert target.read_text() == "ours"


def test_a_link_to_a_file_of_the_user_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "link.txt").symlink_to("mine.txt")
    with pytest.raises(Error, match=r"link\.txt: exists and is not"):
        check(tmp_path / "link.txt")


def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(Error, match="loop: cannot be written: .*; choose another place"):
        check(tmp_path / "loop")
    assert (tmp_path / "loop").is_symlink()


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    """The reader of a pipe that a process opens and closes gets the end of the file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        check(pipe)
        remove_output(pipe, is_own)
        poll = select.poll()
        poll.register(reader)
        assert poll.poll(0) == []  # POLLHUP after a writer has closed it
        os.close(os.open(pipe, os.O_WRONLY))
        assert poll.poll(0) == [(reader, select.POLLHUP)]
    finally:
        os.close(reader)


@pytest.mark.parametrize("name", ["file/new.txt", "file/deep/new.txt"])
def test_a_file_in_place_of_a_folder_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Error, match="cannot be written: '.*/file' is a file, not a folder; choose"):
        check(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "is a folder; add the name of a file"),
        (300 * "a", "cannot be written: File name too long"),
    ],
)
def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(Error, match=reason):
        check(tmp_path / name)


def test_only_files_of_the_kind_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "old.txt"
    remove_output(path, is_own)  # there is none
    path.write_text("ours")
    remove_output(path, is_own)
    assert not path.exists()


def test_a_mark_is_found_near_the_beginning(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("<html><head><mark>")
    check_output(path, "a page", has_mark("<mark>"))
    with pytest.raises(Error, match="is not a page"):
        check_output(path, "a page", has_mark("<other>"))


def test_only_pictures_of_ours_are_replaced_and_removed(tmp_path: Path) -> None:
    figure = plt.figure(figsize=(1, 1))
    ours, plot, photo = (tmp_path / f"{name}.png" for name in ("ours", "plot", "photo"))
    write_picture(figure, ours)
    figure.savefig(plot)  # another program with matplotlib
    plt.close(figure)
    Image.new("RGB", (4, 4), "red").save(photo)
    check_picture_path(ours)
    with Image.open(ours) as image:
        assert image.info["Software"] == "stiction"
    for path in (plot, photo):
        before = path.read_bytes()
        with pytest.raises(Error, match="exists and is not a picture of Stiction; give another"):
            check_picture_path(path)
        remove_picture(path)
        assert path.read_bytes() == before
    remove_picture(ours)
    assert not ours.exists()
