"""Tests the nodes against a real service, whose address and key are in WINNOW_URL and
WINNOW_API_KEY.
"""

from __future__ import annotations

import os
import re
import wave
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import comfy.model_management
import comfy.utils
import numpy as np
import pytest
import torch

from winnow_client import ApiError, Client

ROOT = Path(__file__).parents[3]
MIXTURE = ROOT / "examples" / "speech-over-piano.wav"
# Two values are rounded to 24 bits, and their sum to float32.
SUM_ERROR_MAX = 3 / 2**23


def run(package: ModuleType, name: str, **inputs: Any) -> tuple[list[Any], Any, str]:
    """Runs a node as ComfyUI does, from the description in its class."""
    kind = package.NODE_CLASS_MAPPINGS[name]
    outputs = getattr(kind(), kind.FUNCTION)(**inputs)
    assert len(outputs) == len(kind.RETURN_TYPES) == len(kind.RETURN_NAMES)
    for output, is_list in zip(outputs, kind.OUTPUT_IS_LIST, strict=True):
        assert isinstance(output, list) == is_list
    return outputs


def planes_of(path: Path) -> np.ndarray:
    with wave.open(str(path)) as file:
        data = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return (data.reshape(-1, file.getnchannels()).T / 2**15).astype(np.float32)


def audio_of(*items: np.ndarray) -> dict[str, Any]:
    return {"waveform": torch.from_numpy(np.stack(items)), "sample_rate": 44_100}


def sum_error(parts: list[Any], whole: np.ndarray) -> float:
    return float(np.abs(sum(part["waveform"].numpy() for part in parts) - whole).max())


@pytest.fixture
def client() -> Iterator[Client]:
    with Client(os.environ["WINNOW_URL"], os.environ["WINNOW_API_KEY"]) as client:
        yield client


def test_the_nodes_are_declared_and_neither_address_nor_key_is_an_input(
    package: ModuleType,
) -> None:
    assert set(package.NODE_CLASS_MAPPINGS) == set(package.NODE_DISPLAY_NAME_MAPPINGS)
    for kind in package.NODE_CLASS_MAPPINGS.values():
        assert kind.RETURN_TYPES == ("AUDIO", "AUDIO", "STRING")
        inputs = [name for group in kind.INPUT_TYPES().values() for name in group]
        assert not {"url", "address", "key", "api_key"} & set(inputs)


def test_each_sound_of_a_batch_is_separated_also_beyond_1(package: ModuleType) -> None:
    planes = planes_of(MIXTURE)
    batch = np.stack([planes, 2 * planes[:, ::-1]])
    assert np.abs(batch).max() > 1.2
    (target,), residual, findings = run(
        package,
        "WinnowSeparate",
        audio=audio_of(*batch),
        prompt=" piano \n\n",
        acceleration="fast",
        predict_spans=False,
        reranking_candidates=1,
    )
    for output in (target, residual):
        assert output["sample_rate"] == 44_100
        assert tuple(output["waveform"].shape) == batch.shape
        assert np.abs(output["waveform"].numpy()).max() > 0.05
    first, second = findings.splitlines()
    assert first.startswith('1. "piano"')
    assert second.startswith('2. "piano"')
    assert sum_error([target, residual], batch) <= SUM_ERROR_MAX * np.abs(batch).max()
    shown = comfy.utils.shown
    assert shown == sorted(shown)
    assert shown[-1] == 1
    assert len(shown) >= 4


def assert_outputs_of_last_request(client: Client, audio: ModuleType, given: list[Any]) -> None:
    """:param given: a node's outputs for the last request: its targets in order, the residual"""
    data = client.result(client.list(limit=1)["data"][0])["data"]
    outputs = [*data.get("targets", [data["target"]]), data["residual"]]
    for sound, output in zip(given, outputs, strict=True):
        with client.open(output["url"]) as response:
            planes, _ = audio.read_wav(response.read())
        assert np.array_equal(sound["waveform"].numpy()[0], planes)


def test_what_a_node_is_given_is_what_the_service_is_asked_for(
    package: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    submit = Client.submit

    def spy(self: Client, submission: Any, **options: Any) -> Any:
        asked.append(dict(submission["input"]))
        return submit(self, submission, **options)

    monkeypatch.setattr(Client, "submit", spy)
    options = {"acceleration": "fast", "predict_spans": True, "reranking_candidates": 2}
    run(
        package,
        "WinnowSeparate",
        audio=audio_of(planes_of(MIXTURE)),
        prompt=" a bell \n\n piano\n",
        **options,
    )
    del asked[0]["file_id"]
    assert asked == [{"prompts": ["a bell", "piano"], "output_format": "wav", **options}]


def test_several_prompts_have_a_target_each(
    package: ModuleType, client: Client, audio: ModuleType
) -> None:
    planes = planes_of(MIXTURE)
    targets, residual, findings = run(
        package, "WinnowSeparate", audio=audio_of(planes), prompt="a person speaking\npiano"
    )
    speaking, piano = findings.splitlines()
    assert '"a person speaking"' in speaking
    assert piano.startswith('"piano"')
    assert_outputs_of_last_request(client, audio, [*targets, residual])
    assert sum_error([targets[0], targets[1], residual], planes[None]) <= 2 * SUM_ERROR_MAX


def test_a_request_made_elsewhere_is_loaded(
    package: ModuleType, client: Client, audio: ModuleType
) -> None:
    file_id = client.upload(MIXTURE, "audio/wav")
    request = client.submit({"input": {"prompt": "piano", "file_id": file_id}})
    (target,), residual, findings = run(
        package, "WinnowLoad", request_id=f" {request['request_id']} "
    )
    assert findings.startswith('"piano"')
    assert_outputs_of_last_request(client, audio, [target, residual])
    assert sum_error([target, residual], planes_of(MIXTURE)[None]) <= SUM_ERROR_MAX


def test_a_prompt_that_the_model_does_not_know_is_said_so(package: ModuleType) -> None:
    audio = audio_of(planes_of(MIXTURE))
    _, _, findings = run(package, "WinnowSeparate", audio=audio, prompt="qwzrtx plmvb")
    unknown = r'The model does not know "qwzrtx plmvb": its target holds .+ instead\.'
    assert re.match(unknown, findings)


@pytest.mark.parametrize("uploads", [1, 2])
def test_an_interruption_cancels_the_requests(
    package: ModuleType, client: Client, uploads: int
) -> None:
    """Cancels while the second of two sounds is uploaded, and while the service works."""
    long = np.tile(planes_of(MIXTURE), 60)
    before = {one["request_id"] for one in client.list(limit=100)["data"]}
    looks = len(range(0, long.nbytes + 44, 256 * 1024))
    comfy.model_management.looks_left = uploads * looks + 1
    with pytest.raises(comfy.model_management.InterruptProcessingException):
        run(package, "WinnowSeparate", audio=audio_of(long, long), prompt="piano")
    made = [one for one in client.list(limit=100)["data"] if one["request_id"] not in before]
    assert len(made) == uploads
    for one in made:
        with pytest.raises(ApiError) as raised:
            client.wait(one)
        assert raised.value.code == "CANCELED"


def test_what_is_wrong_is_told(
    package: ModuleType, service: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    audio = audio_of(planes_of(MIXTURE))

    def separate(prompt: str = "piano") -> None:
        run(package, "WinnowSeparate", audio=audio, prompt=prompt)

    with pytest.raises(ValueError, match="The prompt is empty"):
        separate(" \n")
    with pytest.raises(ApiError, match=r"INVALID_PARAMETER.*prompts"):
        separate("\n".join("abcdefghi"))
    monkeypatch.setenv("WINNOW_API_KEY", "wrong")
    with pytest.raises(ApiError, match="UNAUTHENTICATED"):
        separate()
    monkeypatch.delenv("WINNOW_API_KEY")
    monkeypatch.setattr(service, "KEY_FILE", tmp_path / "api-key")
    with pytest.raises(ValueError, match=f"write the key of the service to {tmp_path}"):
        separate()
    (tmp_path / "api-key").write_text("another-wrong-key\n")
    with pytest.raises(ApiError, match="UNAUTHENTICATED"):
        separate()
    monkeypatch.setenv("WINNOW_URL", "http://127.0.0.1:1")
    with pytest.raises(RuntimeError, match=r":1 does not answer.*WINNOW_URL names"):
        separate()


def test_the_key_of_the_file_is_used(
    package: ModuleType, service: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "api-key").write_text(os.environ["WINNOW_API_KEY"] + "\n")
    monkeypatch.setattr(service, "KEY_FILE", tmp_path / "api-key")
    monkeypatch.delenv("WINNOW_API_KEY")
    with service.connected() as connected:
        assert connected.models()["data"]


def test_wav_files_keep_samples_and_other_files_are_refused(audio: ModuleType) -> None:
    planes = np.array([[0, 0.5, -1], [1 - 2**-23, 3, -(2**-23)]], np.float32)
    file = audio.write_wav(planes, 8_000)
    assert np.frombuffer(file[44:], "<f4").tolist() == planes.T.flatten().tolist()
    with pytest.raises(ValueError, match="32 bits in place of 24"):
        audio.read_wav(file)
    with pytest.raises(ValueError, match="other than a WAV file"):
        audio.read_wav(b"ID3" + bytes(100))
