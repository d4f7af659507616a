"""Stands in for ComfyUI's interruption: the user cancels after `looks_left` checks."""

looks_left: float = float("inf")


class InterruptProcessingException(Exception):
    pass


def throw_exception_if_processing_interrupted() -> None:
    global looks_left
    looks_left -= 1
    if looks_left < 0:
        looks_left = float("inf")
        raise InterruptProcessingException
