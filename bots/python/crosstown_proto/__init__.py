"""The wire messages of Crosstown, generated from the proto files. Shared by the referee and the Python SDK."""
