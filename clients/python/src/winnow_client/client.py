"""The client that blocks."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

import httpx

from . import _core, types
from ._core import Answer, Call, Following, OnProgress, Retrying, Service
from ._files import PIECE_BYTES, Download, Progress, new_file, replacing
from ._one_call import failed_request, separation, sounds_question
from .errors import ApiError, UnreachableError


class Client:
    """A client of a Winnow service. Threads may share it.

    Every call may raise `ApiError`, when it is refused, and `UnreachableError`. Before that it
    retries refusals that may pass (429, 5xx), and silence.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = _core.TIMEOUT_SECONDS,
        retries: int = _core.RETRIES,
        http: httpx.Client | None = None,
    ) -> None:
        """
        :param base_url: such as `http://127.0.0.1:8080`
        :param headers: sent with every call of the API
        :param timeout_seconds: a call whose connection is silent for longer raises
            `UnreachableError`, and so does an upload or a download that does not go on
        :param retries: of a call that is refused for now or not answered; 0: none
        :param http: what sends, where a proxy or a certificate of one's own asks for it;
            it is closed with the client
        :raises ValueError: for an address or key that cannot be one
        """
        self._service = Service(base_url, api_key, headers, timeout_seconds, retries)
        self._http = http or httpx.Client()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def models(self) -> types.ModelList:
        return self._ask(_core.models())

    def create_file(self, file: types.CreateFile) -> types.CreatedFile:
        """Creates a file; `send` uploads its bytes."""
        return self._ask(_core.create_file(file))

    def send(
        self, file: types.CreatedFile, data: bytes | Iterable[bytes] | Callable[[], Iterable[bytes]]
    ) -> None:
        """Sends the bytes of a file, exactly as many as it was created for.

        :param data: a function opens them, once more for each retry; an iterable is read once, so
            it is not retried
        """
        if callable(data):
            self._put(file, data, self._service.retries)
        else:
            retries = self._service.retries if isinstance(data, bytes) else 0
            self._put(file, lambda: data, retries)

    def file(self, file_id: str) -> types.FileRecord:
        return self._ask(_core.file(file_id))

    def list_files(self, *, limit: int = 20, cursor: str = "") -> types.FileList:
        """The files of the key's account, newest first."""
        return self._ask(_core.list_files(limit, cursor))

    def delete_file(self, file_id: str) -> None:
        """Deletes a file that no request under way needs, uploaded or not."""
        self._delete(_core.delete_file(file_id))

    def upload(
        self, path: str | Path, content_type: str, on_progress: OnProgress | None = None
    ) -> str:
        """Creates a file and sends the bytes of `path`, as a stream.

        :param on_progress: gets the part that is sent, from 0 to 1; what it raises ends the upload
        :returns: the file's id
        """
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            return self._upload(Path(path).name, content_type, file, size, on_progress)

    def upload_blob(
        self, name: str, content_type: str, data: bytes, on_progress: OnProgress | None = None
    ) -> str:
        """`upload` of bytes in memory."""
        return self._upload(name, content_type, io.BytesIO(data), len(data), on_progress)

    def separate(
        self,
        path: str | Path,
        prompt: str | Sequence[str],
        submission: types.Submission | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> types.Result:
        """Separates one sound from a file, or several; in one call up to 32 MiB, else in steps.

        :param submission: other fields of a submit, without its media and prompts, such as
            `{"input": {"output_format": "flac"}}`
        :returns: the result, once it is there
        :raises ApiError: with the code of the failure when it fails, such as `NO_AUDIO_STREAM`
        """
        asked = separation(path, prompt, submission, idempotency_key)
        if asked.is_large:
            body = asked.submission_of(self.upload(path, asked.content_type))
            key = asked.idempotency_key
            return self.wait(self.submit(body, idempotency_key=key))
        try:
            answer = self._ask(asked.call())
        except ApiError as error:
            return self.wait(failed_request(error))
        return answer if answer["status"] == "COMPLETED" else self.wait(answer)

    def begin(
        self,
        path: str | Path,
        prompt: str | Sequence[str],
        submission: types.Submission | None = None,
        *,
        idempotency_key: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> types.Submitted:
        """As `separate`, but returns once the request is accepted: `follow` it.

        :param on_progress: gets the part that is sent, from 0 to 1, where that is a step of its own
        """
        asked = separation(path, prompt, submission, idempotency_key)
        if not asked.is_large:
            return self._ask(asked.begin_call())
        body = asked.submission_of(self.upload(path, asked.content_type, on_progress))
        return self.submit(body, idempotency_key=asked.idempotency_key)

    def submit(
        self, submission: types.Submission, *, idempotency_key: str | None = None
    ) -> types.Submitted:
        """Queues a separation.

        :param idempotency_key: 1 to 255 visible ASCII characters. For a day, the same key with the
            same submission answers the same request: a submit whose answer was lost can be made
            again. By default each call has a key of its own, so that its retries submit once.
        """
        return self._ask(_core.submit(submission, idempotency_key))

    def sounds(
        self,
        path: str | Path,
        submission: types.SoundsSubmission | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> types.SoundsResult:
        """Lists the sounds in a file; in one call up to 32 MiB, else in steps.

        :param submission: other fields of a submit, without its media
        :returns: the list, once it is there
        :raises ApiError: with the code of the failure when it fails, such as `NO_AUDIO_STREAM`
        """
        asked = sounds_question(path, submission, idempotency_key)
        if asked.is_large:
            body = asked.submission_of(self.upload(path, asked.content_type))
            submitted = self.submit_sounds(body, idempotency_key=asked.idempotency_key)
            return self.wait_for_sounds(submitted)
        try:
            answer = self._ask(asked.call())
        except ApiError as error:
            return self.wait_for_sounds(failed_request(error))
        return answer if answer["status"] == "COMPLETED" else self.wait_for_sounds(answer)

    def submit_sounds(
        self, submission: types.SoundsSubmission, *, idempotency_key: str | None = None
    ) -> types.Submitted:
        """As `submit`, of a list of sounds."""
        return self._ask(_core.submit_sounds(submission, idempotency_key))

    def status(self, request: types.RequestRef, *, logs: bool = False) -> types.Status:
        return self._ask(_core.status(request, logs))

    def follow(
        self,
        request: types.RequestRef,
        *,
        logs: bool = False,
        interval_seconds: float | None = None,
    ) -> Generator[types.Status, None, None]:
        """Every status of a request, up to and with the terminal one; reconnects when it must.

        :param logs: include the log lines
        :param interval_seconds: the status comes again after so long while nothing changes, 1 to
            10; default 2
        """
        call = _core.status_stream(request, logs, interval_seconds)
        following = Following()
        while True:
            broken = None
            following.open()
            try:
                request_of_stream = self._service.stream_request(call)
                with self._open(request_of_stream, False, 0) as response:
                    for piece in response.iter_raw():
                        yield from following.read(piece)
                        if following.ended:
                            return
            except (ApiError, UnreachableError) as error:
                broken = error
            time.sleep(following.pause_seconds(broken))

    def wait(self, request: types.RequestRef) -> types.Result:
        """The result of a request once there is one.

        :raises ApiError: with the code of the failure when it fails, such as `NO_AUDIO_STREAM`
        """
        for status in self.follow(request):
            _core.raise_failure(status)
        return self.result(request)

    def wait_for_sounds(self, request: types.RequestRef) -> types.SoundsResult:
        """As `wait`, of a list of sounds."""
        return cast(types.SoundsResult, self.wait(request))

    def result(self, request: types.RequestRef) -> types.Result:
        return self._ask(_core.result(request))

    def peaks(self, request: types.RequestRef) -> types.Peaks:
        """Peaks of the outputs of a completed request, to draw them without decoding."""
        return self._ask(_core.peaks(request), redirects=True)

    def open(self, url: str) -> AbstractContextManager[httpx.Response]:
        """The answer of a signed address, such as `data.target.url`, whose body is not yet read."""
        return self._open(self._service.download_request(url), True, self._service.retries)

    def download(self, url: str, path: str | Path) -> None:
        """Writes the file at a signed address, such as `data.target.url`, to `path`.

        `path` is there only once the file is whole. A download that breaks off is retried from
        where it ended.
        """
        with replacing(Path(path)) as file:
            download = Download(file)
            retrying = Retrying(self._service.retries)
            while True:
                try:
                    return self._attempt(url, download)
                except (ApiError, UnreachableError) as error:
                    if download.restart_after(error):
                        continue
                    retrying.progressed(download.position)
                    pause = retrying.pause_seconds(error)
                time.sleep(pause)

    def _attempt(self, url: str, download: Download) -> None:
        request = self._service.download_request(url, download.headers())
        with self._open(request, True, 0) as response:
            download.begin(response)
            for piece in response.iter_bytes(PIECE_BYTES):
                download.write(piece)
        download.end()

    def cancel(self, request: types.RequestRef) -> types.Status:
        """Ends a request."""
        return self._ask(_core.cancel(request))

    def delete(self, request: types.RequestRef) -> None:
        """Deletes a request with its outputs; one under way is canceled first. Its file stays."""
        self._delete(_core.delete(request))

    def list(
        self,
        *,
        limit: int = 20,
        cursor: str = "",
        status: types.RequestStatus | None = None,
        model: types.RequestModel | None = None,
        created_from: datetime | str | None = None,
        created_before: datetime | str | None = None,
    ) -> types.RequestList:
        """The requests of the key's account, newest first.

        :param status: only those that stand so now
        :param model: only separations, or only lists of sounds
        :param created_from: only those created at this time or later: a datetime with its zone, or
            text such as `2026-01-31T12:00:00Z`
        :param created_before: only those created before this time
        """
        times = created_from, created_before
        return self._ask(_core.list_requests(limit, cursor, status, model, *times))

    def share(
        self, request: types.RequestRef, *, expires_in_seconds: int | None = None
    ) -> types.NewShare:
        """Makes an address that plays the result without a key.

        :param expires_in_seconds: 60 to 604,800; default a day
        """
        return self._ask(_core.share(request, expires_in_seconds))

    def shares(self) -> types.ShareList:
        """The shares of the key's account that are not over, newest first."""
        return self._ask(_core.shares())

    def revoke_share(self, share_id: str) -> None:
        self._delete(_core.revoke_share(share_id))

    def shared(self) -> types.SharedResult:
        """The shared result, for a client whose key is the secret of a share."""
        return self._ask(_core.shared())

    def redeliver(self, request: types.RequestRef) -> types.WebhookDelivery:
        """Sends the webhook of a finished request again, with the same id and body."""
        return self._ask(_core.redeliver(request))

    def delivery_attempts(self, request: types.RequestRef) -> types.DeliveryAttempts:
        """The attempts to deliver the webhook of a request, oldest first."""
        return self._ask(_core.delivery_attempts(request))

    def test_webhook(self, receiver: types.WebhookTest) -> types.WebhookTestResult:
        """Posts an event to a receiver of webhooks, once, and returns what came of it."""
        return self._ask(_core.test_webhook(receiver))

    def account(self) -> types.Account:
        """The account that the key belongs to, with its balance."""
        return self._ask(_core.account())

    def usage(self, *, from_day: str | None = None, to_day: str | None = None) -> types.Usage:
        """The account's use by day.

        :param from_day: the first day, such as `2026-01-31`; 29 days before the last one by default
        :param to_day: the last day; today by default
        """
        return self._ask(_core.usage(from_day, to_day))

    def _ask(self, call: Call[Answer], redirects: bool = False) -> Answer:
        retrying = Retrying(self._service.retries, call.is_repeatable)
        while True:
            try:
                response = self._send(self._service.request(call), redirects)
                return _core.answer_of(call, response)
            except (ApiError, UnreachableError) as error:
                pause = retrying.pause_seconds(error)
            time.sleep(pause)

    def _send(self, request: httpx.Request, redirects: bool = False) -> httpx.Response:
        with _core.reaching(request):
            return self._http.send(request, auth=None, follow_redirects=redirects)

    @contextmanager
    def _open(
        self, request: httpx.Request, redirects: bool, retries: int
    ) -> Iterator[httpx.Response]:
        response = self._begin(request, redirects, retries)
        with closing(response), _core.reaching(request):
            yield response

    def _begin(self, request: httpx.Request, redirects: bool, retries: int) -> httpx.Response:
        """An answer whose body is not yet read."""
        retrying = Retrying(retries)
        while True:
            try:
                with _core.reaching(request):
                    response = self._http.send(
                        request, auth=None, stream=True, follow_redirects=redirects
                    )
                    if response.is_success:
                        return response
                    with closing(response):
                        response.read()
                _core.check(response)
            except (ApiError, UnreachableError) as error:
                pause = retrying.pause_seconds(error)
            time.sleep(pause)

    def _upload(
        self,
        name: str,
        content_type: str,
        file: BinaryIO,
        size: int,
        on_progress: OnProgress | None,
    ) -> str:
        created = self.create_file(new_file(name, content_type, size))
        progress = Progress(size, on_progress)

        def pieces() -> Iterator[bytes]:
            file.seek(0)
            progress.begin()
            while piece := file.read(PIECE_BYTES):
                yield piece
                progress.add(len(piece))

        self._put(created, pieces, self._service.retries, size)
        return created["file_id"]

    def _put(
        self,
        file: types.CreatedFile,
        opened: Callable[[], bytes | Iterable[bytes]],
        retries: int,
        size: int | None = None,
    ) -> None:
        self._do(
            lambda: self._service.upload_request(file, opened(), size),
            retries,
            "FILE_ALREADY_UPLOADED",
        )

    def _delete(self, call: Call[None]) -> None:
        self._do(lambda: self._service.request(call), self._service.retries, "NOT_FOUND")

    def _do(self, new_request: Callable[[], httpx.Request], retries: int, done_code: str) -> None:
        retrying = Retrying(retries)
        while True:
            try:
                return _core.check(self._send(new_request()))
            except (ApiError, UnreachableError) as error:
                if retrying.was_done(error, done_code):
                    return None
                pause = retrying.pause_seconds(error)
            time.sleep(pause)
