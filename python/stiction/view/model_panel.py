"""The contact model of each simulation, and the parameters of all, changed while they run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from stiction._core import contact_models
from stiction.errors import Error
from stiction.setup.options import OPTIONS, Option
from stiction.view.gui_events import on_user
from stiction.view.runner import Runner
from stiction.view.simulation import Simulation

# Options that the page chooses itself, and those that change nothing that one could see.
_HIDDEN = ("contact_model", "on_failure", "trace", "num_threads", "max_memory_gb")
_NONE = "None"


class ModelPanel:
    """The contact models and the parameters, made in the current container of the page."""

    def __init__(self, server: Any, runner: Runner, simulations: Sequence[Simulation]) -> None:
        self._runner = runner
        self._simulations = simulations
        gui = server.gui
        for i, simulation in enumerate(simulations):
            label = f"Model {i + 1}" if len(simulations) > 1 else "Contact model"
            choice = gui.add_dropdown(
                label, tuple(contact_models()), initial_value=simulation.contact_model
            )
            on_user(choice.on_update, partial(self._choose, simulation))
        with gui.add_folder("Parameters", expand_by_default=False):
            options = simulations[0].simulator.options
            self._fields = {
                option.name: _add_field(gui, option, options.get(option.name))
                for option in OPTIONS.values()
                if option.name not in _HIDDEN and not isinstance(options.get(option.name), dict)
            }
            self._shown = {name: field.value for name, field in self._fields.items()}
            apply = gui.add_button("Apply", hint="Continues with these parameters.")
            on_user(apply.on_click, lambda _: self._runner.submit(self._apply))

    def _choose(self, simulation: Simulation, event: Any) -> None:
        self._runner.submit(partial(simulation.change, event.target.value))

    def _apply(self) -> None:
        """Gives the parameters that were edited to all simulations, or raises Error."""
        edited = {
            name: field.value
            for name, field in self._fields.items()
            if field.value != self._shown[name]
        }
        values = {name: _parse(OPTIONS[name], value) for name, value in edited.items()}
        for simulation in self._simulations:
            simulation.change(**values)
        self._shown |= edited


def _add_field(gui: Any, option: Option, value: Any) -> Any:
    """Adds the input of an option."""
    label, hint = option.name, f"{option.help} {option.describe_values()}"
    if option.unit:
        label += f" [{option.unit}]"
    if option.kind == "flag":
        return gui.add_checkbox(label, initial_value=bool(value), hint=hint)
    if option.kind == "choice":
        return gui.add_dropdown(label, tuple(option.choices), initial_value=value, hint=hint)
    text = _NONE if value is None else repr(float(value)) if option.kind == "number" else str(value)
    return gui.add_text(label, initial_value=text, hint=hint)


def _parse(option: Option, value: Any) -> Any:
    """Returns the value of an input, or raises Error."""
    if option.kind in ("flag", "choice"):
        return value
    text = str(value).strip()
    if option.is_optional and text in (_NONE, ""):
        return None
    try:
        return float(text) if option.kind == "number" else int(text)
    except ValueError as e:
        raise Error(
            "invalid_value", option.name, f"'{text}' is not a number; it must be {option.range}"
        ) from e
