"""Gives Schemathesis an uploaded file to submit, and hosts that are safe to use."""

import os

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    body = case.body
    if not isinstance(body, dict):
        return
    source = body.get("input")
    if isinstance(source, dict):
        if isinstance(source.get("file_id"), str):
            source["file_id"] = os.environ["WINNOW_FILE_ID"]
        away(source, "audio_url")
    away(body, "audio_url")  # in a form
    away(body, "webhookUrl")
    if "Prefer" in (case.headers or {}):
        case.headers["Prefer"] = "wait=1"  # without an engine, nothing gets separated


def away(fields, name):
    """Uses a name under .invalid, which never resolves (RFC 2606), so that no real host is called."""
    value = fields.get(name)
    if isinstance(value, str) and value.lower().startswith("https:"):
        fields[name] = "https://media.invalid/sound.mp3"
