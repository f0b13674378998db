#include "rampart/notices/lender.hpp"

#include <algorithm>

#include "rampart/notices/reasons.hpp"
#include "text_rules.hpp"

namespace rampart::notices {
namespace {

constexpr size_t kMaxLine = 200;

std::string read_line(config::Table& table, std::string_view key) {
    auto line = table.string(key);
    check_text(table, key, line, kMaxLine);
    return line;
}

std::vector<std::string> read_address(config::Table& table) {
    auto lines = table.strings("address");
    if (lines.empty() || lines.size() > kMaxAddressLines)
        table.fail("address", fmt::format("give 1 to {} lines", kMaxAddressLines));
    for (const auto& line : lines) check_text(table, "address", line, kMaxLine);
    return lines;
}

std::map<std::string, std::string> read_texts(config::Table table,
                                              const std::vector<std::string>& languages) {
    std::map<std::string, std::string> texts;
    for (const auto& language : languages) {
        auto& text = texts[language] = table.string(language);
        check_text(table, language, text, kMaxRightsText);
    }
    return texts;
}

}  // namespace

std::optional<Lender> read_lender(config::Table root, const std::filesystem::path& folder) {
    if (!root.has("notices")) return std::nullopt;
    auto table = root.table("notices");
    Lender lender;
    lender.creditor = read_line(table, "creditor");
    lender.address = read_address(table);
    lender.days = static_cast<int>(table.integer("days", 1, 365, 30));
    const auto name = table.string("reasons");
    auto words = read_words_file(folder / name);
    if (!words) {
        table.fail("reasons", words.error().message);
        return std::nullopt;
    }
    lender.words = *std::move(words);
    lender.rights = read_texts(table.table("rights"), lender.words.languages);
    if (table.has("bureau")) {
        auto bureau = table.table("bureau");
        auto& read = lender.bureau.emplace();
        read.name = read_line(bureau, "name");
        read.phone = read_line(bureau, "phone");
        read.address = read_address(bureau);
        read.text = read_texts(bureau.table("text"), lender.words.languages);
    }
    return lender;
}

base::Status check_lender(const Lender& lender, const std::string& product,
                          const dataset::FeatureSchema& schema) {
    const auto& words = lender.words;
    if (words.product != product)
        return base::make_error(Reason::kBadWords,
                                "notices.reasons: the words are of product '{}', and this is '{}'",
                                words.product, product);
    const auto findings = check_words(words, schema);
    const auto is_fault = [](const auto& finding) { return finding.fault; };
    const auto first = std::find_if(findings.begin(), findings.end(), is_fault);
    if (first == findings.end()) return base::ok();
    return base::make_error(Reason::kBadWords, "notices.reasons: {} ({} of such faults)",
                            first->message,
                            std::count_if(findings.begin(), findings.end(), is_fault));
}

}  // namespace rampart::notices
