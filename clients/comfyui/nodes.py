"""Defines the nodes by ComfyUI's conventions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from winnow_client.types import Input

from .audio import Audio, batch_of, items_of, write_wav
from .service import Download, canceled_on_error, connected, download, wait

_CATEGORY = "audio/winnow"
# Share of the upload in the progress of one sound; the rest is the separation.
_UPLOAD_PART = 0.1
_PROGRESS_STEPS = 1_000

Outputs = tuple[list[Audio], Audio, str]


def _progress(count: int) -> Callable[[int, float, float], Callable[[float], None]]:
    """Shows the progress of `count` sounds, and raises once the user cancels.

    :returns: a function of a sound's index and the range of a step, which returns a function that
        shows the progress of that step
    """
    import comfy.model_management
    import comfy.utils

    bar = comfy.utils.ProgressBar(_PROGRESS_STEPS)
    parts = [0.0] * count

    def part_of(index: int, start: float, end: float) -> Callable[[float], None]:
        def show(part: float) -> None:
            comfy.model_management.throw_exception_if_processing_interrupted()
            parts[index] = start + (end - start) * part
            bar.update_absolute(round(_PROGRESS_STEPS * sum(parts) / count), _PROGRESS_STEPS)

        return show

    return part_of


class WinnowSeparate:
    """Separates the sounds that the prompts describe; each sound of a batch is one request."""

    CATEGORY = _CATEGORY
    FUNCTION = "separate"
    RETURN_TYPES = ("AUDIO", "AUDIO", "STRING")
    RETURN_NAMES = ("target", "residual", "findings")
    # The targets are a list, one per prompt; ComfyUI runs later nodes for each.
    OUTPUT_IS_LIST = (True, False, False)

    @classmethod
    def INPUT_TYPES(cls) -> dict[str, Any]:
        prompt = {"multiline": True, "placeholder": "A sound, such as: dog barking\nOne a line."}
        return {
            "required": {"audio": ("AUDIO",), "prompt": ("STRING", prompt)},
            "optional": {
                "acceleration": (["fast", "balanced", "quality"], {"default": "balanced"}),
                "predict_spans": ("BOOLEAN", {"default": False}),
                "reranking_candidates": ("INT", {"default": 1, "min": 1, "max": 8}),
            },
        }

    def separate(self, audio: Audio, prompt: str, **options: Any) -> Outputs:
        prompts = [line.strip() for line in prompt.splitlines() if line.strip()]
        if not prompts:
            raise ValueError("The prompt is empty: write the sound to extract, one a line.")
        items = items_of(audio)
        # Louder samples than 1 do not fit into the service's files, so they are scaled down, and
        # back up.
        scale = max(1.0, *(float(np.abs(planes).max(initial=0)) for planes in items))
        part_of = _progress(len(items))
        results = []
        with connected() as client, canceled_on_error(client) as request_ids:
            for index, planes in enumerate(items):
                file_id = client.upload_blob(
                    "comfyui.wav",
                    "audio/wav",
                    write_wav(planes / np.float32(scale), audio["sample_rate"]),
                    part_of(index, 0, _UPLOAD_PART),
                )
                request = client.submit({"input": _input(prompts, file_id, options)})
                request_ids.append(request["request_id"])
            for index, request_id in enumerate(request_ids):
                result = wait(client, request_id, part_of(index, _UPLOAD_PART, 1))
                results.append(download(client, result))
        return _outputs(results, np.float32(scale))


class WinnowLoad:
    """Loads the result of a request made elsewhere, such as on the page."""

    CATEGORY = _CATEGORY
    FUNCTION = "load"
    RETURN_TYPES = WinnowSeparate.RETURN_TYPES
    RETURN_NAMES = WinnowSeparate.RETURN_NAMES
    OUTPUT_IS_LIST = WinnowSeparate.OUTPUT_IS_LIST

    @classmethod
    def INPUT_TYPES(cls) -> dict[str, Any]:
        return {"required": {"request_id": ("STRING", {"placeholder": "req_…"})}}

    def load(self, request_id: str) -> Outputs:
        show = _progress(1)(0, 0, 1)
        with connected() as client:
            result = wait(client, request_id.strip(), show)
            return _outputs([download(client, result)], np.float32(1))


def _input(prompts: list[str], file_id: str, options: dict[str, Any]) -> Input:
    several: Input = {"prompts": prompts} if len(prompts) > 1 else {"prompt": prompts[0]}
    chosen: Input = {**several, "file_id": file_id, "output_format": "wav"}
    chosen.update(options)  # type: ignore[typeddict-item]
    return chosen


def _outputs(results: list[Download], scale: np.float32) -> Outputs:
    """Combines the results of a batch of sounds: a batch for each target, and one of residuals."""
    sample_rate = results[0].sample_rate
    by_prompt = zip(*(result.targets for result in results), strict=True)
    targets = [batch_of([scale * planes for planes in items], sample_rate) for items in by_prompt]
    residual = batch_of([scale * result.residual for result in results], sample_rate)
    return targets, residual, _text_of([result.findings for result in results])


def _text_of(findings: list[list[str]]) -> str:
    """Returns a line per prompt; with several sounds, prefixed with the number of the sound."""
    if len(findings) == 1:
        return "\n".join(findings[0])
    lines = [f"{number}. {line}" for number, sound in enumerate(findings, 1) for line in sound]
    return "\n".join(lines)
