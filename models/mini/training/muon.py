"""Muon (K. Jordan et al., 2024): momentum whose update is made orthogonal, for matrices."""

import math

import torch

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""Of the quintic Newton-Schulz step that drives singular values towards 1."""


def orthogonal(gradient, steps=5):
    """The nearest matrix with singular values about 1: [..., rows, columns] likewise."""
    x = gradient.bfloat16()
    is_tall = x.shape[-2] > x.shape[-1]
    x = x.mT if is_tall else x
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    a, b, c = COEFFICIENTS
    for _ in range(steps):
        square = x @ x.mT
        x = a * x + (b * square + c * (square @ square)) @ x
    return (x.mT if is_tall else x).float()


class Muon(torch.optim.Optimizer):
    """For parameters of two or three dimensions; the last two are the matrix."""

    def __init__(self, parameters, lr, momentum=0.95, weight_decay=0.01):
        super().__init__(parameters, dict(lr=lr, momentum=momentum, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                state = self.state[parameter]
                if not state:
                    state["velocity"] = torch.zeros_like(parameter)
                velocity = state["velocity"].mul_(group["momentum"]).add_(parameter.grad)
                update = orthogonal(parameter.grad + group["momentum"] * velocity)
                size = 0.2 * math.sqrt(max(parameter.shape[-2:]))
                parameter.mul_(1 - group["lr"] * group["weight_decay"])
                parameter.add_(update, alpha=-group["lr"] * size)
