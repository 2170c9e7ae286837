"""The looks of the calls' report, on top of the common sheet: turns, lanes, evidence, and the switch of colours."""

from __future__ import annotations

SHEET = """
:root[data-theme=light] { color-scheme:light; } :root[data-theme=dark] { color-scheme:dark; }
:root { --mark:light-dark(#fff0a8,#5a4a10); --lane:light-dark(#eef1f6,#232a35); --focus:light-dark(#1d4fb8,#9cc0ff);
  --who:76px; }
header, main { max-width:1100px; margin:0 auto; padding:20px 16px 0; } main { padding:12px 16px 80px; }
.top { display:flex; flex-wrap:wrap; gap:8px 16px; align-items:center; justify-content:space-between; }
h1 { overflow-wrap:anywhere; } h2 { overflow-wrap:anywhere; margin-bottom:2px; } h3 { margin:0; font-size:15px; }
h4 { margin:20px 0 8px; font-size:14px; color:var(--soft); font-weight:600; }
.sub { overflow-wrap:anywhere; } .call > .sub { margin-bottom:10px; }
button, select, input { font:inherit; color:inherit; background:var(--card); border:1px solid var(--rule);
  border-radius:8px; padding:5px 10px; min-height:34px; max-width:100%; }
button { cursor:pointer; } .buttons { display:flex; gap:8px; }
:focus-visible { outline:2px solid var(--focus); outline-offset:1px; }
.filters { position:sticky; top:0; z-index:3; display:flex; flex-wrap:wrap; gap:8px 14px; align-items:center;
  background:var(--page); border-block:1px solid var(--rule); padding:8px max(16px, (100% - 1068px) / 2); }
.filters label { display:flex; align-items:center; gap:6px; color:var(--soft); font-size:13px; white-space:nowrap;
  min-width:0; }
.filters input, .filters select { color:var(--ink); font-size:14px; } .filters input { width:230px; }
.filters select { max-width:200px; min-width:0; text-overflow:ellipsis; }
#count { margin-left:auto; font-variant-numeric:tabular-nums; }
.call { padding:16px 0 4px; } .call > :not(.turn) { margin-left:18px; margin-right:18px; }
audio { display:block; width:calc(100% - 36px); height:40px; margin:8px 0 10px; }
details { margin:6px 0; } summary { cursor:pointer; color:var(--soft); font-size:13px; padding:4px 0; }
.turn { border-top:1px solid var(--rule); content-visibility:auto; contain-intrinsic-size:auto 62px;
  scroll-margin:110px 0 20px; }
.turn > h3 > button { display:flex; gap:4px 14px; align-items:flex-start; width:100%; text-align:left; border:0;
  border-radius:0; background:none; padding:10px 18px; font-weight:400; }
.turn > h3 > button:hover { background:var(--lane); } .turn > h3 > button:focus-visible { outline-offset:-2px; }
.no { flex:0 0 38px; font-weight:600; font-variant-numeric:tabular-nums; }
.no small { display:block; font-weight:400; color:var(--soft); font-size:12px; }
.words { flex:1 1 300px; min-width:0; overflow-wrap:anywhere; } .words > span { display:block; }
.words .q { font-weight:500; }
[aria-expanded=false] .a { white-space:nowrap; overflow:hidden; text-overflow:ellipsis; }
.tags { display:flex; flex-wrap:wrap; gap:4px; justify-content:flex-end; min-width:0; max-width:420px; }
.tags .tag { max-width:100%; overflow:hidden; text-overflow:ellipsis; } .tag.bad { border-color:currentColor; }
.tag.good { border-color:currentColor; } .tag { align-self:flex-start; }
.panel { padding:0 18px 18px; } .panel > h4:first-child { margin-top:6px; } .failed { margin:4px 0 0; }
.listen { margin:10px 0 0; }
.fall { position:relative; padding-bottom:22px; overflow:hidden; }
.lane { display:flex; align-items:center; height:26px; } .who { flex:0 0 var(--who); font-size:12px;
  color:var(--soft); white-space:nowrap; }
.track { position:relative; flex:1; height:20px; background:var(--lane); border-radius:4px; min-width:0; }
.bar, .moment { position:absolute; top:0; height:100%; border-radius:3px; background:var(--c); font-style:normal; }
.bar { min-width:2px; overflow:hidden; white-space:nowrap; text-overflow:ellipsis; font-size:11px; line-height:20px;
  padding:0 4px; color:var(--on); } .bar:empty { padding:0; }
.moment { width:8px; height:8px; top:6px; margin-left:-4px; border-radius:1px; rotate:45deg; }
.lane { --on:light-dark(#fff,#10141a); --c:light-dark(#5b6579,#98a2b3); }
.lane.caller { --c:light-dark(#2259b8,#6fa3ff); } .lane.vad { --c:light-dark(#7fa6ea,#3f6bb5); }
.lane.partial { --c:light-dark(#2259b8,#6fa3ff); } .lane.endpoint { --c:light-dark(#a9b4c6,#56627a); }
.lane.asr { --c:light-dark(#7043b8,#b795f5); } .lane.search { --c:light-dark(#8a5a00,#e0b050); }
.lane.write { --c:light-dark(#14774f,#4ccfa3); } .lane.check { --c:light-dark(#14774f,#4ccfa3); }
.lane.speech { --c:light-dark(#a9b4c6,#56627a); --on:light-dark(#10141a,#fff); }
.lane.endpoint { --on:light-dark(#10141a,#fff); }
.lane.play { --c:light-dark(#b04a17,#ff9a66); } .lane.floor { --c:light-dark(#7043b8,#b795f5); }
.lane .bad { background:var(--bad); }
.lane .phrase { background:var(--card); box-shadow:inset 0 0 0 1.5px var(--c); color:var(--ink); }
.lane .cut { background:repeating-linear-gradient(135deg, var(--c) 0 7px,
  color-mix(in srgb, var(--c) 70%, #000) 7px 9px); }
.tick, .cursor { position:absolute; top:0; bottom:0; left:calc(var(--who) + (100% - var(--who)) * var(--x)); width:0; }
.tick { border-left:1px solid var(--rule); } .tick span { position:absolute; bottom:0; translate:-50%; font-size:11px;
  color:var(--soft); white-space:nowrap; background:var(--card); padding:0 2px; }
.cursor { border-left:2px solid var(--bad); z-index:2; pointer-events:none; }
.readout { margin:4px 0 0; font-size:13px; min-height:20px; overflow-wrap:anywhere; }
.said { margin:0; padding-left:20px; } .said li { margin-bottom:10px; } .said p { margin:0 0 4px; }
ul.said { list-style:none; padding-left:0; } .said .tag { font-weight:500; }
blockquote { margin:6px 0; padding:6px 12px; border-left:3px solid var(--rule); overflow-wrap:anywhere; }
cite { display:block; font-style:normal; font-size:12px; color:var(--soft); }
mark { background:var(--mark); color:inherit; border-radius:2px; } ins { color:var(--good); } del { color:var(--bad); }
.panel .wide table { width:auto; min-width:min(100%,420px); }
.panel .wide table.facts, table.facts { width:100%; min-width:0; } .facts th { width:1%; }
.facts td { overflow-wrap:anywhere; } .failed { overflow-wrap:anywhere; }
.layers { min-width:600px; max-width:820px; } svg .fx { fill:var(--soft); opacity:.55; }
svg .cx { stroke:var(--soft); opacity:.4; stroke-width:1.4; } svg .tx { fill:var(--soft); }
svg .t0 { fill:var(--c0); font-weight:600; } svg .t1 { fill:var(--c1); font-weight:600; }
svg .t2 { fill:var(--c2); font-weight:600; } svg .t3 { fill:var(--c3); font-weight:600; }
.times { max-width:560px; }
dialog { background:var(--card); color:var(--ink); border:1px solid var(--rule); border-radius:12px; max-width:92vw; }
kbd { font:13px ui-monospace, monospace; border:1px solid var(--rule); border-radius:5px; padding:1px 6px; }
[hidden] { display:none !important; }
@media (max-width:640px) {
  :root { --who:60px; } header, main { padding-left:10px; padding-right:10px; } .filters { padding:8px 10px; }
  .filters { position:static; } .filters label, .filters input { flex:1 1 100%; }
  .filters select { flex:1; max-width:none; }
  .tiles { grid-template-columns:repeat(3,1fr); gap:8px; } .tile { padding:8px 10px; } .tile b { font-size:18px; }
  .turn > h3 > button { flex-wrap:wrap; padding:10px 12px; } .words { flex-basis:calc(100% - 60px); }
  .tags { padding-left:52px; justify-content:flex-start; } .panel { padding:0 12px 16px; }
  .call > :not(.turn) { margin-left:12px; margin-right:12px; } audio { width:calc(100% - 24px); }
}
@media (prefers-reduced-motion:no-preference) { .turn > h3 > button { transition:background .12s; } }
"""
