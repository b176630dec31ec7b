"""Running sums and products along an axis."""
