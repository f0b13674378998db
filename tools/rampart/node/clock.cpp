// clock accept: an operator's word that the wall clock is right.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;

struct Options {
    std::filesystem::path config;
    std::string reason, actor = "operator";
};

Result<Answer> accept(const Options& options) {
    const auto document = tell_node(options.config, "/v1/clock/accept",
                                    {{"actor", options.actor}, {"reason", options.reason}});
    Answer answer;
    if (!document && document.error().reason == "no_jump") {
        answer.exit_code = 1;
        answer.text = fmt::format("nothing to accept: {}\n", document.error().message);
        answer.json = json::serialize(json::object{{"accepted", nullptr}});
        return answer;
    }
    if (!document) return document.error();
    const auto text = [&](const char* name) { return std::string(document->at(name).as_string()); };
    answer.text = fmt::format("accepted: {}\nfound before: {}\n", text("accepted"), text("found"));
    answer.json = json::serialize(*document);
    return answer;
}

}  // namespace

void add_clock_accept(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "clock accept",
         .summary = "Say that the wall clock is right, after the node found a jump",
         .example = "rampart clock accept --config rampartd.toml --reason 'down for the move'",
         .detail = "Set the host's clock right first: what matures, or is trained, at a wrong "
                   "time stays so. The node goes on within a second. Exit code 1: there was "
                   "no jump to accept."},
        [options](const Context&) { return accept(*options); });
    command.add_option("--config", options->config, "rampartd.toml of the running node")
        ->required();
    command.add_option("--reason", options->reason, "why, for the audit log")->required();
    command.add_option("--actor", options->actor, "who says so, for the audit log")
        ->capture_default_str();
}

}  // namespace rampart::cli
