"""Bringing in memories from elsewhere."""

import os
from collections.abc import Callable
from contextlib import nullcontext
from typing import NamedTuple

from cyberos import config
from cyberos.core import paths
from cyberos.core.writer import Writer
from cyberos.errors import BadArgument, PathRefused
from cyberos.exchange import directory, names
from cyberos.exchange.git import Repository
from cyberos.exchange.git_import import GitImport, Outcome
from cyberos.exchange.names import Mapped
from cyberos.exchange.plan import Skipped
from cyberos.exchange.refusals import Refused

Progress = Callable[[int, int | None], None]


class ImportedGit(NamedTuple):
    """What an import of a repository did, or with `dry_run` would do.

    `commits` are those of the first-parent history that were looked at: all behind `after`, the last one that was in
    already, up to `head`. `mapped` are files whose memory has another path than `into` and their own; `skipped` are
    versions that cannot be memories. `refused` are paths that an access list does not let the actor write: a dry run
    names all of them, and the import ends with an error at the first.
    """

    repository: str
    into: str
    glob: str
    root: str
    after: str | None
    head: str
    commits: int
    puts: int
    moves: int
    deletes: int
    mapped: tuple[Mapped, ...]
    skipped: tuple[Skipped, ...]
    refused: tuple[Refused, ...]
    dry_run: bool


def import_git(
    store: str,
    folder: str,
    *,
    actor: str,
    git: str = "git",
    glob: str = "**/*.md",
    into: str | None = None,
    dry_run: bool = False,
    progress: Progress = lambda _done, _total: None,
) -> ImportedGit:
    """Imports the first-parent history of a repository's files; what is in already is not imported again.

    `git` is the program, `glob` which files, `into` the folder of memories (the default is named after the repository).
    `progress` is called with how many commits are done, and of how many.
    """
    check_glob(glob)
    repository = Repository(folder, git)
    target = checked_folder(into, repository.name)
    limit = config.load(store).memories.max_body_bytes
    work = GitImport(store, repository, into=target, glob=glob)
    if dry_run:
        done: Outcome = work.plan(actor, limit, progress)
    else:
        with Writer(store, actor=actor, puts_files_off=True) as writer:
            done = work.write(writer, actor, limit, progress)
    return ImportedGit(repository.folder, target, glob, *done, dry_run=dry_run)


class ImportedDir(NamedTuple):
    """What an import of a folder's files did, or with `dry_run` would do.

    Of the `files` that match, `unchanged` hold what their memories hold. `mapped`, `skipped` and
    `refused` are as for a repository.
    """

    folder: str
    into: str
    glob: str
    files: int
    puts: int
    unchanged: int
    mapped: tuple[Mapped, ...]
    skipped: tuple[Skipped, ...]
    refused: tuple[Refused, ...]
    dry_run: bool


def import_dir(
    store: str,
    folder: str,
    *,
    actor: str,
    glob: str = "**/*.md",
    into: str | None = None,
    dry_run: bool = False,
    progress: Progress = lambda _done, _total: None,
) -> ImportedDir:
    """Puts the files of a folder that match, as they are now. A memory whose file is gone stays as it is."""
    check_glob(glob)
    full = os.path.realpath(folder)
    target = checked_folder(into, os.path.basename(full) or "files")
    limit = config.load(store).memories.max_body_bytes
    with nullcontext() if dry_run else Writer(store, actor=actor, puts_files_off=True) as writer:
        done = directory.copy(
            store, full, actor=actor, into=target, glob=glob, limit=limit, writer=writer, progress=progress
        )
    return ImportedDir(full, target, glob, *done, dry_run=dry_run)


def checked_folder(into: str | None, name: str) -> str:
    """Returns the folder of memories to import into: the one that was named, else one for what has this name."""
    folder = f"memories/{names.folder_name(name)}" if into is None else into.rstrip("/")
    try:
        paths.check_path(f"{folder}/x.md")
    except PathRefused as error:
        raise BadArgument(
            f"cannot import into {folder!r}: {error.message}", argument="--into", hint="for example memories/project"
        ) from None
    return folder


def check_glob(glob: str) -> None:
    """Raises `BadArgument` for a pattern that cannot be one."""
    if not glob or "\0" in glob or glob.startswith("/"):
        raise BadArgument(
            f"not a pattern of files: {glob!r}", argument="--glob", hint="for example '**/*.md' or 'docs/**/*.md'"
        )
