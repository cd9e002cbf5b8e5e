"""valkey-py with its defaults: RESP2, CLIENT SETINFO at connect."""

import os

import valkey


def main():
    for url in (os.environ["ONETRIP_URL"], os.environ["ONETRIP_LOCKED_URL"]):
        client = valkey.from_url(url)
        assert client.ping() is True
        names = [f"vk:{n}" for n in range(100)]
        assert client.mset({name: name for name in names}) is True
        assert client.mget(names) == [n.encode() for n in names]
        pipeline = client.pipeline(transaction=False)
        for name in names:
            pipeline.set(name, "x").get(name)
        assert pipeline.execute() == [True, b"x"] * 100
        assert len(set(client.scan_iter("vk:*", count=7))) == 100
        assert client.delete(*names) == 100
        assert client.client_getname() is None
        client.client_setname("checker")
        assert client.client_getname() == "checker"
        client.close()


main()
