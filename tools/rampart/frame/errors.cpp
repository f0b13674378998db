// errors: what the reason of an error means.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <memory>
#include <string>

#include "frame/commands.hpp"
#include "frame/error_table.hpp"
#include "frame/reasons.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;

std::string to_text(const ErrorEntry& entry) {
    return fmt::format("{} (room {}): {}, HTTP status {}, exit code {}\n  {}\n", entry.info->word,
                       entry.info->room, base::to_string(entry.info->code), entry.http_status,
                       entry.exit_code, entry.info->remedy);
}

json::object to_json(const ErrorEntry& entry) {
    return {{"reason", entry.info->word},
            {"room", entry.info->room},
            {"code", base::to_string(entry.info->code)},
            {"http_status", entry.http_status},
            {"exit_code", entry.exit_code},
            {"remedy", entry.info->remedy}};
}

base::Result<Answer> errors(const std::string& word) {
    Answer answer;
    json::array found;
    for (const auto& entry : error_table()) {
        if (!word.empty() && entry.info->word != word) continue;
        answer.text += to_text(entry);
        found.push_back(to_json(entry));
    }
    if (found.empty()) {
        const auto near = near_reasons(word);
        return base::make_error(
            Reason::kUnknownReason, "no error has the reason '{}'{}{}; `rampart errors` lists all",
            word.substr(0, 60), near.empty() ? "" : "; near ones are ", fmt::join(near, ", "));
    }
    if (word.empty()) answer.text = error_page();
    answer.json = json::serialize(json::object{{"errors", std::move(found)}});
    return answer;
}

}  // namespace

void add_errors(Frame& frame) {
    auto word = std::make_shared<std::string>();
    auto& command = frame.add(
        {.name = "errors",
         .summary = "Look up the reason of an error: code, HTTP status, exit code, what to do",
         .example = "rampart errors retention_gap",
         .detail = "Without WORD: the table of all reasons, as in schemas/errors.md."},
        [word](const Context&) { return errors(*word); });
    command.add_option("WORD", *word, "the reason, as the error gives it");
}

}  // namespace rampart::cli
