// node-redis with its defaults: RESP3 and a pipeline per tick; then RESP2, and a password.

import assert from "node:assert/strict";
import { createClient } from "redis";

async function check(url, options) {
  const client = createClient({ url, ...options });
  client.on("error", (error) => {
    throw error;
  });
  await client.connect();
  assert.equal(await client.ping(), "PONG");
  const names = Array.from({ length: 100 }, (_, n) => `node:${n}`);
  // Everything of one tick goes out in one write.
  const replies = await Promise.all([
    ...names.map((name) => client.set(name, name)),
    ...names.map((name) => client.get(name)),
    client.incr("node:counter"),
    client.mGet(names),
  ]);
  assert.deepEqual(replies.slice(0, 100), names.map(() => "OK"));
  assert.deepEqual(replies.slice(100, 200), names);
  assert.equal(replies[200], 1);
  assert.deepEqual(replies[201], names);
  await client.mSet(names.flatMap((name) => [name, "x"]));
  const found = new Set();
  for await (const keys of client.scanIterator({ MATCH: "node:*", COUNT: 20 })) {
    for (const key of [keys].flat()) found.add(key);
  }
  assert.equal(found.size, 101);
  await assert.rejects(client.incr(names[0]), /not an integer/);
  assert.equal(await client.get("node:nothing"), null);
  assert.equal(await client.del([...found]), 101);
  assert.match(await client.info("server"), /redis_version:/);
  await client.close();
}

await check(process.env.ONETRIP_URL, {});
await check(process.env.ONETRIP_URL, { RESP: 3 });
await check(process.env.ONETRIP_URL, { RESP: 2, name: "checker" });
await check(process.env.ONETRIP_LOCKED_URL, {});
