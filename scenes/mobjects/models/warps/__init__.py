"""Warps: what their lanes do, what they load, how long they wait, and how many an SM takes."""
