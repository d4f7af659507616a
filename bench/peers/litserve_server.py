"""Serves mini's weights with PyTorch behind LitServe, with batching: what somebody might build.

`litserve_server.py --port N --weights FOLDER --encoder FOLDER --batch N --batch-timeout S
--workers N --threads N [--bfloat16]`. `POST /predict` takes JSON, `prompt` and `audio` (a mono WAV
of 32 kHz in base64, one chunk), and answers target and residual as two WAV files of one length, one
after the other. As Winnow does, it keeps what a prompt means.
"""

import argparse
import base64
import io
from collections import defaultdict
from pathlib import Path

import litserve
import numpy as np
import soundfile
import torch
from fastapi import Response
from winnow_training.data.audio import RATE
from winnow_training.data.mixtures import MIXTURE_RMS
from winnow_training.model.checkpoints import load_average
from winnow_training.model.measures import separate
from winnow_training.model.network import match_of, presence
from winnow_training.model.text_encoder import load_encoder


class Separation(litserve.LitAPI):
    def __init__(self, options, **batching):
        super().__init__(**batching)
        self.options = options

    def setup(self, device):
        torch.set_num_threads(self.options.threads)
        self.model, _ = load_average(Path(self.options.weights))
        self.encode = load_encoder(Path(self.options.encoder))
        self.meanings = {}

    def decode_request(self, request):
        samples, rate = soundfile.read(io.BytesIO(base64.b64decode(request["audio"])), dtype="float32")
        if rate != RATE or samples.ndim != 1:
            raise ValueError(f"a mono WAV of {RATE} Hz is needed")
        return samples, request["prompt"]

    def batch(self, inputs):
        return inputs

    def unbatch(self, outputs):
        return outputs

    def predict(self, inputs):
        """Sounds of one length are one batch of the network: padding would change the result."""
        if not isinstance(inputs, list):
            return self.predict([inputs])[0]
        outputs = [None] * len(inputs)
        alike = defaultdict(list)
        for place, (samples, _) in enumerate(inputs):
            alike[len(samples)].append(place)
        for places in alike.values():
            mixtures = np.stack([inputs[place][0] for place in places])
            targets = self.targets(mixtures, [inputs[place][1] for place in places])
            for place, mixture, target in zip(places, mixtures, targets):
                outputs[place] = (target, mixture - target)
        return outputs

    @torch.inference_mode()
    def targets(self, mixtures, prompts):
        """[batch, N] to [batch, N]."""
        waves = torch.from_numpy(mixtures)
        scale = MIXTURE_RMS / waves.square().mean(1, keepdim=True).sqrt().clamp_min(1e-6)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.options.bfloat16):
            targets, first = separate(self.model, waves * scale, self.embeddings(prompts))
        target, activity = (part.float() for part in first)
        gain = presence(match_of(activity, target, waves * scale))[:, None]
        return (targets.float() / scale * gain).numpy()

    def embeddings(self, prompts):
        new = [prompt for prompt in set(prompts) if prompt not in self.meanings]
        if new:
            self.meanings |= dict(zip(new, self.encode(new)))
        return torch.from_numpy(np.stack([self.meanings[prompt] for prompt in prompts]))

    def encode_response(self, output):
        return Response(b"".join(map(wav, output)), media_type="application/octet-stream")


def wav(samples):
    file = io.BytesIO()
    soundfile.write(file, samples, RATE, subtype="PCM_24", format="WAV")
    return file.getvalue()


def main():
    parser = argparse.ArgumentParser()
    for name in ["port", "batch", "workers", "threads"]:
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--batch-timeout", type=float, required=True)
    parser.add_argument("--bfloat16", action="store_true")
    options = parser.parse_args()
    api = Separation(options, max_batch_size=options.batch, batch_timeout=options.batch_timeout)
    server = litserve.LitServer(
        api, accelerator="cpu", workers_per_device=options.workers, timeout=600, fast_queue=True
    )
    server.run(host="127.0.0.1", port=options.port, generate_client_file=False, log_level="warning")


if __name__ == "__main__":
    main()
