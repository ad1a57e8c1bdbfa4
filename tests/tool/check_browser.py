#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens the page of an example in headless Chromium: every section, at two widths, and printed.

    check_browser.py LUISA_TILE EXAMPLE [FOLDER]

With a folder, the page, two screenshots and the print stay there. The exit status is 77 where there is no browser.
"""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# What runs in the page: everything that is folded is opened, and what is wrong is listed.
CHECK = """<script>
const wrong = [];
const say = (what, element) =>
  wrong.push(what + ": " + (element.id || element.getAttribute("aria-label") || element.tagName));
document.querySelectorAll("details").forEach(d => { d.open = true; });
const sections = document.querySelectorAll("main section section");
let opened = 0;
sections.forEach(s => {
  const heading = document.getElementById(s.getAttribute("aria-labelledby"));
  if (!heading || !s.contains(heading)) { say("no heading", s); }
  if (s.offsetHeight < 40 || s.innerText.trim().length < 10) { say("empty", s); } else { opened++; }
});
document.querySelectorAll("details pre").forEach(p => { if (p.offsetHeight < 10) say("folded", p); });
document.querySelectorAll("nav a").forEach(a => {
  if (!document.querySelector(a.getAttribute("href"))) { say("leads nowhere", a); }
});
document.querySelectorAll("svg").forEach(s => {
  const box = s.getBoundingClientRect();
  if (box.width < 100 || box.height < 40) { say("small picture", s); }
  if (!s.querySelector("title").textContent || !s.querySelector("desc").textContent) {
    say("unnamed picture", s);
  }
  const view = s.viewBox.baseVal;
  s.querySelectorAll("text").forEach(t => {
    const b = t.getBBox();
    if (b.x < -1 || b.y < -1 || b.x + b.width > view.width + 1 || b.y + b.height > view.height + 1) {
      say("text '" + t.textContent + "' leaves the picture", s);
    }
  });
});
if (document.documentElement.scrollWidth > window.innerWidth + 1) {
  wrong.push("wider than the window: " + document.documentElement.scrollWidth);
}
// What scrolls must be reachable with the keyboard.
document.querySelectorAll("*").forEach(e => {
  const scrolls = e.scrollWidth > e.clientWidth + 1 &&
    ["auto", "scroll"].includes(getComputedStyle(e).overflowX);
  if (scrolls && e.tabIndex < 0) { say("scrolls without focus", e); }
});
const light = c => {
  const p = c.match(/[0-9.]+/g).slice(0, 3).map(x => x / 255)
    .map(x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
  return 0.2126 * p[0] + 0.7152 * p[1] + 0.0722 * p[2];
};
const back = light(getComputedStyle(document.body).backgroundColor);
document.querySelectorAll("p, dt, dd, th, td, h2, h3, h4, summary, a, .number").forEach(e => {
  const front = light(getComputedStyle(e).color);
  if ((Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05) < 4.5) { say("faint", e); }
});
document.documentElement.dataset.check = JSON.stringify({opened: opened, wrong: wrong});
</script>"""


def browse(browser, profile, *arguments):
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
               "--disable-dev-shm-usage", f"--user-data-dir={profile}", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=240).stdout


def main():
    tool, example = sys.argv[1:3]
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        print("no Chromium here: Debian's package is chromium")
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else temporary).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        profile = pathlib.Path(temporary) / "profile"
        page = folder / f"{example}.html"
        subprocess.run([tool, "explain", "--example", example, "--html", page, "--peak", "100",
                        "--bandwidth", "20"], check=True)
        checked = pathlib.Path(temporary) / "checked.html"
        checked.write_text(page.read_text().replace("</body>", CHECK + "</body>"))
        kernels = page.read_text().count('<h2 id="k')
        for width in (1400, 480):
            dom = browse(browser, profile, f"--window-size={width},1000", "--dump-dom",
                         checked.as_uri())
            found = re.search(r'data-check="([^"]*)"', dom)
            assert found, "the check did not run"
            result = json.loads(html.unescape(found[1]))
            assert not result["wrong"], (width, result["wrong"][:10])
            assert result["opened"] == 10 * kernels, result
            picture = folder / f"{example}-{width}.png"
            browse(browser, profile, f"--window-size={width},{6000 if width > 1000 else 9000}",
                   f"--screenshot={picture}", page.as_uri())
            assert picture.stat().st_size > 20000, picture
        pdf = folder / f"{example}.pdf"
        browse(browser, profile, "--no-pdf-header-footer", f"--print-to-pdf={pdf}", page.as_uri())
        assert pdf.read_bytes()[:5] == b"%PDF-" and pdf.stat().st_size > 20000
        print(f"{example}: {kernels} kernels, every section opened at two widths and printed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
