"""ComfyUI's interruption: a user presses Cancel after so many looks at it."""

looks_left: float = float("inf")


class InterruptProcessingException(Exception):
    pass


def throw_exception_if_processing_interrupted() -> None:
    global looks_left
    looks_left -= 1
    if looks_left < 0:
        looks_left = float("inf")
        raise InterruptProcessingException
