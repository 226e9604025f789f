"""Every finite group: what the paper does for Z_p, found again in trained networks. A report of our own."""
