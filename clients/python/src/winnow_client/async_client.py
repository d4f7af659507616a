"""The client for asyncio."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
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


class AsyncClient:
    """`Client` for asyncio: the same calls, to be awaited."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = _core.TIMEOUT_SECONDS,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        """As of `Client`."""
        self._service = Service(base_url, api_key, headers, timeout_seconds)
        self._http = http or httpx.AsyncClient()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def models(self) -> ModelList:
        return await self._ask(_core.models())

    async def create_file(self, file: CreateFile) -> CreatedFile:
        return await self._ask(_core.create_file(file))

    async def send(self, file: CreatedFile, data: bytes | AsyncIterable[bytes]) -> None:
        await self._send(self._service.upload_request(file, data))

    async def file(self, file_id: str) -> FileRecord:
        return await self._ask(_core.file(file_id))

    async def upload(
        self, path: str | Path, content_type: str, on_progress: OnProgress | None = None
    ) -> str:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            return await self._upload(Path(path).name, content_type, file, size, on_progress)

    async def upload_blob(
        self, name: str, content_type: str, data: bytes, on_progress: OnProgress | None = None
    ) -> str:
        return await self._upload(name, content_type, io.BytesIO(data), len(data), on_progress)

    async def submit(
        self, submission: Submission, *, idempotency_key: str | None = None
    ) -> Submitted:
        return await self._ask(_core.submit(submission, idempotency_key))

    async def status(self, request: RequestRef, *, logs: bool = False) -> Status:
        return await self._ask(_core.status(request, logs))

    async def follow(
        self, request: RequestRef, *, logs: bool = False, interval_seconds: float | None = None
    ) -> AsyncGenerator[Status, None]:
        call = _core.status_stream(request, logs, interval_seconds)
        following = Following()
        while True:
            broken = None
            following.open()
            try:
                async with self._open(self._service.stream_request(call), False) as response:
                    async for piece in response.aiter_raw():
                        for status in following.read(piece):
                            yield status
                        if following.ended:
                            return
            except (ApiError, UnreachableError) as error:
                broken = error
            await asyncio.sleep(following.pause_seconds(broken))

    async def wait(self, request: RequestRef) -> Result:
        async for status in self.follow(request):
            _core.raise_failure(status)
        return await self.result(request)

    async def result(self, request: RequestRef) -> Result:
        return await self._ask(_core.result(request))

    async def peaks(self, request: RequestRef) -> Peaks:
        call = _core.peaks(request)
        async with self._open(self._service.request(call), True) as response:
            await response.aread()
            return _core.answer_of(call, response)

    def open(self, url: str) -> AbstractAsyncContextManager[httpx.Response]:
        return self._open(self._service.download_request(url), True)

    async def download(self, url: str, path: str | Path) -> None:
        async with self.open(url) as response:
            with replacing(Path(path)) as file:
                async for piece in response.aiter_bytes(PIECE_BYTES):
                    await asyncio.to_thread(file.write, piece)

    async def cancel(self, request: RequestRef) -> Status:
        return await self._ask(_core.cancel(request))

    async def list(self, *, limit: int = 20, cursor: str = "") -> RequestList:
        return await self._ask(_core.list_requests(limit, cursor))

    async def redeliver(self, request: RequestRef) -> WebhookDelivery:
        return await self._ask(_core.redeliver(request))

    async def account(self) -> Account:
        return await self._ask(_core.account())

    async def _ask(self, call: Call[Answer]) -> Answer:
        return _core.answer_of(call, await self._send_request(self._service.request(call)))

    async def _send(self, request: httpx.Request) -> None:
        _core.check(await self._send_request(request))

    async def _send_request(self, request: httpx.Request) -> httpx.Response:
        with _core.reaching(request.url):
            return await self._http.send(request, auth=None, follow_redirects=False)

    @asynccontextmanager
    async def _open(self, request: httpx.Request, redirects: bool) -> AsyncIterator[httpx.Response]:
        with _core.reaching(request.url):
            response = await self._http.send(
                request, auth=None, stream=True, follow_redirects=redirects
            )
            try:
                if not response.is_success:
                    await response.aread()
                _core.check(response)
                yield response
            finally:
                await response.aclose()

    async def _upload(
        self,
        name: str,
        content_type: str,
        file: BinaryIO,
        size: int,
        on_progress: OnProgress | None,
    ) -> str:
        created = await self.create_file(new_file(name, content_type, size))
        progress = Progress(size, on_progress)

        async def pieces() -> AsyncIterator[bytes]:
            while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
                yield piece
                progress.add(len(piece))

        await self._send(self._service.upload_request(created, pieces(), size))
        return created["file_id"]
