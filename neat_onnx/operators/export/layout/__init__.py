"""Operators that change where elements stand: joined, taken apart, moved, repeated, reshaped."""
