"""The style sheet of reports, with light and dark colors, for screens, phones and paper."""

STYLE = """
:root { color-scheme: light dark; --line: #0002; --soft: #0000000a; --quiet: #555; --bad: #b3261e;
  --paper: #fff; --ink: #1c2126; }
@media (prefers-color-scheme: dark) {
  :root { --line: #fff3; --soft: #ffffff0d; --quiet: #a9b1ba; --bad: #ff8a80; --paper: #14181c;
    --ink: #e6e9ec; }
}
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p, dl { max-width: 46rem; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .7rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--paper); }
thead th { vertical-align: bottom; }
thead small { display: block; font-weight: 400; color: var(--quiet); min-height: 1.5em; }
tbody tr:hover td { background: var(--soft); }
.settings th, .settings td { text-align: left; white-space: normal; vertical-align: top; }
.settings th { font-weight: 400; color: var(--quiet); white-space: nowrap; }
.trouble { color: var(--bad); max-width: 46rem; padding-left: 1.2rem; }
.plots { display: grid; gap: 1.5rem 2rem; margin-top: 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); }
figure { margin: 0; min-width: 0; }
figure h2 { margin: 0 0 .3rem; }
figure svg { width: 100%; height: auto; display: block; }
figcaption, .legend { font-size: .85rem; color: var(--quiet); }
.legend { margin: .2rem 0; display: flex; flex-wrap: wrap; gap: 0 1rem; }
i { display: inline-block; width: 1.6rem; height: 0; margin-right: .5rem; vertical-align: middle; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1rem; }
dt { font-weight: 600; }
dd { margin: 0; }
@media print { body { max-width: none; } figure { break-inside: avoid; } }
"""
