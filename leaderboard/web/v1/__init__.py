"""`/api/v1`: the interface for programs, with FastAPI. `loading` serves it, and loads FastAPI for the first request."""
