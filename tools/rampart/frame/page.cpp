#include "frame/page.hpp"

namespace rampart::cli {

const std::string_view kPageStyle = R"(
:root{--ink:#0f172a;--soft:#64748b;--line:#cbd5e1;--paper:#fff}
:root{--good:#047857;--bad:#b91c1c;--mark:#2563eb}
@media(prefers-color-scheme:dark){:root{--ink:#e2e8f0;--soft:#94a3b8;--line:#475569}
:root{--paper:#0f172a;--good:#34d399;--bad:#f87171;--mark:#60a5fa}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
body{max-width:60rem;margin:2rem auto;padding:0 1rem}h1{margin:0}
h2{font-size:1.15rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}
.good{color:var(--good)}.bad{color:var(--bad)}.soft{color:var(--soft)}.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.92rem}
th,td{padding:.3rem .7rem;border-bottom:1px solid var(--line);text-align:right}
th{color:var(--soft)}td:first-child,th:first-child{text-align:left}
.facts td{text-align:left;overflow-wrap:anywhere}
.facts td:first-child{white-space:nowrap;vertical-align:top}svg{width:100%;height:auto}
text{font-size:13px;fill:var(--ink)}.zero{stroke:var(--ink)}.span{stroke-width:6}
.good.span,.good.dot{stroke:var(--good);fill:var(--good)}
.bad.span,.bad.dot{stroke:var(--bad);fill:var(--bad)}
@media print{body{max-width:none}}
)";

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') {
                    out += "\xef\xbf\xbd";
                } else {
                    out += c;
                }
        }
    }
    return out;
}

}  // namespace rampart::cli
