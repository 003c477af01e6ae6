"""Block memory: sessions as branches of immutable blocks, which converge into one history when they end."""
