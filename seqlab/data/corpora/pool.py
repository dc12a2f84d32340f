"""Processes that encode a corpus side by side; every shard that they finish is kept, whatever happens to them."""

import json
import os
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from seqlab.data.corpora.plan import EncodingJob
from seqlab.data.corpora.source import TextSource
from seqlab.data.corpora.worker import CorpusPart, describe_job, run_job
from seqlab.errors import DataError, MissingInput, SeqlabError, StorageError, UsageError
from seqlab.processes import python_command
from seqlab.tokenization.tokenizer import Tokenizer

Log = Callable[[str], None]
PlacedJob = tuple[int, EncodingJob]  # with the part of the corpus that it belongs to
ERRORS = {error.exit_code: error for error in (UsageError, DataError, MissingInput, StorageError)}
EVERY = 10.0  # seconds between two lines of progress
POLL = 0.1
PROGRAM = "from seqlab.data.corpora import worker; worker.main()"
ONE_THREAD = {"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}  # workers are what is parallel


class EncodingPool:
    """Feeds jobs to worker processes, and says how far they are."""

    def __init__(self, folder: Path, lock: Path, parts: Sequence[CorpusPart], log: Log):
        self.folder, self.lock, self.parts, self.log = folder, lock, parts, log
        self._waiting: deque[PlacedJob] = deque()
        self._running: list[subprocess.Popen[str]] = []
        self._errors: list[SeqlabError] = []
        self._text = self._stored = self._done = 0  # bytes of text, bytes of finished jobs as stored, and jobs

    def wait_for_others(self) -> None:
        """Wait until the workers of a command that was killed have ended. Whoever calls this holds the lock itself."""
        for path in self.lock.parent.glob(f"{self.lock.name}-*"):
            one = FileLock(path)
            try:
                one.acquire(blocking=False)
            except Timeout:
                self.log(f"waiting for a process of another command, which still encodes into '{self.folder}'")
                one.acquire()
            one.release()

    def run(self, jobs: Sequence[PlacedJob], workers: int, tokenizer: Tokenizer) -> None:
        """Run all jobs in this many processes; in this one, if there are none."""
        self._waiting = deque(jobs)
        if not workers:
            for part, job in jobs:
                run_job(self.folder, self.parts[part], tokenizer, job, lambda *_, **__: None)
            return
        began = last = time.monotonic()
        feeders = [
            threading.Thread(target=self._feed, args=[f"{self.lock}-{number}"], daemon=True)
            for number in range(min(workers, len(jobs)))
        ]
        try:
            for feeder in feeders:
                feeder.start()
            while any(feeder.is_alive() for feeder in feeders):
                time.sleep(POLL)
                if time.monotonic() - last > EVERY:
                    last = time.monotonic()
                    self.log(self._progress(last - began, jobs))
        finally:
            self._waiting.clear()
            for process in self._running:
                with suppress(OSError):
                    process.kill()
            for feeder in feeders:
                feeder.join()
        if self._errors:
            raise self._errors[0]

    def _progress(self, seconds: float, jobs: Sequence[PlacedJob]) -> str:
        total = sum(self._size(*job) for job in jobs)
        share = self._stored / total if total else 0.0
        left = f", about {seconds * (1 - share) / share:,.0f} s left" if share else ""
        speed = self._text / seconds / 1e6
        return f"encoded {self._text / 1e6:,.0f} MB of text ({share:.0%}), {speed:.1f} MB/s{left}"

    def _size(self, part: int, job: EncodingJob) -> float:
        """The bytes that a job reads, as stored."""
        sources: Sequence[TextSource] = self.parts[part].sources
        sizes = (
            min(span.last or sources[span.source].size, sources[span.source].size) - span.first
            for span in job.unit.spans
        )
        return sum(sizes) / job.step

    def _feed(self, lock: str) -> None:
        """Give jobs to one worker until none is left."""
        process = subprocess.Popen(
            python_command(PROGRAM),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, **ONE_THREAD},
        )
        self._running.append(process)
        try:
            parts = [{"sources": [asdict(one) for one in part.sources], "ends": part.ends} for part in self.parts]
            about = {"folder": str(self.folder), "parts": parts, "parent": os.getpid(), "lock": lock}
            self._send(process, json.dumps(about))
            while (job := self._next()) is not None:
                self._run_on(process, job)
        except BrokenPipeError:
            self._died(process)
        finally:
            assert process.stdin is not None and process.stdout is not None
            with suppress(OSError):
                process.stdin.close()
            process.stdout.close()
            process.wait()

    def _next(self) -> PlacedJob | None:
        with suppress(IndexError):
            return None if self._errors else self._waiting.popleft()
        return None

    def _run_on(self, process: subprocess.Popen[str], job: PlacedJob) -> None:
        assert process.stdout is not None
        self._send(process, describe_job(*job))
        for line in process.stdout:
            event: dict[str, Any] = json.loads(line)
            if event["kind"] == "shard":
                self._text += event["bytes"]
            elif event["kind"] == "done":
                self._done += 1
                self._stored += self._size(*job)
                return
            else:
                error = ERRORS.get(event["code"], SeqlabError)(event["message"])
                self._errors.append(error)
                return
        self._died(process)

    def _died(self, process: subprocess.Popen[str]) -> None:
        self._errors.append(
            StorageError(
                f"a process that encodes the corpus ended (exit code {process.wait()}). Is the machine out of memory? "
                f"Repeat the command: the shards that are finished are kept."
            )
        )

    @staticmethod
    def _send(process: subprocess.Popen[str], line: str) -> None:
        assert process.stdin is not None
        print(line, file=process.stdin, flush=True)
