// letter: the adverse-action letter of a decision that a store holds.
#include "rampart/notices/letter.hpp"

#include <CLI/CLI.hpp>

#include "frame/commands.hpp"
#include "frame/named_file.hpp"
#include "frame/node_access.hpp"
#include "rampart/base/file.hpp"
#include "services/rampartd/notice_of.hpp"

namespace rampart::cli {
namespace {

struct Options {
    std::filesystem::path config, letter, out;
    std::string decision, language;
};

base::Result<Answer> letter(const Options& options) {
    // before a store is opened
    std::optional<notices::LetterTemplate> read;
    if (!options.letter.empty()) {
        RAMPART_TRY(read, named_file(notices::read_letter_template(options.letter)));
    }
    RAMPART_TRY(const auto node, open_existing(options.config));
    RAMPART_TRY(const auto notice,
                rampartd::notice_of(*node, domain::DecisionId(options.decision), options.language));
    Answer answer;
    answer.json = notices::to_json(notice);
    answer.text = answer.json + "\n";
    if (read) {
        RAMPART_TRY(answer.text, notices::render_letter(*read, notice));
    }
    if (notice.date > notice.due)
        answer.notes.push_back(
            fmt::format("the notice was due on {}", notices::day_text(notice.due)));
    if (!options.out.empty()) {
        // it is about a person
        RAMPART_RETURN_IF_ERROR(base::write_file_atomically(options.out, answer.text, 0600));
        answer.text = fmt::format("wrote {}\n", options.out.string());
    }
    return answer;
}

}  // namespace

void add_letter(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "letter",
         .summary = "Write the adverse-action letter of a decision that a store holds",
         .example = "rampart letter --config rampartd.toml --decision "
                    "d679f55ec802f10f2fde94e4d4327ac1 --template letters/letter.en.html",
         .detail =
             "Reasons are those that the decision's record supports, in the lender's words, at "
             "most four; creditor, rights and the bureau's part are those of [notices]. Where the "
             "record gives no specific reason there is no letter, and the error says why. "
             "Without --template: the data, as GET /v1/decisions/{id}/notice gives them. No node "
             "may be serving the store."},
        [options](const Context&) { return letter(*options); });
    command.add_option("--config", options->config, "rampartd.toml of the store")->required();
    command.add_option("--decision", options->decision, "id of the decision")->required();
    command.add_option("--template", options->letter,
                       "template of the letter, such as ops/config/letters/letter.en.html");
    command.add_option("--language", options->language,
                       "language of reasons and rights; default: the first of the words");
    command.add_option("--out", options->out, "file for the letter; default: standard output");
}

}  // namespace rampart::cli
