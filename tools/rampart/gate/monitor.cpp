// monitor: each group's impact under the promoted models.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"
#include "frame/reasons.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

std::string number(const json::value& value) {
    return value.is_null() ? std::string("-") : fmt::format("{:.4g}", value.to_number<double>());
}

/// The node that serves the store, or, where none does, the store itself.
Result<json::value> ask(const fs::path& config) {
    auto answer = ask_node(config, "/v1/monitor");
    if (answer || !answer.error().is(Reason::kNotServing)) return answer;
    RAMPART_TRY(const auto node, open_existing(config));
    RAMPART_TRY(const auto document, node->monitor_report());
    return json::parse(document);
}

std::string group_line(const json::object& group, double needed) {
    const bool blind = !group.at("blind").as_string().empty();
    std::string verdict = "no alarm";
    if (group.at("alarm").as_bool()) {
        verdict = std::string("ALARM");
    } else if (blind) {
        verdict = fmt::format("change not watched: {}", text_of(group.at("blind")));
    } else if (group.at("persons").to_number<int64_t>() == 0) {
        verdict = std::string("nothing has matured yet");
    }
    const auto& level = group.at("level");
    const bool has_level = !level.is_null();
    return fmt::format("  {:<28}{:>9}{:>10}{:>10}{:>11}{:>10}{:>10}  {}\n",
                       text_of(group.at("group")), text_of(group.at("persons")),
                       number(group.at("change")), number(group.at("at_most")),
                       fmt::format("{}/{:.3g}", number(group.at("log_wealth")), needed),
                       has_level ? number(level.at("mean")) : std::string("-"),
                       has_level ? number(level.at("at_most")) : std::string("-"), verdict);
}

std::string watch_text(const json::object& watch) {
    const bool decides = watch.at("decides").as_bool();
    std::string text = fmt::format(
        "\npromotion {} of {}: {} replaced {}{}\n", text_of(watch.at("promotion")),
        text_of(watch.at("since")).substr(0, 10), text_of(watch.at("policy")).substr(0, 16),
        text_of(watch.at("previous")).substr(0, 16), decides ? "; decides" : "");
    if (const auto& alarm = watch.at("alarm"); !alarm.is_null()) {
        text += fmt::format("ALARM of {}: {}\n", text_of(alarm.at("at")).substr(0, 10),
                            text_of(alarm.at("groups")));
    }
    if (const auto& problem = watch.at("problem").as_string(); !problem.empty()) {
        return text + fmt::format("not watched: {}\n", std::string(problem));
    }
    text += fmt::format("  {:<28}{:>9}{:>10}{:>10}{:>11}{:>10}{:>10}\n", "group", "persons",
                        "change", "at most", "ln wealth", "impact", "at most");
    const double needed = watch.at("log_needed").to_number<double>();
    for (const auto& group : watch.at("groups").as_array()) {
        text += group_line(group.as_object(), needed);
    }
    return text;
}

Result<Answer> report(const fs::path& config) {
    RAMPART_TRY(const auto document, ask(config));
    Answer answer;
    answer.json = json::serialize(document);
    if (document.at("champion_certificate_expired").as_bool()) {
        answer.notes.push_back(
            fmt::format("the champion's certificate expired at {}; it decides on: certify and "
                        "promote another",
                        text_of(document.at("champion_certified_until"))));
    }
    if (!document.at("enabled").as_bool()) {
        answer.text = fmt::format("nothing is watched here: {}\n", text_of(document.at("why_not")));
        return answer;
    }
    const auto& watches = document.at("watches").as_array();
    answer.text =
        document.at("as_of").is_null()
            ? std::string("no look yet: no time has passed\n")
            : fmt::format(
                  "as known at {}; action {}; a false alarm about a promotion, ever: at most {}\n",
                  text_of(document.at("as_of")), text_of(document.at("action")),
                  number(document.at("delta")));
    if (watches.empty()) answer.text += "no promotion stands that could be watched\n";
    for (const auto& watch : watches) {
        answer.text += watch_text(watch.as_object());
        if (!watch.at("alarm").is_null()) answer.exit_code = ExitCode::kNo;
    }
    answer.notes.emplace_back(
        "persons outside the vault only; change and bounds are per decision, champion less the "
        "policy before");
    return answer;
}

}  // namespace

void add_monitor(Frame& frame) {
    auto config = std::make_shared<fs::path>();
    frame
        .add({.name = "monitor",
              .summary = "Show each group's impact since each promotion that was not rolled back",
              .example = "rampart monitor --config rampartd.toml",
              .detail = "Asks the node that serves the store, or opens the store if none does. "
                        "Exit code 1: "
                        "a promotion that was not rolled back has raised an alarm."},
             [config](const Context&) { return report(*config); })
        .add_option("--config", *config, "rampartd.toml of the store")
        ->required();
}

}  // namespace rampart::cli
