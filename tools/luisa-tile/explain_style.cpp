// SPDX-License-Identifier: Apache-2.0
#include "explain_html.h"

namespace tool::html {

// Colours come in pairs that keep a contrast of 4.5 or more on both backgrounds; nothing is told by colour alone.
const char *const style = R"css(
:root { color-scheme: light dark; --back: #ffffff; --text: #1b1f24; --soft: #57606a; --line: #d0d7de;
  --panel: #f6f8fa; --accent: #0550ae; --mark: #fff8c5; --bar: #54aeff; --roof: #953800; }
@media (prefers-color-scheme: dark) { :root { --back: #0d1117; --text: #e6edf3; --soft: #9ea7b3;
  --line: #3d444d; --panel: #161b22; --accent: #79c0ff; --mark: #3b2e00; --bar: #1f6feb;
  --roof: #ffa657; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
.skip { position: absolute; left: -99em; }
.skip:focus { left: 1em; top: 1em; background: var(--back); padding: .5em; z-index: 2; }
header, main, footer { max-width: 84em; margin: 0 auto; padding: 0 1.25em; }
header { padding-top: 1.5em; }
h1 { font-size: 1.7em; margin: 0 0 .2em; }
h2 { font-size: 1.35em; margin: 2em 0 .5em; padding-top: .5em; border-top: 2px solid var(--line); }
h3 { font-size: 1.1em; margin: 1.8em 0 .5em; }
h4 { font-size: 1em; margin: 0 0 .3em; }
p { margin: .4em 0 .8em; max-width: 70em; }
nav ul { list-style: none; margin: .6em 0; padding: 0; display: flex; flex-wrap: wrap; gap: .2em 1.2em; }
a { color: var(--accent); }
a:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--accent);
  outline-offset: 2px; }
code, pre, .mono { font-family: ui-monospace, "DejaVu Sans Mono", Consolas, monospace; font-size: .86em; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .7em .9em;
  margin: .3em 0; overflow: auto; max-height: 40em; line-height: 1.4; }
.source .used { background: var(--mark); font-weight: 600; }
.source .number { color: var(--soft); user-select: none; font-weight: 400; }
.beside { display: grid; gap: 1em; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 75em) { .beside { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .5em 0; font-size: .92em; }
caption { text-align: left; color: var(--soft); padding-bottom: .3em; }
th, td { border-bottom: 1px solid var(--line); padding: .25em .8em .25em 0; text-align: left;
  vertical-align: top; }
thead th { border-bottom: 2px solid var(--line); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
dl.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15em 1em; margin: .4em 0; }
dl.facts dt { color: var(--soft); }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
.steps, .steps ol, .tree, .tree ul { list-style: none; margin: 0; padding: 0; }
.steps ol, .tree ul { margin-left: .6em; padding-left: 1em; border-left: 2px solid var(--line); }
.step { border: 1px solid var(--line); border-radius: 6px; padding: .6em .9em; margin: .6em 0;
  background: var(--back); }
.step .title { color: var(--soft); overflow-wrap: anywhere; }
.step ul { margin: .2em 0; padding-left: 1.2em; }
details { margin: .4em 0; }
summary { cursor: pointer; color: var(--accent); }
svg { max-width: 100%; height: auto; display: block; margin: .5em 0; }
svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
svg .soft { fill: var(--soft); }
svg .axis { stroke: var(--soft); fill: none; }
svg .grid { stroke: var(--line); fill: none; }
svg .roof { stroke: var(--roof); stroke-width: 2.5; fill: none; }
svg .bar { fill: var(--bar); stroke: var(--text); stroke-width: .6; }
svg .other { fill: var(--panel); stroke: var(--text); stroke-width: .8; }
svg .point { fill: var(--bar); stroke: var(--text); stroke-width: 1.2; }
svg .hollow { fill: var(--back); stroke: var(--text); stroke-width: 1.6; }
footer { color: var(--soft); margin-top: 3em; padding-bottom: 2em; }
@media print {
  :root { --back: #fff; --text: #000; --soft: #444; --line: #bbb; --panel: #fff; --accent: #000;
    --mark: #eee; --bar: #bbb; --roof: #000; }
  body { font-size: 10pt; }
  nav, .skip, .screen { display: none; }
  pre { max-height: none; white-space: pre-wrap; overflow: visible; }
  .scroll { overflow: visible; }
  .step, table, svg { break-inside: avoid; }
  .step:has(.step) { break-inside: auto; }
  h2, h3, h4 { break-after: avoid; }
  h2 { break-before: page; }
  main > section:first-of-type h2 { break-before: auto; }
}
)css";

}// namespace tool::html
