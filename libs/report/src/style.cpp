#include "style.hpp"

namespace rampart::report {

const std::string_view kStyleSheet = R"(
:root{--ink:#0f172a;--soft:#64748b;--line:#dbe2ea;--paper:#fff;--card:#f8fafc}
:root{--good:#047857;--bad:#b91c1c;--c:#2563eb}
.c0{--c:#2563eb}.c1{--c:#db2777}.c2{--c:#059669}.c3{--c:#d97706}.c4{--c:#7c3aed}
.c5{--c:#0891b2}.c6{--c:#b91c1c}.c7{--c:#4d7c0f}.c8{--c:#475569}
@media(prefers-color-scheme:dark){:root{--ink:#e2e8f0;--soft:#94a3b8;--line:#334155}
:root{--paper:#0f172a;--card:#1e293b;--good:#34d399;--bad:#f87171;--c:#60a5fa}
.c0{--c:#60a5fa}.c1{--c:#f472b6}.c2{--c:#34d399}.c3{--c:#fbbf24}.c4{--c:#a78bfa}
.c5{--c:#22d3ee}.c6{--c:#f87171}.c7{--c:#a3e635}.c8{--c:#cbd5e1}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
body{max-width:64rem;margin:2rem auto;padding:0 1rem}h1{margin:0;font-size:1.8rem}
h2{font-size:1.2rem;margin:2.2rem 0 .6rem;border-bottom:1px solid var(--line)}
h2{padding-bottom:.2rem}p{max-width:54rem}pre{overflow-x:auto;font-size:.9rem}
.soft,small{color:var(--soft)}small{font-weight:400}.lead{font-size:1.1rem}
.good{color:var(--good);--c:var(--good)}.bad{color:var(--bad);--c:var(--bad)}
.warning{border-left:4px solid var(--bad);padding-left:.8rem}code{font-size:.88em}
.scroll{overflow-x:auto}li{margin:.5rem 0}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.92rem}
th,td{padding:.3rem .7rem;border-bottom:1px solid var(--line);text-align:right}
th{color:var(--soft);font-weight:600}td:first-child,th:first-child,.left{text-align:left}
.facts td{text-align:left;overflow-wrap:anywhere}
.facts td:first-child{white-space:nowrap;vertical-align:top}
.rates td{white-space:nowrap;vertical-align:top}
.wide th,.wide td{white-space:nowrap;vertical-align:top}
.wide .prose{white-space:normal;min-width:20rem}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:.8rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.7rem .9rem}
.card b{display:block;font-size:1.35rem}.card span{color:var(--soft);font-size:.85rem}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:1rem}
.multiples{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:1rem}
figure{margin:0 0 1rem}figcaption{font-weight:600;overflow-wrap:anywhere;font-size:.95rem}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.8rem;color:var(--soft)}
.legend i{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.35em}
.legend i{background:var(--c)}
svg{width:100%;height:auto;display:block}.narrow{max-width:32rem;margin:auto}
text{font-size:13px;fill:var(--ink)}.tick{font-size:11px;fill:var(--soft)}
.key{font-weight:600;fill:var(--c)}.grid{stroke:var(--line)}.zero{stroke:var(--ink)}
.mark{stroke:var(--soft);stroke-dasharray:4 4;fill:none}
.curve{fill:none;stroke:var(--c);stroke-width:2}.band{fill:var(--c);opacity:.16}
.dot,.bar{fill:var(--c)}.faint{fill:var(--c);opacity:.35}.bar{opacity:.75}
.ring{fill:none;stroke:var(--bad);stroke-width:2}
.whisker{stroke:var(--c);stroke-width:2}.link{stroke:var(--soft);stroke-width:2}
.truth{fill:none;stroke:var(--ink);stroke-width:1.4}
@media print{body{max-width:none}}
)";

}  // namespace rampart::report
