"""Nodes of ComfyUI that separate sounds with a Winnow service."""

from .nodes import WinnowLoad, WinnowSeparate

NODE_CLASS_MAPPINGS = {"WinnowSeparate": WinnowSeparate, "WinnowLoad": WinnowLoad}
NODE_DISPLAY_NAME_MAPPINGS = {
    "WinnowSeparate": "Separate Sound (Winnow)",
    "WinnowLoad": "Load Separation (Winnow)",
}

__all__ = ["NODE_CLASS_MAPPINGS", "NODE_DISPLAY_NAME_MAPPINGS"]
