"""A Redis server for the tests of stores."""

from tests.redis_server import redis_url, server

__all__ = ["redis_url", "server"]
