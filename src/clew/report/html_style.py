"""The page's styles and its script: light and dark, wide and narrow, on paper too."""

from __future__ import annotations

from clew.report.palette import PALETTE

_LIGHT = "".join(f"--{name}:{c.light};" for name, c in PALETTE.items())
_DARK = "".join(f"--{name}:{c.dark};" for name, c in PALETTE.items())
_TINTS = "".join(f".c-{name}{{--tint:var(--{name})}}" for name in PALETTE)

STYLE = (
    f":root{{color-scheme:light dark;--ink:#1d2329;--soft:#66707a;--rule:#e3e7eb;--page:#fff;--card:#f6f8fa;{_LIGHT}}}"
    f"@media(prefers-color-scheme:dark){{:root{{--ink:#e4e8ec;--soft:#95a0aa;--rule:#2f363d;--page:#14181c;--card:#1c2227;{_DARK}}}}}"
    + _TINTS
    + """
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1040px;margin:0 auto;padding:32px 24px 64px}
h1{font-size:17px;margin:0;overflow-wrap:anywhere}
h2{font-size:15px;margin:0 0 10px}
.sub,.note,.quiet{color:var(--soft)}
.sub{margin:2px 0 0}
.note{font-size:13px;margin:8px 0 0}
.headline{font-size:24px;line-height:1.3;font-weight:600;margin:22px 0 14px;letter-spacing:-.01em}
section{margin:30px 0 0}
section.points:first-of-type{margin-top:0}
ul{margin:0;padding:0;list-style:none}
li{padding:3px 0 3px 18px;position:relative}
li::before{content:"";position:absolute;left:2px;top:12px;width:7px;height:7px;border-radius:50%;background:var(--soft)}
li.warn::before{background:var(--yellow)}li.bad::before{background:var(--red)}li.good::before{background:var(--green)}
li.quiet::before{background:var(--rule)}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(128px,1fr));gap:10px;margin:0}
dl div{background:var(--card);border-radius:8px;padding:10px 12px}
dt{color:var(--soft);font-size:13px}
dd{margin:0;font-size:20px;font-weight:600;font-variant-numeric:tabular-nums;white-space:nowrap}
dd small{font-size:13px;font-weight:400;color:var(--soft);margin-left:6px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px}
th{text-align:left;font-weight:500;color:var(--soft);padding:5px 10px 5px 0;white-space:nowrap}
td{padding:5px 10px 5px 0;border-top:1px solid var(--rule);vertical-align:top;white-space:nowrap}
td:last-child,th:last-child{padding-right:0}
td.wide{white-space:normal;overflow-wrap:anywhere;width:100%;min-width:180px}
td.path,.spark{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:13px}
.num{text-align:right;font-variant-numeric:tabular-nums}
tfoot td{font-weight:600;border-top:2px solid var(--soft)}
.barred th{color:var(--ink);font-weight:400}
.barred td,.barred th{border:0;padding-top:3px;padding-bottom:3px;vertical-align:middle}
.bar{width:55%}
.bar i,.legend i{display:block;height:14px;border-radius:2px;background:var(--tint)}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;margin:0 0 6px;font-size:13px}
.legend span{display:flex;align-items:center;gap:6px}
.legend i{width:11px;height:11px}
.chart{position:relative}
svg{display:block;width:100%;height:auto;overflow:visible}
svg.tiny{width:80px;height:20px}
svg text{font-size:12px;fill:var(--soft);font-variant-numeric:tabular-nums}
polygon{fill:var(--tint)}
polyline.line{fill:none;stroke:var(--tint);stroke-width:2;stroke-linejoin:round}
line.grid{stroke:var(--rule)}
line.limit{stroke:var(--red);stroke-width:1.5;stroke-dasharray:6 4}text.limit{fill:var(--red)}
line.mark{stroke:var(--ink);stroke-dasharray:2 3;opacity:.6}text.mark{fill:var(--ink)}
line.pointer{stroke:var(--ink);opacity:0}
.tip{position:absolute;top:8px;pointer-events:none;background:var(--page);border:1px solid var(--rule);border-radius:8px;
padding:8px 10px;font-size:13px;box-shadow:0 4px 16px #0002;min-width:170px}
.tip b{display:block;margin-bottom:4px}
.tip div{display:flex;gap:8px;align-items:center}
.tip div i{width:9px;height:9px;border-radius:2px;background:var(--tint)}
.tip div em{margin-left:auto;font-style:normal;font-variant-numeric:tabular-nums;padding-left:14px}
details{border-top:1px solid var(--rule);margin-top:18px;padding-top:12px}
summary{cursor:pointer;overflow-wrap:anywhere}
summary span{display:block;color:var(--soft)}
@media(max-width:640px){main{padding:20px 14px 48px}.headline{font-size:20px}.barred td.quiet{display:none}.bar{width:40%}}
@media print{main{max-width:none;padding:0}details{break-inside:avoid}}
"""
)

SCRIPT = """
for (const box of document.querySelectorAll("[data-chart]")) {
  const d = JSON.parse(box.dataset.chart), svg = box.querySelector("svg"), tip = box.querySelector(".tip");
  const line = box.querySelector(".pointer"), n = d.x.length;
  const element = (name, text, kind) => {
    const e = document.createElement(name);
    if (text) e.textContent = text;
    if (kind) e.className = kind;
    return e;
  };
  svg.addEventListener("pointermove", (event) => {
    const r = svg.getBoundingClientRect(), at = (event.clientX - r.left) / r.width * d.width;
    const share = Math.min(1, Math.max(0, (at - d.left) / (d.right - d.left)));
    const i = Math.round(share * (n - 1));
    const x = n > 1 ? d.left + (d.right - d.left) * i / (n - 1) : (d.left + d.right) / 2;
    line.setAttribute("x1", x); line.setAttribute("x2", x); line.style.opacity = 0.5;
    tip.replaceChildren(element("b", [d.name, d.x[i].toLocaleString("en"), d.totals[i] ? "· " + d.totals[i] : ""].join(" ")));
    for (let s = d.names.length - 1; s >= 0; s--) {
      if (d.values[s][i] === undefined || d.values[s][i] === "0") continue;
      const row = element("div");
      row.append(element("i", "", d.tints[s]), d.names[s], element("em", d.values[s][i]));
      tip.append(row);
    }
    tip.hidden = false;
    const right = x / d.width > 0.6;
    tip.style.left = right ? "auto" : (x / d.width * 100 + 1.5) + "%";
    tip.style.right = right ? (100 - x / d.width * 100 + 1.5) + "%" : "auto";
  });
  svg.addEventListener("pointerleave", () => { tip.hidden = true; line.style.opacity = 0; });
}
"""
