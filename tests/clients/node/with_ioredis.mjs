// ioredis with its defaults: its ready check reads INFO; pipelines, auto-pipelining, scan streams.

import assert from "node:assert/strict";
import { Redis } from "ioredis";

async function check(url, options) {
  const client = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1, ...options });
  await client.connect();
  assert.equal(client.status, "ready");
  assert.equal(await client.ping(), "PONG");
  const names = Array.from({ length: 100 }, (_, n) => `io:${n}`);
  assert.equal(await client.mset(...names.flatMap((name) => [name, name])), "OK");
  assert.deepEqual(await client.mget(...names), names);
  const pipeline = client.pipeline();
  for (const name of names) pipeline.get(name);
  pipeline.incr(names[0]);
  const replies = await pipeline.exec();
  assert.deepEqual(replies.slice(0, 100), names.map((name) => [null, name]));
  assert.match(replies[100][0].message, /not an integer/);
  assert.deepEqual(await Promise.all(names.map((name) => client.get(name))), names);
  const found = new Set();
  for await (const keys of client.scanStream({ match: "io:*", count: 30 })) {
    for (const key of keys) found.add(key);
  }
  assert.equal(found.size, 100);
  assert.equal(await client.del(...names), 100);
  await client.quit();
}

await check(process.env.ONETRIP_URL, {});
await check(process.env.ONETRIP_URL, { enableAutoPipelining: true, connectionName: "checker" });
await check(process.env.ONETRIP_LOCKED_URL, {});
