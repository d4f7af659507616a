"""The blocking client."""

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

from . import _calls, _core, types
from ._calls import Answer, Call
from ._core import Following, OnProgress, Retrying, Service
from ._files import PIECE_BYTES, Download, Progress, new_file, replacing
from ._one_call import failed_request, separation, sounds_question
from .errors import ApiError, UnreachableError


class Client:
    """A client of a Winnow service. Threads may share it.

    Every call may raise `ApiError` if the service refuses it, and `UnreachableError` if the service
    does not respond. It first retries temporary refusals (429, 5xx) and missing responses.
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
            `UnreachableError`, and so does a stalled upload or download
        :param retries: of a call that is refused temporarily or gets no response; 0 for none
        :param http: the client that sends, for example with your own proxy or certificate;
            it is closed with this client
        :raises ValueError: for an invalid address or key
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
        return self._ask(_calls.models())

    def create_file(self, file: types.CreateFile) -> types.CreatedFile:
        """Creates a file; `send` uploads its bytes."""
        return self._ask(_calls.create_file(file))

    def send(
        self, file: types.CreatedFile, data: bytes | Iterable[bytes] | Callable[[], Iterable[bytes]]
    ) -> None:
        """Sends the bytes of a file, exactly as many as it was created for.

        :param data: a function is called again for each retry; an iterable can only be read once,
            so it is not retried
        """
        if callable(data):
            self._put(file, data, self._service.retries)
        else:
            retries = self._service.retries if isinstance(data, bytes) else 0
            self._put(file, lambda: data, retries)

    def file(self, file_id: str) -> types.FileRecord:
        return self._ask(_calls.file(file_id))

    def list_files(self, *, limit: int = 20, cursor: str = "") -> types.FileList:
        """Lists the files of the key's account, newest first."""
        return self._ask(_calls.list_files(limit, cursor))

    def delete_file(self, file_id: str) -> None:
        """Deletes a file, uploaded or not, unless an unfinished request needs it."""
        self._delete(_calls.delete_file(file_id))

    def upload(
        self, path: str | Path, content_type: str, on_progress: OnProgress | None = None
    ) -> str:
        """Creates a file and streams the bytes of `path`.

        :param on_progress: receives the share that is sent, from 0 to 1; an exception ends the
            upload
        :returns: the file's id
        """
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            return self._upload(Path(path).name, content_type, file, size, on_progress)

    def upload_blob(
        self, name: str, content_type: str, data: bytes, on_progress: OnProgress | None = None
    ) -> str:
        """Like `upload`, for bytes in memory."""
        return self._upload(name, content_type, io.BytesIO(data), len(data), on_progress)

    def separate(
        self,
        path: str | Path,
        prompt: str | Sequence[str],
        submission: types.Submission | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> types.Result:
        """Separates one or several sounds from a file, in one call up to 32 MiB.

        :param submission: further fields of a submit, without its media and prompts, such as
            `{"input": {"output_format": "flac"}}`
        :returns: the result, once it is complete
        :raises ApiError: with the code of the failure if it fails, such as `NO_AUDIO_STREAM`
        """
        asked = separation(path, prompt, submission, idempotency_key)
        if asked.is_large:
            body = asked.submission_of(self.upload(path, asked.content_type))
            return self.wait(self.submit(body, idempotency_key=idempotency_key))
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
        """Like `separate`, but returns once the request is accepted, to `follow` it.

        :param on_progress: receives the share that is sent, from 0 to 1, of a file above 32 MiB
        """
        asked = separation(path, prompt, submission, idempotency_key)
        if not asked.is_large:
            return self._ask(asked.begin_call())
        body = asked.submission_of(self.upload(path, asked.content_type, on_progress))
        return self.submit(body, idempotency_key=idempotency_key)

    def submit(
        self, submission: types.Submission, *, idempotency_key: str | None = None
    ) -> types.Submitted:
        """Queues a separation.

        :param idempotency_key: 1 to 255 visible ASCII characters. For a day, the same key with the
            same submission returns the same request, so a submit whose response was lost can be
            repeated. By default each call has its own key, so that its retries submit only once.
        """
        return self._ask(_calls.submit(submission, idempotency_key))

    def sounds(
        self,
        path: str | Path,
        submission: types.SoundsSubmission | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> types.SoundsResult:
        """Lists the sounds in a file, in one call up to 32 MiB.

        :param submission: further fields of a submit, without its media
        :returns: the list, once it is complete
        :raises ApiError: with the code of the failure if it fails, such as `NO_AUDIO_STREAM`
        """
        asked = sounds_question(path, submission, idempotency_key)
        if asked.is_large:
            body = asked.submission_of(self.upload(path, asked.content_type))
            submitted = self.submit_sounds(body, idempotency_key=idempotency_key)
            return self.wait_for_sounds(submitted)
        try:
            answer = self._ask(asked.call())
        except ApiError as error:
            return self.wait_for_sounds(failed_request(error))
        return answer if answer["status"] == "COMPLETED" else self.wait_for_sounds(answer)

    def submit_sounds(
        self, submission: types.SoundsSubmission, *, idempotency_key: str | None = None
    ) -> types.Submitted:
        """Like `submit`, for a list of sounds."""
        return self._ask(_calls.submit_sounds(submission, idempotency_key))

    def status(self, request: types.RequestRef, *, logs: bool = False) -> types.Status:
        return self._ask(_calls.status(request, logs))

    def follow(
        self,
        request: types.RequestRef,
        *,
        logs: bool = False,
        interval_seconds: float | None = None,
    ) -> Generator[types.Status, None, None]:
        """Yields every status of a request, ending with the terminal one; reconnects if necessary.

        :param logs: include the log lines
        :param interval_seconds: how often the status is repeated while nothing changes, 1 to 10;
            default 2
        """
        call = _calls.status_stream(request, logs, interval_seconds)
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
        """Waits for the result of a request.

        :raises ApiError: with the code of the failure if it fails, such as `NO_AUDIO_STREAM`
        """
        for status in self.follow(request):
            _core.raise_failure(status)
        return self.result(request)

    def wait_for_sounds(self, request: types.RequestRef) -> types.SoundsResult:
        """Like `wait`, for a list of sounds."""
        return cast(types.SoundsResult, self.wait(request))

    def result(self, request: types.RequestRef) -> types.Result:
        return self._ask(_calls.result(request))

    def peaks(self, request: types.RequestRef) -> types.Peaks:
        """Returns peaks of a completed request's outputs, to draw them without decoding."""
        return self._ask(_calls.peaks(request), redirects=True)

    def live_preview(self, request: types.RequestRef) -> types.LivePreview:
        """Returns what is separated so far of a request whose status has `preview_seconds`."""
        return self._ask(_calls.live_preview(request))

    def open(self, url: str) -> AbstractContextManager[httpx.Response]:
        """Opens a signed address, such as `data.target.url`, without reading its body."""
        return self._open(self._service.download_request(url), True, self._service.retries)

    def download(self, url: str, path: str | Path) -> None:
        """Writes the file at a signed address, such as `data.target.url`, to `path`.

        `path` only appears once the file is complete. A download that breaks off resumes where it
        ended.
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
        """Cancels a request."""
        return self._ask(_calls.cancel(request))

    def delete(self, request: types.RequestRef) -> None:
        """Deletes a request and its outputs; cancels an unfinished one first. Keeps its file."""
        self._delete(_calls.delete(request))

    def rename(self, request: types.RequestRef, name: str) -> None:
        """Renames a request, and so its outputs."""
        self._ask(_calls.rename(request, name))

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
        """Lists the requests of the key's account, newest first.

        :param status: only requests with this status
        :param model: only separations, or only lists of sounds
        :param created_from: only those created at this time or later: a datetime with its zone, or
            text such as `2026-01-31T12:00:00Z`
        :param created_before: only those created before this time
        """
        times = created_from, created_before
        return self._ask(_calls.list_requests(limit, cursor, status, model, *times))

    def share(
        self, request: types.RequestRef, *, expires_in_seconds: int | None = None
    ) -> types.NewShare:
        """Makes an address that plays the result without a key.

        :param expires_in_seconds: 60 to 604,800; default one day
        """
        return self._ask(_calls.share(request, expires_in_seconds))

    def shares(self) -> types.ShareList:
        """Lists the active shares of the key's account, newest first."""
        return self._ask(_calls.shares())

    def revoke_share(self, share_id: str) -> None:
        self._delete(_calls.revoke_share(share_id))

    def shared(self) -> types.SharedResult:
        """Returns the shared result, for a client whose key is the secret of a share."""
        return self._ask(_calls.shared())

    def redeliver(self, request: types.RequestRef) -> types.WebhookDelivery:
        """Sends the webhook of a finished request again, with the same id and body."""
        return self._ask(_calls.redeliver(request))

    def delivery_attempts(self, request: types.RequestRef) -> types.DeliveryAttempts:
        """Lists the attempts to deliver a request's webhook, oldest first."""
        return self._ask(_calls.delivery_attempts(request))

    def test_webhook(self, receiver: types.WebhookTest) -> types.WebhookTestResult:
        """Posts a test event to a webhook receiver, once, and returns the outcome."""
        return self._ask(_calls.test_webhook(receiver))

    def account(self) -> types.Account:
        """Returns the account of the key, with its balance."""
        return self._ask(_calls.account())

    def usage(self, *, from_day: str | None = None, to_day: str | None = None) -> types.Usage:
        """Returns the account's usage by day.

        :param from_day: the first day, such as `2026-01-31`; by default 29 days before the last one
        :param to_day: the last day; by default today
        """
        return self._ask(_calls.usage(from_day, to_day))

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
        """Returns a response whose body has not been read."""
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
