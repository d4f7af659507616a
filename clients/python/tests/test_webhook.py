"""Tests webhooks; WINNOW_WEBHOOKS names a file with some that the gateway signed."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
from pathlib import Path

import pytest

from winnow_client import WebhookError, verify_webhook

NOW = 1_767_323_045
BODY = '{"type": "audio.separate.failed", "metadata": {"ключ": "é"}}'
SECRET = f"whsec_{base64.b64encode(bytes(range(32))).decode()}"
OTHER = "sixteen letters!"


def headers_of(secret: str, body: str = BODY) -> dict[str, str]:
    key = base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode()
    digest = hmac.new(key, f"msg_1.{NOW}.{body}".encode(), hashlib.sha256).digest()
    return {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(NOW),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def test_what_the_gateway_signs_is_taken() -> None:
    vectors = json.loads(Path(os.environ["WINNOW_WEBHOOKS"]).read_text())
    assert len(vectors) > 100
    for one in vectors:
        event = verify_webhook(one["secret"], one["headers"], one["body"], now=one["now"])
        assert event == json.loads(one["body"])
        with pytest.raises(WebhookError):
            verify_webhook(one["secret"] + "=x", one["headers"], one["body"], now=one["now"])


def test_text_and_bytes_and_header_names_of_any_case_are_taken() -> None:
    for secret in (SECRET, OTHER):
        headers = headers_of(secret)
        titled = {name.title(): value for name, value in headers.items()}
        for given, body in ((headers, BODY), (titled, BODY.encode())):
            assert verify_webhook(secret, given, body, now=NOW) == json.loads(BODY)


def test_one_of_several_signatures_is_enough() -> None:
    headers = headers_of(SECRET)
    wrong = headers_of(OTHER)["webhook-signature"]
    headers["webhook-signature"] = f"v1a,AAAA {wrong} v1, é {headers['webhook-signature']}"
    verify_webhook(SECRET, headers, BODY, now=NOW)


def test_another_body_id_time_or_secret_is_refused() -> None:
    headers = headers_of(SECRET)
    signature = headers["webhook-signature"]

    def refused(changed: dict[str, str], body: str = BODY, secret: str = SECRET) -> None:
        with pytest.raises(WebhookError):
            verify_webhook(secret, {**headers, **changed}, body, now=NOW)

    refused({}, BODY + " ")
    refused({}, BODY, OTHER)
    refused({"webhook-id": "msg_2"})
    refused({"webhook-timestamp": str(NOW + 1)})
    for name in headers:
        refused({name: ""})
    for wrong in (signature[3:], signature.replace("v1", "v2"), "v1,", f"{signature}AAAA"):
        refused({"webhook-signature": wrong})


def test_a_webhook_is_taken_within_five_minutes_and_its_time_must_be_one() -> None:
    headers = headers_of(SECRET)
    for seconds in (-300, 0, 300):
        verify_webhook(SECRET, headers, BODY, now=NOW + seconds)
    for seconds in (-301, 301):
        with pytest.raises(WebhookError, match="within 300 s"):
            verify_webhook(SECRET, headers, BODY, now=NOW + seconds)
    verify_webhook(SECRET, headers, BODY, now=NOW + 3_000, tolerance_seconds=3_000)
    for timestamp in ("now", "1e9", " 1", "-1", "9" * 400, "\u0661"):
        with pytest.raises(WebhookError):
            verify_webhook(SECRET, {**headers, "webhook-timestamp": timestamp}, BODY, now=NOW)
