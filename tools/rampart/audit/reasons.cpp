// reasons check: the lender's words for reasons, compared with a schema.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "frame/commands.hpp"
#include "frame/named_file.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/notices/words.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;

struct Options {
    std::filesystem::path words, schema;
};

base::Result<Answer> check(const Options& options) {
    RAMPART_TRY(const auto words, named_file(notices::read_words_file(options.words)));
    RAMPART_TRY(const auto schema, named_file(dataset::read_table_schema(options.schema)));
    const auto findings = notices::check_words(words, schema.features);
    Answer answer;
    json::array faults, remarks;
    for (const auto& finding : findings) {
        auto& list = finding.fault ? faults : remarks;
        list.push_back(
            {{"kind", finding.kind}, {"name", finding.name}, {"message", finding.message}});
        answer.text +=
            fmt::format("{}{}\n", finding.fault ? "FAULT  " : "note   ", finding.message);
    }
    answer.text +=
        fmt::format("product {}: {} reasons in {}, {} features, {} faults\n", words.product,
                    words.reasons.size(), fmt::join(words.languages, ", "), schema.features.size(),
                    faults.size());
    answer.exit_code = faults.empty() ? ExitCode::kDone : ExitCode::kNo;
    answer.json = json::serialize(json::object{{"product", words.product},
                                               {"reasons", words.reasons.size()},
                                               {"faults", std::move(faults)},
                                               {"notes", std::move(remarks)}});
    return answer;
}

}  // namespace

void add_reasons_check(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "reasons check",
         .summary = "Compare the lender's words for reasons with the features of a schema",
         .example = "rampart reasons check reasons.toml --schema schema.toml",
         .detail = "Finds features without words, words without features, doubled codes and words, "
                   "missing languages, and declines by chance without words. Exit code 1: there "
                   "are faults; a node does not start with such words.",
         .reads_no_store = true},
        [options](const Context&) { return check(*options); });
    command.add_option("FILE", options->words, "the lender's words, TOML")->required();
    command.add_option("--schema", options->schema, "schema file with the features")->required();
}

}  // namespace rampart::cli
