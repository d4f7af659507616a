"""Stands in for ComfyUI's progress bar; records the values that it shows."""

shown: list[float] = []


class ProgressBar:
    def __init__(self, total: int) -> None:
        self._total = total
        shown.clear()

    def update_absolute(self, value: int, total: int | None = None, preview: object = None) -> None:
        shown.append(value / (total or self._total))
