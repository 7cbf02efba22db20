"""The scenes, one a module. Each has the object SCENE, and states the derivation of its exact
answer."""
