"""The looks of every page: one sheet, dark and light by the reader's own setting, nothing loaded from anywhere."""

from __future__ import annotations

SHEET = """
:root { color-scheme: light dark; --page:light-dark(#f6f7f9,#12151b); --card:light-dark(#fff,#1b2029);
  --ink:light-dark(#1c2330,#e6e9ef); --soft:light-dark(#5b6579,#98a2b3); --rule:light-dark(#e3e7ee,#2c3440);
  --c0:light-dark(#2f6fde,#6fa3ff); --c1:light-dark(#d9622b,#ff9a66); --c2:light-dark(#1f9d76,#4ccfa3);
  --c3:light-dark(#8a5cd1,#b795f5); --good:light-dark(#14774f,#4ccfa3); --bad:light-dark(#b93526,#ff8577); }
* { box-sizing: border-box; }
body { margin:0; background:var(--page); color:var(--ink); font:15px/1.55 system-ui, "PingFang SC", "Microsoft YaHei",
  "Noto Sans CJK SC", "WenQuanYi Zen Hei", sans-serif; }
main { max-width:1240px; margin:0 auto; padding:28px 20px 60px; }
h1 { font-size:24px; margin:0 0 4px; } h2 { font-size:17px; margin:0 0 12px; }
p.sub { color:var(--soft); margin:0 0 20px; } p.hint { color:var(--soft); margin:8px 0 0; font-size:13px; }
.tiles { display:grid; grid-template-columns:repeat(auto-fit,minmax(150px,1fr)); gap:12px; margin-bottom:16px; }
.tile, section { background:var(--card); border:1px solid var(--rule); border-radius:10px; }
.tile { padding:12px 14px; } .tile b { display:block; font-size:23px; font-variant-numeric:tabular-nums; }
.tile span { color:var(--soft); font-size:13px; display:block; }
.grid2 { display:grid; grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr)); gap:16px; }
section { padding:16px 18px; margin-bottom:16px; min-width:0; } .grid2 > section { margin-bottom:0; }
.grid2 { margin-bottom:16px; }
.wide { overflow-x:auto; }
table { border-collapse:collapse; width:100%; font-size:14px; }
th, td { text-align:left; padding:5px 10px; border-bottom:1px solid var(--rule); vertical-align:top; }
th { color:var(--soft); font-weight:500; white-space:nowrap; } tr:last-child > * { border-bottom:0; }
td.n, th.n { text-align:right; font-variant-numeric:tabular-nums; white-space:nowrap; }
td.heat { text-align:right; font-variant-numeric:tabular-nums;
  background:color-mix(in srgb, var(--c0) calc(var(--a) * 100%), transparent); }
td.code { font-family:ui-monospace, monospace; font-size:13px; white-space:nowrap; }
td .q { display:block; } td .more { color:var(--soft); font-size:13px; }
.good { color:var(--good); } .bad { color:var(--bad); } .soft { color:var(--soft); }
.tag { border:1px solid var(--rule); border-radius:9px; padding:0 8px; font-size:12px; white-space:nowrap; }
svg { width:100%; height:auto; display:block; }
svg .line { fill:none; stroke-width:2.2; } svg .grid { stroke:var(--rule); stroke-width:1; }
svg .mark { stroke:var(--ink); stroke-width:1.2; } svg .note { fill:none; stroke:var(--ink); stroke-width:2; }
svg text { fill:var(--ink); font-size:12px; } svg .tick { fill:var(--soft); font-size:11px; }
svg .end { text-anchor:end; } svg .middle { text-anchor:middle; } svg .strong { font-weight:600; }
svg .c0 { stroke:var(--c0); } svg .c1 { stroke:var(--c1); } svg .c2 { stroke:var(--c2); } svg .c3 { stroke:var(--c3); }
svg .f0 { fill:var(--c0); } svg .f1 { fill:var(--c1); } svg .f2 { fill:var(--c2); } svg .f3 { fill:var(--c3); }
@media print { body { background:#fff; } section, .tile { break-inside:avoid; } }
"""
