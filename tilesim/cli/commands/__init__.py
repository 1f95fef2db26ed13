"""The commands, a file each: it defines a click command named `command`."""
