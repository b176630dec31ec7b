"""Where, Trilu and masks: the groups of nodes that choose between tensors."""
