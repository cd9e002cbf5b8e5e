#!/usr/bin/env python3
"""onetrip beside its peers, on this machine, in one run: the table of the README.

    benches/side_by_side.py                      everything that is installed, depths 1, 16 and 100, 7 runs
    benches/side_by_side.py --depths 100 --runs 3 --targets relay,onetrip
    benches/side_by_side.py --embedded           embedded shards against one redis-server

Targets: direct (redis-benchmark straight at one shard), straight (one redis-benchmark for each shard at once, no proxy:
no proxy can pass it here), relay (haproxy in TCP mode), twemproxy (nutcracker), envoy, onetrip, embedded. What is not
installed is left out, and said so. Each target gets one worker thread and stands in front of the same shards; they take
turns, so that a drift of the machine meets all alike, and what is quoted is the median of the run-by-run ratios with
its range. CPU time is the scheduler's own account of every thread of a process.

Needs Python 3.9, redis-server, redis-benchmark and a built target/release/onetrip (or ONETRIP=path).
"""
import argparse
import contextlib
import csv
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = ("op/s", "CPU ns/op", "shards ns/op", "p50 ms", "p99 ms")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(name, port, within=10.0):
    """Waits until something on `port` answers PING."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            with socket.create_connection(("127.0.0.1", port), 0.5) as link:
                link.sendall(b"*1\r\n$4\r\nPING\r\n")
                if link.recv(64).startswith((b"+PONG", b"-")):
                    return
        time.sleep(0.05)
    sys.exit(f"{name} does not answer on port {port}")


class Process:
    """A child process and the CPU time that it has used."""

    def __init__(self, argv, folder):
        log = open(pathlib.Path(folder) / f"{pathlib.Path(argv[0]).name}-{free_port()}.log", "wb")
        self.child = subprocess.Popen(argv, stdout=log, stderr=log)

    def cpu_ns(self):
        total = 0
        for task in pathlib.Path(f"/proc/{self.child.pid}/task").iterdir():
            with contextlib.suppress(OSError):
                total += int((task / "schedstat").read_text().split()[0])
        return total

    def end(self):
        self.child.terminate()
        try:
            self.child.wait(3)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


class Bench:
    """The shards, the targets in front of them, and the load."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.shard_ports = [] if options.embedded else [free_port() for _ in range(options.shards)]
        self.shards = [self.start(self.redis(port)) for port in self.shard_ports]
        for port in self.shard_ports:
            answers("redis-server", port)

    def redis(self, port):
        return ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", self.folder]

    def start(self, argv):
        process = Process(argv, self.folder)
        self.options.children.append(process)
        return process

    def file(self, name, text):
        path = pathlib.Path(self.folder) / name
        path.write_text(text)
        return str(path)

    def target(self, name):
        """Starts a target: its processes and the ports to load. `None`: its program is not installed."""
        port = free_port()
        argv = getattr(self, name)(port)
        if argv is None:
            return None
        if not argv:
            ports = self.shard_ports if name == "straight" else self.shard_ports[:1]
            return [], ports
        process = self.start(argv)
        answers(name, port)
        return [process], [port]

    def direct(self, _port):
        return []

    straight = direct

    def relay(self, port):
        if not shutil.which("haproxy"):
            return None
        return ["haproxy", "-db", "-f", self.file("haproxy.cfg", f"""
global
  nbthread 1
  maxconn 1000
defaults
  mode tcp
  timeout connect 2s
  timeout client 1m
  timeout server 1m
listen relay
  bind 127.0.0.1:{port}
  server shard 127.0.0.1:{self.shard_ports[0]}
""")]

    def twemproxy(self, port):
        if not shutil.which("nutcracker"):
            return None
        servers = "".join(f"\n    - 127.0.0.1:{shard}:1" for shard in self.shard_ports)
        config = self.file("nutcracker.yml", f"""
bench:
  listen: 127.0.0.1:{port}
  redis: true
  hash: fnv1a_64
  distribution: ketama
  servers:{servers}
""")
        return ["nutcracker", "-c", config, "-a", "127.0.0.1", "-s", str(free_port())]

    def envoy(self, port):
        program = os.environ.get("ENVOY") or shutil.which("envoy")
        if not program:
            return None
        shards = "".join(
            f"\n      - endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {shard}}}}}}}"
            for shard in self.shard_ports)
        config = self.file("envoy.yaml", f"""
static_resources:
  clusters:
  - name: shards
    type: STATIC
    lb_policy: MAGLEV
    load_assignment:
      cluster_name: shards
      endpoints:
      - lb_endpoints:{shards}
  listeners:
  - address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.redis_proxy
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3.RedisProxy
          stat_prefix: bench
          settings:
            op_timeout: 10s
            enable_hashtagging: true
            max_buffer_size_before_flush: 16384
            buffer_flush_timeout: 0.001s
          prefix_routes: {{catch_all_route: {{cluster: shards}}}}
""")
        return [program, "-c", config, "--concurrency", "1", "-l", "error", "--disable-hot-restart"]

    def onetrip(self, port, shards=None):
        program = os.environ.get("ONETRIP") or str(ROOT / "target/release/onetrip")
        if not os.path.exists(program):
            sys.exit("build it first: cargo build --release")
        shards = shards or ["--backend", ",".join(f"127.0.0.1:{shard}" for shard in self.shard_ports)]
        listen = ["--listen", f"127.0.0.1:{port}", "--admin", f"127.0.0.1:{free_port()}"]
        return [program, "--workers", "1", *listen, *shards]

    def embedded(self, port):
        return self.onetrip(port, ["--shards", str(self.options.shards)])

    def load(self, processes, ports, command, depth, count):
        """One run: the columns. Several ports are loaded at once, each with its part."""
        share, clients = count // len(ports), max(1, self.options.clients // len(ports))
        before = [sum(p.cpu_ns() for p in group) for group in (processes, self.shards)]
        began = time.monotonic()
        runs = [subprocess.Popen(
            ["redis-benchmark", "-p", str(port), "-t", command, "-n", str(share), "-c", str(clients),
             "-P", str(depth), "-d", str(self.options.size), "-r", "100000", "--csv"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for port in ports]
        rows = [list(csv.reader(run.communicate()[0].splitlines()))[-1] for run in runs]
        seconds = time.monotonic() - began
        rate = float(rows[0][1]) if len(rows) == 1 else share * len(ports) / seconds
        after = [sum(p.cpu_ns() for p in group) for group in (processes, self.shards)]
        cpu = [(b - a) / (share * len(ports)) for a, b in zip(before, after)]
        worst = lambda column: max(float(row[column]) for row in rows)
        return rate, cpu[0], cpu[1], worst(4), worst(6)


def progress(done, of, what):
    if sys.stderr.isatty():
        bar = "#" * (30 * done // of)
        print(f"\r[{bar:<30}] {done}/{of} {what:<40}", end="" if done < of else "\n", file=sys.stderr, flush=True)


def measure(bench, targets, options):
    """Columns of every run, by command, depth and target. The first turn of each is not counted."""
    cases = [(command, depth) for command in options.commands for depth in options.depths]
    of, done, results = len(cases) * len(targets) * (options.runs + 1), 0, {}
    for command, depth in cases:
        count = 150_000 if depth == 1 else 1_000_000
        for run in range(options.runs + 1):
            for name, (processes, ports) in targets.items():
                columns = bench.load(processes, ports, command, depth, count if run else count // 5)
                if run:
                    results.setdefault((command, depth, name), []).append(columns)
                done += 1
                progress(done, of, f"{command} depth {depth} {name}")
    return results


def spread(values):
    return f"{statistics.median(values):.2f} [{min(values):.2f} .. {max(values):.2f}]"


def report(results, subject):
    for (command, depth, name), runs in results.items():
        middle = [statistics.median(column) for column in zip(*runs)]
        figures = "  ".join(f"{value:,.2f} {title}" for value, title in zip(middle, COLUMNS) if value)
        print(f"{command} depth {depth:<4}{name:<10} {figures}")
    print()
    for (command, depth, name), runs in results.items():
        own = results.get((command, depth, subject))
        if name == subject or own is None:
            continue
        ratios = []
        for i, title in enumerate(COLUMNS):
            pairs = [a[i] / b[i] for a, b in zip(own, runs) if a[i] and b[i]]
            ratios += [f"{title} {spread(pairs)}"] if pairs else []
        print(f"{command} depth {depth:<4}{subject} ÷ {name}: " + ", ".join(ratios))


def embedded(bench, options):
    """Whole processes on the same load: onetrip with embedded shards, and one redis-server of its own."""
    port = free_port()
    server = bench.start(bench.redis(port))
    answers("redis-server", port)
    targets = {"redis-server": ([server], [port]), "embedded": bench.target("embedded")}
    report(measure(bench, targets, options), "embedded")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = lambda kind: lambda text: [kind(word) for word in text.split(",")]
    parser.add_argument("--targets", type=listed(str), default=["relay", "twemproxy", "envoy", "onetrip"])
    parser.add_argument("--depths", type=listed(int), default=[1, 16, 100])
    parser.add_argument("--commands", type=listed(str), default=["set", "get"])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--size", type=int, default=64, help="bytes of a value")
    parser.add_argument("--embedded", action="store_true", help="embedded shards against one redis-server")
    options = parser.parse_args()
    options.children = []
    with tempfile.TemporaryDirectory(prefix="side-by-side-") as folder:
        try:
            bench = Bench(options, folder)
            if options.embedded:
                return embedded(bench, options)
            targets = {}
            for name in options.targets:
                started = bench.target(name)
                if started is None:
                    print(f"{name}: not installed, left out")
                else:
                    targets[name] = started
            report(measure(bench, targets, options), "onetrip")
        finally:
            for process in options.children:
                process.end()


if __name__ == "__main__":
    main()
