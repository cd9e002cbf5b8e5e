"""redis-py with its defaults: RESP3, health checks, pipelines, scans, both sync and asyncio."""

import asyncio
import os

import redis
import redis.asyncio

URL = os.environ["ONETRIP_URL"]
LOCKED_URL = os.environ["ONETRIP_LOCKED_URL"]


def basics(client):
    assert client.ping() is True
    names = [f"py:{n}" for n in range(100)]
    assert client.mset({name: name for name in names}) is True
    assert client.mget(names + ["py:nothing"]) == [n.encode() for n in names] + [None]
    pipeline = client.pipeline(transaction=False)
    for name in names:
        pipeline.get(name)
    pipeline.incr("py:counter")
    pipeline.incr(names[0])
    replies = pipeline.execute(raise_on_error=False)
    assert replies[:100] == [n.encode() for n in names]
    assert replies[100] == 1
    assert isinstance(replies[101], redis.ResponseError), replies[101]
    assert len(set(client.scan_iter("py:*"))) == 101
    assert set(client.keys("py:1?")) == {f"py:{n}".encode() for n in range(10, 20)}
    assert client.set("py:ttl", "v", ex=100) is True and 98 <= client.ttl("py:ttl") <= 100
    assert client.set("py:ttl", "w", nx=True) is None
    assert client.delete(*names, "py:counter", "py:ttl") == 102
    assert client.exists(*names) == 0


def types(client):
    client.hset("py:hash", mapping={"a": "1", "b": "2"})
    assert client.hgetall("py:hash") == {b"a": b"1", b"b": b"2"}
    client.rpush("py:list", 1, 2, 3)
    assert client.lrange("py:list", 0, -1) == [b"1", b"2", b"3"]
    client.sadd("py:set", "a", "b")
    assert client.smembers("py:set") == {b"a", b"b"}
    client.zadd("py:zset", {"a": 1.5, "b": 2})
    assert client.zscore("py:zset", "a") == 1.5
    stream = client.xadd("py:stream", {"f": "v"})
    assert client.xrange("py:stream")[0][0] == stream
    assert client.delete("py:hash", "py:list", "py:set", "py:zset", "py:stream") == 5


def errors(client):
    try:
        client.execute_command("RENAME", "py:a", "py:b")
    except redis.ResponseError as error:
        assert "CROSSSLOT" in str(error) or "same slot" in str(error), error
    else:
        raise AssertionError("RENAME over two slots was not refused")
    assert client.info()["redis_mode"] == "standalone"
    assert client.info("server")["redis_version"]
    assert client.config_get("maxmemory*")["maxmemory-policy"]
    assert client.dbsize() == 0


async def with_asyncio():
    client = redis.asyncio.from_url(URL, health_check_interval=1)
    names = [f"aio:{n}" for n in range(200)]
    # Fewer at a time than the pool has connections by default.
    for some in (names[:60], names[60:120], names[120:]):
        await asyncio.gather(*(client.set(name, name) for name in some))
        values = await asyncio.gather(*(client.get(name) for name in some))
        assert values == [n.encode() for n in some]
    found = {key async for key in client.scan_iter("aio:*", count=50)}
    assert len(found) == 200
    assert await client.unlink(*names) == 200
    await client.aclose()


def main():
    for options in ({}, {"protocol": 2}, {"health_check_interval": 1, "client_name": "checker"}):
        client = redis.from_url(URL, **options)
        basics(client)
        types(client)
        errors(client)
        client.close()
    locked = redis.from_url(LOCKED_URL)
    basics(locked)
    try:
        redis.from_url(LOCKED_URL.replace("secret", "wrong")).ping()
    except redis.AuthenticationError:
        pass
    else:
        raise AssertionError("a wrong password was taken")
    asyncio.run(with_asyncio())


main()
