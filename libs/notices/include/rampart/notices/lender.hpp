#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rampart/notices/words.hpp"

namespace rampart::notices {

/// Who gave a report that the decision used.
struct Bureau {
    std::string name, phone;
    std::vector<std::string> address;         // lines
    std::map<std::string, std::string> text;  // what the law wants said of it, by language
};

/// What notices say beside their reasons. Section [notices]:
///
///     [notices]
///     creditor = "First Bank"
///     address = ["1 Main Street", "Springfield, IL 62701"]
///     reasons = "reasons.toml"        # the lender's words (words.hpp), relative to this file
///     days = 30                       # 1 to 365: from the application to the notice
///     [notices.rights]                # statement of rights, in each language of the words
///     en = "The federal Equal Credit Opportunity Act prohibits …"
///     es = "…"
///     [notices.bureau]                # left out: no report of a bureau is used
///     name = "…"
///     address = ["…"]
///     phone = "…"
///     [notices.bureau.text]
///     en = "Our decision was based in part on information in a report from …"
///     es = "…"
struct Lender {
    std::string creditor;
    std::vector<std::string> address;  // lines
    int days = 30;
    std::optional<Bureau> bureau;
    std::map<std::string, std::string> rights;  // by language
    LenderWords words;
};

inline constexpr size_t kMaxRightsText = 8000;  // bytes, a language
inline constexpr size_t kMaxAddressLines = 8;

/// Reads [notices] and the file of words that it names; nullopt: the table is not there. `root` is
/// that of the file, `folder` the one that the file lies in. What is wrong is an error of the
/// table, which finish() returns.
std::optional<Lender> read_lender(config::Table root, const std::filesystem::path& folder);

/// Checks that the words are those of the product, and that check_words() finds no fault.
/// Errors: invalid_argument "bad_words".
base::Status check_lender(const Lender& lender, const std::string& product,
                          const dataset::FeatureSchema& schema);

}  // namespace rampart::notices
