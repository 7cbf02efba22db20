"""Infos as Gymnasium's vector environments return them: arrays, with a mask of the valid rows each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction.gym.task import Bools


def add_infos(infos: dict[str, Any], values: Mapping[str, NDArray[Any]], mask: Bools) -> None:
    """Writes rows of values into infos, and marks them.

    The mask of `key` is `_key`, and rows that are not marked are 0. As in Gymnasium, a key that would
    have no row is absent.

    Args:
        infos: the infos, which are changed.
        values: arrays with a row for each environment.
        mask: the environments whose rows count.
    """
    if not mask.any():
        return
    for key, value in values.items():
        if key not in infos:
            infos[key] = np.zeros_like(value)
            infos[f"_{key}"] = np.zeros(len(mask), bool)
        infos[key][mask] = value[mask]
        infos[f"_{key}"][mask] = True


def add_final(
    infos: dict[str, Any], observations: Any, values: Mapping[str, NDArray[Any]], done: Bools
) -> None:
    """Writes the last observations and infos of episodes, as `final_obs` and `final_info`.

    Args:
        observations, values: of all environments, before those of the finished episodes are reset.
        done: the environments whose episode is over.
    """
    if not done.any():
        return
    final_info: dict[str, Any] = {}
    add_infos(final_info, values, done)
    final_obs = np.full(len(done), None, object)
    for i in np.flatnonzero(done):
        final_obs[i] = take_row(observations, int(i))
    infos |= {"final_obs": final_obs, "_final_obs": done.copy()}
    infos |= {"final_info": final_info, "_final_info": done.copy()}


def take_row(observations: Any, row: int) -> Any:
    """Returns a copy of the observation of one environment."""
    if isinstance(observations, dict):
        return {key: take_row(value, row) for key, value in observations.items()}
    return observations[row].copy()
