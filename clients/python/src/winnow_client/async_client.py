"""The client for asyncio."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
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


class AsyncClient:
    """`Client` for asyncio: the same calls, to be awaited."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = _core.TIMEOUT_SECONDS,
        retries: int = _core.RETRIES,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        """See `Client`."""
        self._service = Service(base_url, api_key, headers, timeout_seconds, retries)
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

    async def models(self) -> types.ModelList:
        return await self._ask(_calls.models())

    async def create_file(self, file: types.CreateFile) -> types.CreatedFile:
        return await self._ask(_calls.create_file(file))

    async def send(
        self,
        file: types.CreatedFile,
        data: bytes | AsyncIterable[bytes] | Callable[[], AsyncIterable[bytes]],
    ) -> None:
        if callable(data):
            await self._put(file, data, self._service.retries)
        else:
            retries = self._service.retries if isinstance(data, bytes) else 0
            await self._put(file, lambda: data, retries)

    async def file(self, file_id: str) -> types.FileRecord:
        return await self._ask(_calls.file(file_id))

    async def list_files(self, *, limit: int = 20, cursor: str = "") -> types.FileList:
        return await self._ask(_calls.list_files(limit, cursor))

    async def delete_file(self, file_id: str) -> None:
        await self._delete(_calls.delete_file(file_id))

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

    async def separate(
        self,
        path: str | Path,
        prompt: str | Sequence[str],
        submission: types.Submission | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> types.Result:
        asked = separation(path, prompt, submission, idempotency_key)
        if asked.is_large:
            body = asked.submission_of(await self.upload(path, asked.content_type))
            return await self.wait(await self.submit(body, idempotency_key=idempotency_key))
        try:
            answer = await self._ask(asked.call())
        except ApiError as error:
            return await self.wait(failed_request(error))
        return answer if answer["status"] == "COMPLETED" else await self.wait(answer)

    async def begin(
        self,
        path: str | Path,
        prompt: str | Sequence[str],
        submission: types.Submission | None = None,
        *,
        idempotency_key: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> types.Submitted:
        asked = separation(path, prompt, submission, idempotency_key)
        if not asked.is_large:
            return await self._ask(asked.begin_call())
        body = asked.submission_of(await self.upload(path, asked.content_type, on_progress))
        return await self.submit(body, idempotency_key=idempotency_key)

    async def submit(
        self, submission: types.Submission, *, idempotency_key: str | None = None
    ) -> types.Submitted:
        return await self._ask(_calls.submit(submission, idempotency_key))

    async def sounds(
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
            body = asked.submission_of(await self.upload(path, asked.content_type))
            submitted = await self.submit_sounds(body, idempotency_key=idempotency_key)
            return await self.wait_for_sounds(submitted)
        try:
            answer = await self._ask(asked.call())
        except ApiError as error:
            return await self.wait_for_sounds(failed_request(error))
        return answer if answer["status"] == "COMPLETED" else await self.wait_for_sounds(answer)

    async def submit_sounds(
        self, submission: types.SoundsSubmission, *, idempotency_key: str | None = None
    ) -> types.Submitted:
        """Like `submit`, for a list of sounds."""
        return await self._ask(_calls.submit_sounds(submission, idempotency_key))

    async def status(self, request: types.RequestRef, *, logs: bool = False) -> types.Status:
        return await self._ask(_calls.status(request, logs))

    async def follow(
        self,
        request: types.RequestRef,
        *,
        logs: bool = False,
        interval_seconds: float | None = None,
    ) -> AsyncGenerator[types.Status, None]:
        call = _calls.status_stream(request, logs, interval_seconds)
        following = Following()
        while True:
            broken = None
            following.open()
            try:
                request_of_stream = self._service.stream_request(call)
                async with self._open(request_of_stream, False, 0) as response:
                    async for piece in response.aiter_raw():
                        for status in following.read(piece):
                            yield status
                        if following.ended:
                            return
            except (ApiError, UnreachableError) as error:
                broken = error
            await asyncio.sleep(following.pause_seconds(broken))

    async def wait(self, request: types.RequestRef) -> types.Result:
        async for status in self.follow(request):
            _core.raise_failure(status)
        return await self.result(request)

    async def wait_for_sounds(self, request: types.RequestRef) -> types.SoundsResult:
        """Like `wait`, for a list of sounds."""
        return cast(types.SoundsResult, await self.wait(request))

    async def result(self, request: types.RequestRef) -> types.Result:
        return await self._ask(_calls.result(request))

    async def peaks(self, request: types.RequestRef) -> types.Peaks:
        return await self._ask(_calls.peaks(request), redirects=True)

    async def live_preview(self, request: types.RequestRef) -> types.LivePreview:
        return await self._ask(_calls.live_preview(request))

    def open(self, url: str) -> AbstractAsyncContextManager[httpx.Response]:
        return self._open(self._service.download_request(url), True, self._service.retries)

    async def download(self, url: str, path: str | Path) -> None:
        with replacing(Path(path)) as file:
            download = Download(file)
            retrying = Retrying(self._service.retries)
            while True:
                try:
                    return await self._attempt(url, download)
                except (ApiError, UnreachableError) as error:
                    if download.restart_after(error):
                        continue
                    retrying.progressed(download.position)
                    pause = retrying.pause_seconds(error)
                await asyncio.sleep(pause)

    async def _attempt(self, url: str, download: Download) -> None:
        request = self._service.download_request(url, download.headers())
        async with self._open(request, True, 0) as response:
            download.begin(response)
            async for piece in response.aiter_bytes(PIECE_BYTES):
                await asyncio.to_thread(download.write, piece)
        download.end()

    async def cancel(self, request: types.RequestRef) -> types.Status:
        return await self._ask(_calls.cancel(request))

    async def delete(self, request: types.RequestRef) -> None:
        await self._delete(_calls.delete(request))

    async def rename(self, request: types.RequestRef, name: str) -> None:
        await self._ask(_calls.rename(request, name))

    async def list(
        self,
        *,
        limit: int = 20,
        cursor: str = "",
        status: types.RequestStatus | None = None,
        model: types.RequestModel | None = None,
        created_from: datetime | str | None = None,
        created_before: datetime | str | None = None,
    ) -> types.RequestList:
        times = created_from, created_before
        call = _calls.list_requests(limit, cursor, status, model, *times)
        return await self._ask(call)

    async def share(
        self, request: types.RequestRef, *, expires_in_seconds: int | None = None
    ) -> types.NewShare:
        return await self._ask(_calls.share(request, expires_in_seconds))

    async def shares(self) -> types.ShareList:
        return await self._ask(_calls.shares())

    async def revoke_share(self, share_id: str) -> None:
        await self._delete(_calls.revoke_share(share_id))

    async def shared(self) -> types.SharedResult:
        return await self._ask(_calls.shared())

    async def redeliver(self, request: types.RequestRef) -> types.WebhookDelivery:
        return await self._ask(_calls.redeliver(request))

    async def delivery_attempts(self, request: types.RequestRef) -> types.DeliveryAttempts:
        return await self._ask(_calls.delivery_attempts(request))

    async def test_webhook(self, receiver: types.WebhookTest) -> types.WebhookTestResult:
        return await self._ask(_calls.test_webhook(receiver))

    async def account(self) -> types.Account:
        return await self._ask(_calls.account())

    async def usage(self, *, from_day: str | None = None, to_day: str | None = None) -> types.Usage:
        return await self._ask(_calls.usage(from_day, to_day))

    async def _ask(self, call: Call[Answer], redirects: bool = False) -> Answer:
        retrying = Retrying(self._service.retries, call.is_repeatable)
        while True:
            try:
                response = await self._send(self._service.request(call), redirects)
                return _core.answer_of(call, response)
            except (ApiError, UnreachableError) as error:
                pause = retrying.pause_seconds(error)
            await asyncio.sleep(pause)

    async def _send(self, request: httpx.Request, redirects: bool = False) -> httpx.Response:
        with _core.reaching(request):
            return await self._http.send(request, auth=None, follow_redirects=redirects)

    @asynccontextmanager
    async def _open(
        self, request: httpx.Request, redirects: bool, retries: int
    ) -> AsyncIterator[httpx.Response]:
        async with aclosing(await self._begin(request, redirects, retries)) as response:
            with _core.reaching(request):
                yield response

    async def _begin(self, request: httpx.Request, redirects: bool, retries: int) -> httpx.Response:
        retrying = Retrying(retries)
        while True:
            try:
                with _core.reaching(request):
                    response = await self._http.send(
                        request, auth=None, stream=True, follow_redirects=redirects
                    )
                    if response.is_success:
                        return response
                    async with aclosing(response):
                        await response.aread()
                _core.check(response)
            except (ApiError, UnreachableError) as error:
                pause = retrying.pause_seconds(error)
            await asyncio.sleep(pause)

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
            file.seek(0)
            progress.begin()
            while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
                yield piece
                progress.add(len(piece))

        await self._put(created, pieces, self._service.retries, size)
        return created["file_id"]

    async def _put(
        self,
        file: types.CreatedFile,
        opened: Callable[[], bytes | AsyncIterable[bytes]],
        retries: int,
        size: int | None = None,
    ) -> None:
        await self._do(
            lambda: self._service.upload_request(file, opened(), size),
            retries,
            "FILE_ALREADY_UPLOADED",
        )

    async def _delete(self, call: Call[None]) -> None:
        await self._do(lambda: self._service.request(call), self._service.retries, "NOT_FOUND")

    async def _do(
        self, new_request: Callable[[], httpx.Request], retries: int, done_code: str
    ) -> None:
        retrying = Retrying(retries)
        while True:
            try:
                return _core.check(await self._send(new_request()))
            except (ApiError, UnreachableError) as error:
                if retrying.was_done(error, done_code):
                    return None
                pause = retrying.pause_seconds(error)
            await asyncio.sleep(pause)
