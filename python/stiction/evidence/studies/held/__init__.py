"""Study of bodies that are held: how fast they creep, by model, load, time step and stiffness."""
