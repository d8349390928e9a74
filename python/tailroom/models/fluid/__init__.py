"""Windows and queue as a fluid: differential equations with delay.

from tailroom.models import fluid

path = fluid.trajectory(link, duration_s=100.0)
"""

from tailroom.models.fluid.fluid import Trajectory, predict, trajectory

__all__ = ["Trajectory", "predict", "trajectory"]
