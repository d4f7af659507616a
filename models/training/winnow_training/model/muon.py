"""Muon (K. Jordan et al., 2024): momentum whose update is made orthogonal, for matrices; a
convolution's weight is one of all that an output takes."""

import math

import torch

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""Coefficients of the quintic Newton-Schulz step that drives singular values towards 1."""
STEPS = 5


def orthogonal(gradients):
    """The nearest matrices with singular values about 1: [count, rows, columns] likewise."""
    x = gradients.bfloat16()
    is_tall = x.shape[1] > x.shape[2]
    x = x.mT if is_tall else x
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    a, b, c = COEFFICIENTS
    for _ in range(STEPS):
        square = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return (x.mT if is_tall else x).float()


class Muon(torch.optim.Optimizer):
    """For matrices and convolutions alone. Its rate is a tensor that a CUDA graph can read."""

    def __init__(self, parameters, lr, momentum=0.95, weight_decay=0.01):
        super().__init__(parameters, dict(lr=lr, momentum=momentum, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            alike = {}
            for parameter in group["params"]:
                alike.setdefault(parameter.shape, []).append(parameter)
            for shape, parameters in alike.items():  # many small products take longer than one
                momenta = torch.stack(self.momenta(parameters, group["momentum"])).flatten(2)
                size = 0.2 * math.sqrt(max(momenta.shape[1:]))
                update = orthogonal(momenta).view(-1, *shape)
                torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
                torch._foreach_sub_(parameters, list(update * (group["lr"] * size)))

    def momenta(self, parameters, share):
        """Nesterov's: where each velocity leads with the gradient as it is here."""
        for parameter in parameters:
            if not self.state[parameter]:
                self.state[parameter]["velocity"] = torch.zeros_like(parameter)
        velocities = [self.state[parameter]["velocity"] for parameter in parameters]
        gradients = [parameter.grad for parameter in parameters]
        torch._foreach_mul_(velocities, share)
        torch._foreach_add_(velocities, gradients)
        return torch._foreach_add(gradients, velocities, alpha=share)
