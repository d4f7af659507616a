"""A client of a Winnow service: its HTTP API as functions, blocking and for asyncio."""

from .async_client import AsyncClient
from .client import Client
from .errors import ApiError, UnreachableError, WebhookError
from .webhook import verify_webhook

__all__ = [
    "ApiError",
    "AsyncClient",
    "Client",
    "UnreachableError",
    "WebhookError",
    "verify_webhook",
]
