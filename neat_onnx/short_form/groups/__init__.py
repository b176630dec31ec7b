"""Groups of nodes in place of which one operator can stand: how a finder reads them."""
