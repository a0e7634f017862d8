"""Reads pages of the documentation site in Chromium, as a phone with a screen of 390 by 844 points shows them.

  site.py SITE [PAGES]     PAGES is how many symbol pages are read beside all articles and modules; 40 unless given

A page fails if it renders no title, has a link inside the site to a page that does not render, is wider than the screen, has
body text below 14 points, or reports an error on the console. Needs only the standard library: it talks to Chromium over a pipe.
"""

import functools
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

WIDTH, HEIGHT = 390, 844
SMALLEST_TEXT = 14
SECONDS_PER_PAGE = 30

STATE = """(() => {
  const title = document.querySelector('main h1, .doc-content h1, h1');
  const text = [...document.querySelectorAll('main p')].filter(p => p.innerText.trim().length > 40);
  return JSON.stringify({
    title: title ? title.innerText.trim() : '',
    isMissing: !!document.querySelector('.not-found, .generic-error'),
    width: Math.max(document.documentElement.scrollWidth, document.body.scrollWidth),
    text: text.length ? Math.min(...text.map(p => parseFloat(getComputedStyle(p).fontSize))) : 99,
    links: [...document.querySelectorAll('main a[href]')].map(a => a.getAttribute('href')),
  });
})()"""


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


class Browser:
    """A Chromium that takes commands of its DevTools protocol over descriptors 3 and 4."""

    def __init__(self, program, profile):
        command_in, self.commands = os.pipe()
        self.events, events_out = os.pipe()

        def descriptors():
            # Copies both descriptors to high numbers first: a pipe may already use 3 or 4.
            source, target = os.dup2(command_in, 100), os.dup2(events_out, 101)
            os.dup2(source, 3)
            os.dup2(target, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={profile}"],
            preexec_fn=descriptors, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(command_in)
        os.close(events_out)
        self.buffer, self.number, self.session, self.errors = b"", 0, None, []

    def read(self):
        while b"\0" not in self.buffer:
            data = os.read(self.events, 1 << 16)
            if not data:
                raise SystemExit("Chromium ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if answer.get("method") == "Runtime.exceptionThrown":
                self.errors.append(answer["params"]["exceptionDetails"].get("text", "error"))

    def open(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=2, mobile=True)

    def page(self, url):
        """The state of the page once it has a title and a steady width."""
        self.errors = []
        self.call("Page.navigate", url=url)
        end, before = time.monotonic() + SECONDS_PER_PAGE, None
        while True:
            value = self.call("Runtime.evaluate", expression=STATE)["result"].get("value")
            state = json.loads(value) if value else None
            if state and state["title"] and state == before or time.monotonic() > end:
                return state or {"title": "", "isMissing": True, "width": 0, "text": 99, "links": []}
            before = state
            time.sleep(0.1)

    def close(self):
        self.process.kill()
        self.process.wait()


def pages(site, count):
    """The paths of all modules and articles, and of `count` symbols at equal distances."""
    first, symbols = [], []
    for file in sorted((site / "data").rglob("*.json")):
        page = json.loads(file.read_text())
        path = "/" + str(file.relative_to(site / "data").with_suffix(""))
        if not path.startswith(("/documentation", "/tutorials")):
            continue
        kind = page.get("metadata", {}).get("role", "")
        is_page = kind in ("collection", "article", "collectionGroup", "project", "overview") and "implementations" not in path
        (first if is_page else symbols).append(path)
    step = max(len(symbols) // count, 1)
    return first + symbols[::step][:count]


def main(folder, count):
    site = pathlib.Path(folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not program:
        print("site: skipped, Chromium is missing")
        return 0
    known = {"/" + str(p.relative_to(site / "data").with_suffix("")) for p in (site / "data").rglob("*.json")}
    failures, links = [], 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            browser.open()
            chosen = pages(site, count)
            for path in chosen:
                state = browser.page(base + path + "/")
                faults = ["it does not render"] if not state["title"] or state["isMissing"] else []
                if state["width"] > WIDTH:
                    faults.append(f"it is {state['width']} wide")
                if state["text"] < SMALLEST_TEXT:
                    faults.append(f"its text has {state['text']} points")
                faults += browser.errors
                for link in state["links"]:
                    target = link.split("#")[0].split("?")[0].rstrip("/").lower()
                    if target.startswith("/"):
                        links += 1
                        if target not in known and target not in ("/documentation", ""):
                            faults.append(f"it links to {link}, which is no page")
                failures += [f"{path}: {fault}" for fault in faults]
        finally:
            browser.close()
    print("\n".join(failures) or f"{len(chosen)} pages render at a width of {WIDTH}, and their {links} links lead to pages")
    return 1 if failures or not links else 0


sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40))
