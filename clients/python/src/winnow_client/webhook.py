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
# Base64, with or without padding.
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?")


def verify_webhook(
    secret: str,
    headers: Mapping[str, str],
    body: str | bytes,
    *,
    tolerance_seconds: float = _TOLERANCE_SECONDS,
    now: float | None = None,
) -> WebhookEvent:
    """Returns the event of a webhook whose signature and age are valid.

    The same event may arrive more than once, with the same `webhook-id`.

    :param secret: the `webhookSecret` of the submit, or the `signing_secret` in its response
    :param headers: of the webhook's request, in any case
    :param body: the bytes as they arrived, not parsed and serialized again
    :param tolerance_seconds: how far the sender's clock and ours may differ
    :param now: seconds since the epoch; by default the current time
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
    candidates = signatures.encode().split(b" ")
    if not any(hmac.compare_digest(signature, expected) for signature in candidates):
        raise WebhookError("No signature fits; is this the right secret?")
    return cast(WebhookEvent, json.loads(content))


def _key_of(secret: str) -> bytes:
    """Returns the key: decodes base64 after the prefix `whsec_`, and takes other text as it is."""
    prefix, coded = secret[:6], secret[6:]
    if prefix == "whsec_" and coded and _BASE64.fullmatch(coded):
        return base64.b64decode(coded + "=" * (-len(coded) % 4))
    return secret.encode()
