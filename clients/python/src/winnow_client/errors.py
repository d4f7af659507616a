"""Errors that calls raise."""

from __future__ import annotations


class ApiError(Exception):
    """The service refused a call, or a request failed; with the service's message."""

    def __init__(
        self,
        code: str,
        message: str,
        param: str | None = None,
        request_id: str | None = None,
        status: int | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        super().__init__(code, message, param, request_id, status, retry_after_seconds)
        self.code = code
        """Machine-readable, such as `INVALID_PARAMETER`; `HTTP_<status>` when a proxy answered."""
        self.message = message
        self.param = param
        """The invalid field, such as `input.spans[2].end`."""
        self.request_id = request_id
        """The queued request, if any."""
        self.status = status
        """The HTTP status; None if an accepted request failed later."""
        self.retry_after_seconds = retry_after_seconds
        """How long to wait before another attempt, if the service says so."""

    def __str__(self) -> str:
        field = "" if self.param is None else f" ({self.param})"
        return f"{self.code}{field}: {self.message}"


class UnreachableError(Exception):
    """The service cannot be reached, or a connection to it broke."""


class WebhookError(Exception):
    """The webhook is not from the service, or too old: respond with 400 and do nothing."""
