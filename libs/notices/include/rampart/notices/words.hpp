#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/config/table.hpp"
#include "rampart/dataset/feature_schema.hpp"

/// The lender's words for reasons, a file for each product:
///
///     product = "credit_card"
///     languages = ["en", "es"]        # each text has all of them; the first is the usual one
///     never_cite = ["postcode"]       # a decline for one of these gets no letter by itself
///
///     [[reason]]
///     code = "payment_history"        # the lender's own; what letters and answers show
///     features = ["pay_*"]            # names, `*` for any characters: one reason for all of them
///     direction = "any"               # or "low", "high", "missing": see Direction
///     text.en = "Delinquent past or present credit obligations"
///     text.es = "…"
///
///     [[reason]]
///     code = "income_not_proven"      # as overrides give it
///     by = "people"                   # or "draw", "draw_alone", "review_…": see Source
///     text.en = "Unable to verify income"
///     text.es = "…"
namespace rampart::notices {

/// What a reason comes from.
enum class Source {
    kFeatures,   // what the applicant's features did
    kPeople,     // a person, who gave the code with an override
    kDraw,       // the draw decided, after features had lowered the probability of approval
    kDrawAlone,  // the draw decided, and without it the procedure approves
    // no reasons, but what a letter says of a review: by = "review_open", "review_answered"
    kReviewOpen,      // the decline is under review
    kReviewAnswered,  // people have reviewed it, and it stands
};

/// How the applicant's value lies to that of the reference row. Of a reason of the file: for which
/// of them its text is; those of kAny are taken where there is none for the direction itself.
enum class Direction { kAny, kLow, kHigh, kMissing };
std::string_view to_string(Direction direction);  // "any", "low", "high", "missing"

struct ReasonWords {
    std::string code;
    Source source = Source::kFeatures;
    std::vector<std::string> features;        // globs; only of kFeatures
    Direction direction = Direction::kAny;    // only of kFeatures
    std::map<std::string, std::string> text;  // by language, UTF-8 without control characters
};

struct LenderWords {
    std::string product;
    std::vector<std::string> languages;  // [1 to kMaxLanguages], distinct
    std::vector<std::string> never_cite;
    std::vector<ReasonWords> reasons;

    bool is_never_cited(std::string_view feature) const;
    /// nullptr: there are none.
    const ReasonWords* of_feature(std::string_view feature, Direction direction) const;
    const ReasonWords* of_people(std::string_view code) const;
    const ReasonWords* of_source(Source source) const;  // words for a draw or a review
};

inline constexpr size_t kMaxLanguages = 20, kMaxReasonWords = 1000, kMaxGlobs = 200;
inline constexpr size_t kMaxReasonText = 500;  // bytes, a language

/// Reads strictly; the errors are the table's, which its caller's finish() returns. What
/// check_words() finds is no error here.
LenderWords read_words(config::Table root);
/// Errors: those of config::parse_file and finish().
base::Result<LenderWords> read_words_file(const std::filesystem::path& file);

/// What check_words() finds.
struct WordsFinding {
    bool fault = true;    // false: nothing is wrong, but people should know
    std::string kind;     // "feature_without_words", as below
    std::string name;     // the feature, code or glob
    std::string message;  // for people
};

/// Compares the words with the features that a policy of the product can read:
/// "feature_without_words" (also: for one direction), "words_without_feature" (a reason or glob
/// that fits none), "doubled_code", "doubled_words" (two texts for one feature and direction),
/// "reserved_code" (codes of stored decisions), "missing_language", "no_draw_words"; and, no
/// fault, "never_cited": a decline for that feature gets no letter by itself; "no_review_words".
std::vector<WordsFinding> check_words(const LenderWords& words,
                                      const dataset::FeatureSchema& schema);

/// Returns whether a name is as the glob says; `*` stands for any characters, also none.
bool fits(std::string_view glob, std::string_view name);

}  // namespace rampart::notices
