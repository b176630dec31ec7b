"""neat-python: feed-forward, recurrent, continuous-time and spiking networks."""
