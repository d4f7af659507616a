from __future__ import annotations

import pytest

from winnow_client._event_stream import EventReader

TEXT = ": hello\n\nevent: status\ndata: {é}\n\nevent: x\r\ndata:1\r\ndata: 2\r\n\r\ndata: 3\n\nrest"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000])
def test_events_are_the_same_however_their_bytes_are_cut(size: int) -> None:
    data = TEXT.encode()
    reader = EventReader()
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    events = [event for piece in pieces for event in reader.read(piece)]
    assert events == [("status", "{é}"), ("x", "1\n2"), ("message", "3")]
