"""Programs that call mujoco.mj_step themselves, and how a patch makes them step with Stiction."""
