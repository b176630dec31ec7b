"""Products of tensors: by constants, of computed ones, of integers."""
