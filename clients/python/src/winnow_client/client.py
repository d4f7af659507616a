"""The client that blocks."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import httpx

from . import _core
from ._core import Answer, Call, Following, OnProgress, Service
from ._files import PIECE_BYTES, Progress, new_file, replacing
from .errors import ApiError, UnreachableError
from .types import (
    Account,
    CreatedFile,
    CreateFile,
    FileRecord,
    ModelList,
    Peaks,
    RequestList,
    RequestRef,
    Result,
    Status,
    Submission,
    Submitted,
    WebhookDelivery,
)


class Client:
    """A client of a Winnow service. Threads may share it.

    Every call may raise `ApiError`, when it is refused, and `UnreachableError`.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = _core.TIMEOUT_SECONDS,
        http: httpx.Client | None = None,
    ) -> None:
        """
        :param base_url: such as `http://127.0.0.1:8080`
        :param headers: sent with every call of the API
        :param timeout_seconds: a connection that is silent for longer is given up
        :param http: what sends, where a proxy or a certificate of one's own asks for it;
            it is closed with the client
        :raises ValueError: for an address or key that cannot be one
        """
        self._service = Service(base_url, api_key, headers, timeout_seconds)
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

    def models(self) -> ModelList:
        return self._ask(_core.models())

    def create_file(self, file: CreateFile) -> CreatedFile:
        """Creates a file; `send` uploads its bytes."""
        return self._ask(_core.create_file(file))

    def send(self, file: CreatedFile, data: bytes | Iterable[bytes]) -> None:
        """Sends the bytes of a file, exactly as many as it was created for."""
        self._send(self._service.upload_request(file, data))

    def file(self, file_id: str) -> FileRecord:
        return self._ask(_core.file(file_id))

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

    def submit(self, submission: Submission, *, idempotency_key: str | None = None) -> Submitted:
        """Queues a separation.

        :param idempotency_key: 1 to 255 visible ASCII characters. For a day, the same key with the
            same submission answers the same request: a submit whose answer was lost can be made
            again.
        """
        return self._ask(_core.submit(submission, idempotency_key))

    def status(self, request: RequestRef, *, logs: bool = False) -> Status:
        return self._ask(_core.status(request, logs))

    def follow(
        self, request: RequestRef, *, logs: bool = False, interval_seconds: float | None = None
    ) -> Generator[Status, None, None]:
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
                with self._open(self._service.stream_request(call), False) as response:
                    for piece in response.iter_raw():
                        yield from following.read(piece)
                        if following.ended:
                            return
            except (ApiError, UnreachableError) as error:
                broken = error
            time.sleep(following.pause_seconds(broken))

    def wait(self, request: RequestRef) -> Result:
        """The result of a request once there is one.

        :raises ApiError: with the code of the failure when it fails, such as `NO_AUDIO_STREAM`
        """
        for status in self.follow(request):
            _core.raise_failure(status)
        return self.result(request)

    def result(self, request: RequestRef) -> Result:
        return self._ask(_core.result(request))

    def peaks(self, request: RequestRef) -> Peaks:
        """What the outputs of a completed request are drawn from without decoding them."""
        call = _core.peaks(request)
        with self._open(self._service.request(call), True) as response:
            response.read()
            return _core.answer_of(call, response)

    def open(self, url: str) -> AbstractContextManager[httpx.Response]:
        """The answer of a signed address, such as `data.target.url`, whose body is not yet read."""
        return self._open(self._service.download_request(url), True)

    def download(self, url: str, path: str | Path) -> None:
        """Writes the file at a signed address, such as `data.target.url`, to `path`.

        `path` is there only once the file is whole.
        """
        with self.open(url) as response, replacing(Path(path)) as file:
            for piece in response.iter_bytes(PIECE_BYTES):
                file.write(piece)

    def cancel(self, request: RequestRef) -> Status:
        """Ends a request."""
        return self._ask(_core.cancel(request))

    def list(self, *, limit: int = 20, cursor: str = "") -> RequestList:
        """The requests of the key's account, newest first."""
        return self._ask(_core.list_requests(limit, cursor))

    def redeliver(self, request: RequestRef) -> WebhookDelivery:
        """Sends the webhook of a finished request again, with the same id and body."""
        return self._ask(_core.redeliver(request))

    def account(self) -> Account:
        """The account that the key belongs to, with its balance."""
        return self._ask(_core.account())

    def _ask(self, call: Call[Answer]) -> Answer:
        return _core.answer_of(call, self._send_request(self._service.request(call)))

    def _send(self, request: httpx.Request) -> None:
        _core.check(self._send_request(request))

    def _send_request(self, request: httpx.Request) -> httpx.Response:
        with _core.reaching(request.url):
            return self._http.send(request, auth=None, follow_redirects=False)

    @contextmanager
    def _open(self, request: httpx.Request, redirects: bool) -> Iterator[httpx.Response]:
        with _core.reaching(request.url):
            response = self._http.send(request, auth=None, stream=True, follow_redirects=redirects)
            try:
                if not response.is_success:
                    response.read()
                _core.check(response)
                yield response
            finally:
                response.close()

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
            while piece := file.read(PIECE_BYTES):
                yield piece
                progress.add(len(piece))

        self._send(self._service.upload_request(created, pieces(), size))
        return created["file_id"]
