"""Batches that other processes make, in memory that all of them share."""

import os
import queue
import threading
from multiprocessing import parent_process

import numpy as np
import torch
import torch.multiprocessing as multiprocessing

from winnow_training.data.mixtures import SAMPLES, TOKENS, batch, training_bank
from winnow_training.model.network import TEXT
from winnow_training.model.remix import Remixer

QUERIES = 2
ABSENT, ASKED = 3, 6
"""Places in a batch."""
SPARE = 4
"""Batches that may be ready while every process makes another."""
LOADED = 2
"""Batches on the device before they are needed."""
SECONDS = 5
"""Between two looks at whether the other side is still there."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Feed:
    """Batches without end, as `batch` returns them, on `options.device`."""

    def __init__(self, options, step: int):
        context = multiprocessing.get_context("spawn")
        self.device, self.count, self.can_pin = options.device, options.batch, True
        self.ready, self.free = context.Queue(), context.Queue()
        floats = sum(np.prod(shape) for shape in batch_shapes(self.count))
        slots = options.workers + SPARE
        self.memory = torch.empty(slots, int(floats)).share_memory_()
        for slot in range(slots):
            self.free.put(slot)
        os.environ.update(ONE_THREAD)  # for the processes; this one has read it before
        queues = (self.memory, self.ready, self.free)
        self.workers = [
            context.Process(
                target=make_batches,
                args=(*queues, options, [options.seed, step, number]),
                daemon=True,
            )
            for number in range(options.workers)
        ]
        for worker in self.workers:
            worker.start()
        self.remixer = None
        if options.device != "cpu":
            self.remixer = Remixer([options.seed, step], options.alike)
        self.loaded = queue.Queue(LOADED)
        threading.Thread(target=self.load_batches, daemon=True).start()

    def take(self) -> list[torch.Tensor]:
        """Returns the next batch, or a remix of earlier ones where that is not ready."""
        if self.remixer and self.loaded.empty() and (made := self.remixer.make()):
            return made
        loaded = self.loaded.get()
        if isinstance(loaded, Exception):
            raise loaded
        tensors, asked, absent = loaded
        if self.remixer:
            self.remixer.keep(tensors, asked, absent)
        return tensors

    def load_batches(self):
        try:
            while True:
                slot = self.wait_for_slot()
                shared = split_batch(self.memory[slot], self.count)
                asked, absent = (shared[field].numpy().copy() for field in (ASKED, ABSENT))
                loaded = self.load(self.memory[slot])
                self.free.put(slot)
                self.loaded.put((split_batch(loaded, self.count), asked, absent))
        except Exception as error:
            self.loaded.put(error)

    def wait_for_slot(self) -> int:
        while True:
            try:
                return self.ready.get(timeout=SECONDS)
            except queue.Empty:
                if not any(worker.is_alive() for worker in self.workers):
                    raise WorkersEnded("all processes that make mixtures have ended") from None

    def load(self, shared: torch.Tensor) -> torch.Tensor:
        """Copies a slot to the device: through pinned memory, so that no step waits for it."""
        if self.device == "cpu":
            return shared.clone()
        if self.can_pin:
            try:
                pinned = torch.empty(shared.shape, pin_memory=True).copy_(shared)
                return pinned.to(self.device, non_blocking=True)
            except RuntimeError as error:
                self.can_pin = False
                print(f"goes on without pinned memory: {error}", flush=True)
        return shared.to(self.device)


class WorkersEnded(RuntimeError):
    """No further batch will come."""


def batch_shapes(count: int) -> list[tuple[int, ...]]:
    """Shapes of what `batch` returns."""
    each = (count, QUERIES)
    return [
        (count, SAMPLES),
        (*each, SAMPLES),
        (*each, TEXT),
        each,
        (*each, TOKENS),
        (*each, TOKENS, 2),
        each,
    ]


def split_batch(flat: torch.Tensor, count: int) -> list[torch.Tensor]:
    """Views of a batch's tensors in a flat one."""
    shapes = batch_shapes(count)
    parts = flat.split([int(np.prod(shape)) for shape in shapes])
    return [part.view(shape) for part, shape in zip(parts, shapes)]


def make_batches(memory, ready, free, options, seed):
    torch.set_num_threads(1)
    os.nice(2)  # the steps should not wait for a CPU
    rng, earlier, bank = np.random.default_rng(seed), None, None
    while parent_process().is_alive():
        if (banks := list_banks(options.cache)) != earlier:  # more may be unpacked meanwhile
            earlier, bank = banks, training_bank(options.cache)
        made = batch(bank, rng, options.batch, QUERIES, options.alike)
        if (slot := wait_for_free(free)) is None:
            return
        for view, array in zip(split_batch(memory[slot], options.batch), made):
            view.copy_(torch.from_numpy(array))
        ready.put(slot)


def list_banks(cache) -> list:
    return sorted(cache.rglob("train-*.npy"))


def wait_for_free(free) -> int | None:
    """Returns a slot that may be written; None when the parent process has ended."""
    while parent_process().is_alive():
        try:
            return free.get(timeout=SECONDS)
        except queue.Empty:
            continue
    return None
