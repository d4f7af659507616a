"""Checks and reads webhooks, which are signed by Standard Webhooks (v1, HMAC-SHA256)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from typing import cast

from .errors import WebhookError
from .types import WebhookEvent

_TOLERANCE_SECONDS = 300
# With or without its padding.
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?")


def verify_webhook(
    secret: str,
    headers: Mapping[str, str],
    body: str | bytes,
    *,
    tolerance_seconds: float = _TOLERANCE_SECONDS,
    now: float | None = None,
) -> WebhookEvent:
    """The event that a webhook carries, once its signature and its age are found right.

    The same event may come more than once, with the same `webhook-id`.

    :param secret: `webhookSecret` as it was submitted, or the `signing_secret` that submit answered
    :param headers: those of the request, in any case
    :param body: its bytes as they came, not parsed and written again
    :param tolerance_seconds: how far the sender's clock and ours may be apart
    :param now: seconds since the epoch; by default the time
    :raises WebhookError:
    """
    fields = {name.lower(): value for name, value in headers.items()}
    webhook_id, timestamp, signatures = (
        fields.get(f"webhook-{name}") for name in ("id", "timestamp", "signature")
    )
    if not webhook_id or not timestamp or not signatures:
        raise WebhookError("A webhook header is missing.")
    seconds = int(timestamp) if re.fullmatch(r"[0-9]{1,15}", timestamp) else None
    now = time.time() if now is None else now
    if seconds is None or abs(now - seconds) > tolerance_seconds:
        raise WebhookError(f"webhook-timestamp is not within {tolerance_seconds:g} s of now.")
    content = body.encode() if isinstance(body, str) else body
    signed = f"{webhook_id}.{timestamp}.".encode() + content
    digest = hmac.new(_key_of(secret), signed, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    if not any(hmac.compare_digest(one.encode(), expected) for one in signatures.split(" ")):
        raise WebhookError("No signature fits; is this the right secret?")
    return cast(WebhookEvent, json.loads(content))


def _key_of(secret: str) -> bytes:
    """The key: base64 after the prefix `whsec_` is decoded; other text gives its bytes."""
    prefix, coded = secret[:6], secret[6:]
    if prefix == "whsec_" and coded and _BASE64.fullmatch(coded):
        return base64.b64decode(coded + "=" * (-len(coded) % 4))
    return secret.encode()
