// Asks /api/shards every two seconds and shows what changed. Everything is set as text, never as markup.
"use strict";

const EVERY_MS = 2000;
const at = (id) => document.getElementById(id);
const rates = [];
let before = null;

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const count = (n) => (n < 100000 ? whole.format(Math.round(n)) : short.format(n));
const known = (value, show) => (value === null || value === undefined ? "–" : show(value));
const percent = (part) => `${(part * 100).toFixed(part > 0.995 || part < 0.1 ? 1 : 0)} %`;

function bytes(n) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (n >= 1000 && unit < units.length - 1) { n /= 1000; unit++; }
  return `${n < 10 && unit > 0 ? n.toFixed(1) : Math.round(n)} ${units[unit]}`;
}

function span(seconds) {
  if (seconds <= 0) return "–";
  if (seconds < 1) return `${(seconds * 1000).toFixed(1)} ms`;
  if (seconds < 120) return `${seconds.toFixed(0)} s`;
  if (seconds < 7200) return `${(seconds / 60).toFixed(0)} min`;
  return `${(seconds / 3600).toFixed(0)} h`;
}

/** What a side paid and saved, in a number, a bar and a sentence. */
function side(name, figures, sentence) {
  at(`${name}-saved`).textContent = count(figures.round_trips_saved);
  const part = figures.commands ? figures.round_trips_saved / figures.commands : 0;
  at(`${name}-bar`).style.width = `${part * 100}%`;
  at(`${name}-note`).textContent = figures.round_trips
    ? `${percent(part)} of ${count(figures.commands)} ${sentence}: ${(figures.commands / figures.round_trips).toFixed(1)} commands a trip`
    : "nothing yet";
}

/** Per second, since the answer before; a restart of onetrip starts anew. */
function rate(now, then, seconds) {
  return then === undefined || seconds <= 0 || now < then ? 0 : (now - then) / seconds;
}

function spark(perSecond) {
  rates.push(perSecond);
  if (rates.length > 120) rates.shift();
  const top = Math.max(1, ...rates);
  const points = rates.map((value, i) => `${240 - (rates.length - 1 - i) * 2},${(38 - 36 * value / top).toFixed(1)}`);
  document.querySelector("#spark polyline").setAttribute("points", points.join(" "));
  return top;
}

function cell(row, text, style) {
  const td = row.insertCell();
  td.textContent = text;
  if (style) td.className = style;
  return td;
}

function shardRow(shard, perSecond, share) {
  const row = document.createElement("tr");
  cell(row, shard.id);
  cell(row, shard.name, "text");
  const state = shard.up === null ? ["not tried", ""] : shard.up ? ["up", "good"] : ["down", "bad"];
  cell(row, state[0], `text ${state[1]}`);
  cell(row, count(perSecond));
  const bar = cell(row, "", "text").appendChild(document.createElement("div"));
  bar.className = "bar";
  bar.title = percent(share);
  bar.appendChild(document.createElement("i")).style.width = `${share * 100}%`;
  cell(row, shard.round_trips ? (shard.commands / shard.round_trips).toFixed(1) : "–");
  cell(row, known(shard.keys, count));
  cell(row, known(shard.memory_bytes, bytes));
  cell(row, known(shard.busy_ratio, percent));
  cell(row, count(shard.in_flight));
  cell(row, span(shard.oldest_in_flight_s));
  cell(row, bytes(shard.bytes_sent));
  cell(row, bytes(shard.bytes_received));
  return row;
}

function show(now) {
  const then = before && before.uptime_s < now.uptime_s ? before : null;
  const seconds = then ? now.uptime_s - then.uptime_s : 0;
  before = now;

  at("state").textContent = now.state;
  at("state").className = `pill ${now.state === "serving" ? "good" : "warn"}`;
  const workers = now.workers === 1 ? "1 worker" : `${now.workers} workers`;
  at("about").textContent =
    `${now.version} · up ${span(now.uptime_s)} · ${count(now.connections)} clients · ${workers}`;

  const perSecond = rate(now.client.commands, then?.client.commands, seconds);
  at("rate").textContent = count(perSecond);
  at("rate-note").textContent = `at most ${count(spark(perSecond))} in the last four minutes`;
  side("client", now.client, "commands");
  side("shard", now.shard, "commands sent to shards");

  const each = now.shards.map((shard, i) => rate(shard.commands, then?.shards[i]?.commands, seconds));
  const all = each.reduce((sum, n) => sum + n, 0);
  at("shards").replaceChildren(...now.shards.map((shard, i) => shardRow(shard, each[i], all ? each[i] / all : 0)));
  const spread = now.client.round_trips ? now.shard.round_trips / now.client.round_trips : null;
  at("shards-note").textContent =
    `busiest shard ÷ mean, last minute: ${known(now.imbalance_ratio, (n) => n.toFixed(2))} · ` +
    `shard trips per client trip: ${known(spread, (n) => n.toFixed(2))} ` +
    `(above 1 where one batch is spread over shards)`;
}

async function turn() {
  try {
    const answer = await fetch("/api/shards", { signal: AbortSignal.timeout(EVERY_MS * 2) });
    if (!answer.ok) throw new Error(answer.statusText);
    show(await answer.json());
  } catch {
    at("state").textContent = "no answer";
    at("state").className = "pill bad";
  }
  setTimeout(turn, EVERY_MS);
}

turn();
