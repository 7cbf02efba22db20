"""Study of a planned gait, replayed under other contact models and time steps."""
