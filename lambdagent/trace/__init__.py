"""Events of the machine and exchanges with the world → what people read about a run. Pure."""
