// report: decisions of a store and what became of them, by protected group and month.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"
#include "frame/reasons.hpp"
#include "gate/report_page.hpp"
#include "rampart/base/file.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

struct Options {
    fs::path config, out;
    rampartd::ReportRequest request;
};

std::string target_of(const rampartd::ReportRequest& request) {
    std::string query;
    const auto add = [&](std::string_view name, const std::string& value) {
        if (value.empty()) return;
        query += fmt::format("{}{}={}", query.empty() ? '?' : '&', name, query_value(value));
    };
    add("from", request.from);
    add("to", request.to);
    add("reference", fmt::format("{}", fmt::join(request.references, ";")));
    return "/v1/report" + query;
}

/// The node that serves the store, or, where none does, the store itself.
Result<json::value> ask(const Options& options) {
    auto answer = ask_node(options.config, target_of(options.request));
    if (answer || !answer.error().is(Reason::kNotServing)) return answer;
    RAMPART_TRY(const auto node, open_existing(options.config));
    RAMPART_TRY(const auto document, node->store_report(options.request));
    return json::parse(document);
}

Result<Answer> report(const Options& options) {
    RAMPART_TRY(const auto document, ask(options));
    Answer answer{.text = report_text(document.as_object()), .json = json::serialize(document)};
    if (!options.out.empty()) {
        RAMPART_RETURN_IF_ERROR(
            base::write_file_atomically(options.out, report_page(document.as_object())));
        answer.notes.push_back(fmt::format("wrote {}", options.out.string()));
    }
    answer.notes.emplace_back(
        "persons outside the vault only; of outcomes, decisions whose horizon is over");
    return answer;
}

}  // namespace

void add_report(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "report",
         .summary = "Show approvals, outcomes and impact by protected group and month",
         .example = "rampart report --config rampartd.toml --out report.html",
         .detail = "Asks the node that serves the store, or opens the store if none does. Ratios "
                   "of approvals are to the largest group of the attribute, or to a group named "
                   "with --reference. What has not matured is marked."},
        [options](const Context&) { return report(*options); });
    command.add_option("--config", options->config, "rampartd.toml of the store")->required();
    command.add_option("--from", options->request.from,
                       "first month of applications, as in 2005-01; default: 24 months");
    command.add_option("--to", options->request.to, "last month; default: the latest");
    command.add_option("--reference", options->request.references,
                       "group that others of its attribute are compared with, as in sex=male");
    command.add_option("--out", options->out, "write a page for people to this file");
}

}  // namespace rampart::cli
