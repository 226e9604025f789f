"""Measurements that claims need and no figure shows."""
