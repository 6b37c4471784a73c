"""The stream between a client and a server: frames, the start, the log-in, and statements."""
