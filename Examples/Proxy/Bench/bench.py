#!/usr/bin/env python3
"""Compares larder-proxy with nginx `proxy_cache` and Varnish: the same hits, loaded by wrk on loopback.

usage: bench.py LARDER_PROXY [SECONDS]

Needs nginx and wrk (Debian: nginx-light, wrk), and varnishd (varnish) for the lines of Varnish. Prints a Markdown table for bodies of 1 KB and 64 KB: processor time
per hit (user and system, all processes of the server, from /proc), hits per second, the 99th percentile of the latency, and memory
(resident, with pages of the store that the process maps). The second percentile is of a load that all servers bear: each
connection pauses for 1 to 3 ms before a request. The order of the servers changes from round to round, and the table has
the median of three rounds: other work on the machine then affects all servers alike. Processor time is the figure to compare on a busy
machine.
"""

import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROUNDS = 3
CONNECTIONS = 32
THREADS = os.cpu_count() or 2
TICK = os.sysconf("SC_CLK_TCK")
PAUSE = "function delay() return math.random(1, 3) end"
PAUSED_SECONDS = 2
BODIES = {"1 KB": 1024, "64 KB": 65536}


def descendants(pid):
    found = [pid]
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            if parent == pid:
                found += descendants(int(entry.name))
    return found


def processor_time(pid):
    total = 0
    for process in descendants(pid):
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICK


def memory(pid):
    total = 0
    for process in descendants(pid):
        status = pathlib.Path(f"/proc/{process}/status").read_text()
        total += int(re.search(r"VmRSS:\s+(\d+)", status).group(1))
    return total / 1024


def nginx(folder, name, port, server):
    base = folder / name
    base.mkdir()
    (base / "nginx.conf").write_text(f"""
daemon off; user root; worker_processes {THREADS}; pid {base}/pid; error_log {base}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 1000000000; sendfile on;
  client_body_temp_path {base}/body; proxy_temp_path {base}/proxy; fastcgi_temp_path {base}/fastcgi;
  uwsgi_temp_path {base}/uwsgi; scgi_temp_path {base}/scgi;
  proxy_cache_path {base}/cache keys_zone=bench:10m;
  server {{ listen 127.0.0.1:{port}; {server} }}
}}
""")
    return subprocess.Popen(["nginx", "-p", str(base), "-c", str(base / "nginx.conf")],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def start(folder, proxy, origin):
    files = folder / "files"
    files.mkdir()
    for name, size in BODIES.items():
        (files / name.replace(" ", "")).write_bytes(b"x" * size)
    processes = [nginx(folder, "origin", origin, f'root {files}; add_header Cache-Control max-age=3600;')]
    servers = {
        "larder-proxy": (origin + 1, subprocess.Popen(
            [proxy, "--origin", f"http://127.0.0.1:{origin}", "--listen", f"127.0.0.1:{origin + 1}",
             "--store", str(folder / "store")], stdout=subprocess.DEVNULL)),
        "nginx": (origin + 2, nginx(
            folder, "cache", origin + 2,
            f"location / {{ proxy_pass http://127.0.0.1:{origin}; proxy_cache bench; }}")),
    }
    if shutil.which("varnishd"):
        servers["Varnish"] = (origin + 3, subprocess.Popen(
            ["varnishd", "-F", "-n", str(folder / "varnish"), "-a", f"127.0.0.1:{origin + 3}",
             "-b", f"127.0.0.1:{origin}", "-s", "malloc,64m"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    return processes + [server for _, server in servers.values()], servers


def wait_for(url):
    for _ in range(200):
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.read()
        except OSError:
            time.sleep(0.1)
    sys.exit(f"no server answers {url}")


def load(url, seconds, *options):
    """The requests, their number per second and the 99th percentile of their latency in milliseconds."""
    text = subprocess.run(
        ["wrk", f"-t{THREADS}", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", *options, url],
        capture_output=True, text=True, check=True).stdout
    count = int(re.search(r"(\d+) requests in", text).group(1))
    if "Non-2xx" in text or "Socket errors" in text or not count:
        sys.exit(f"{url}: errors\n{text}")
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1))
    return count, rate, float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def measure(port, path, pid, seconds, script):
    url = f"http://127.0.0.1:{port}/{path}"
    before = processor_time(pid)
    count, rate, p99 = load(url, seconds)
    used = processor_time(pid) - before
    _, paused_rate, paused_p99 = load(url, PAUSED_SECONDS, "-s", str(script))
    return used / count * 1e6, rate, p99, paused_rate, paused_p99, memory(pid)


def main():
    proxy, seconds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    for tool in ("nginx", "wrk"):
        if not shutil.which(tool):
            sys.exit(f"{tool} is missing: apt-get install nginx-light varnish wrk")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="larder-bench-"))
    folder.chmod(0o755)
    processes = []
    try:
        processes, servers = start(folder, proxy, 20_000 + os.getpid() % 10_000)
        for port, _ in servers.values():
            for name, size in BODIES.items():
                for _ in range(2):
                    assert len(wait_for(f"http://127.0.0.1:{port}/{name.replace(' ', '')}")) == size
        results = {}
        script = folder / "pause.lua"
        script.write_text(PAUSE)
        names = list(servers)
        for number in range(ROUNDS):
            for body in BODIES:
                for name in names[number % len(names):] + names[:number % len(names)]:
                    port, process = servers[name]
                    figures = measure(port, body.replace(" ", ""), process.pid, seconds, script)
                    results.setdefault((body, name), []).append(figures)
        print(f"wrk: {THREADS} threads, {CONNECTIONS} connections, {seconds} s, median of {ROUNDS} rounds\n")
        print("| hits of | server | processor time per hit | of nginx's | hits per second | of nginx's | p99 "
              "| p99 with pauses | memory |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
        for body in BODIES:
            medians = {name: [statistics.median(column) for column in zip(*results[body, name])] for name in names}
            base = medians["nginx"]
            for name in names:
                cpu, rate, p99, paused_rate, paused_p99, size = medians[name]
                print(f"| {body} | {name} | {cpu:.1f} us | {cpu / base[0]:.2f} | {rate:,.0f} | {rate / base[1]:.2f} "
                      f"| {p99:.1f} ms | {paused_p99:.1f} ms at {paused_rate:,.0f} | {size:.0f} MB |")
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(10)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
