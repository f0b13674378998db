#include <algorithm>
#include <map>
#include <set>

#include "rampart/decision/reason_codes.hpp"
#include "rampart/notices/words.hpp"

namespace rampart::notices {
namespace {

using dataset::FeatureKind;
using dataset::FeatureSpec;

/// Collects the findings.
class Check {
  public:
    Check(const LenderWords& words, const dataset::FeatureSchema& schema)
        : words_(words), schema_(schema) {}

    std::vector<WordsFinding> run() {
        check_codes();
        for (const auto& reason : words_.reasons) {
            check_languages(reason);
            check_globs(reason);
        }
        for (const auto& glob : words_.never_cite) {
            if (!fits_a_feature(glob))
                add("words_without_feature", glob,
                    "never_cite: '{}' fits no feature of the schema; correct or remove it", glob);
        }
        for (const auto& feature : schema_.features()) check_feature(feature);
        check_draw(Source::kDraw, "draw");
        check_draw(Source::kDrawAlone, "draw_alone");
        check_review(Source::kReviewOpen, "review_open");
        check_review(Source::kReviewAnswered, "review_answered");
        return std::move(findings_);
    }

  private:
    template <class... Args>
    void add(std::string kind, std::string name, fmt::format_string<Args...> format,
             Args&&... args) {
        findings_.push_back({true, std::move(kind), std::move(name),
                             fmt::format(format, std::forward<Args>(args)...)});
    }
    bool fits_a_feature(std::string_view glob) const {
        const auto& features = schema_.features();
        return std::any_of(features.begin(), features.end(),
                           [&](const auto& feature) { return fits(glob, feature.name); });
    }
    void check_codes() {
        std::set<std::string> seen;
        for (const auto& reason : words_.reasons) {
            if (!seen.insert(reason.code).second)
                add("doubled_code", reason.code,
                    "code '{}' is there twice; give each reason its own", reason.code);
            const bool stored = reason.code == decision::kScoreTooLow ||
                                reason.code == decision::kRandomDraw ||
                                reason.code == decision::kExplorationNotDrawn ||
                                reason.code == decision::kExplorationDeclined ||
                                reason.code.starts_with(decision::kFeatureReasonPrefix);
            if (stored)
                add("reserved_code", reason.code,
                    "code '{}' is one of stored decisions, and no reason that a letter may have by "
                    "itself; take a code of your own",
                    reason.code);
        }
    }
    void check_languages(const ReasonWords& reason) {
        for (const auto& language : words_.languages) {
            if (!reason.text.contains(language))
                add("missing_language", reason.code, "reason '{}' has no text.{}", reason.code,
                    language);
        }
    }
    void check_globs(const ReasonWords& reason) {
        if (reason.source != Source::kFeatures) return;
        if (reason.features.empty())
            add("words_without_feature", reason.code,
                "reason '{}' has no features; name some, or say by = \"people\", if it is one of "
                "overrides",
                reason.code);
        for (const auto& glob : reason.features) {
            if (!fits_a_feature(glob))
                add("words_without_feature", reason.code,
                    "reason '{}': '{}' fits no feature of the schema; correct or remove it",
                    reason.code, glob);
        }
    }
    void check_feature(const FeatureSpec& feature) {
        if (words_.is_never_cited(feature.name)) {
            findings_.push_back(
                {false, "never_cited", feature.name,
                 fmt::format("feature '{}' is never cited: a decline for which it is a principal "
                             "reason gets no letter by itself, since none may be left out; better "
                             "train without it",
                             feature.name)});
            return;
        }
        std::map<Direction, std::string> codes;
        for (const auto& reason : words_.reasons) {
            const auto& globs = reason.features;
            if (std::none_of(globs.begin(), globs.end(),
                             [&](const auto& glob) { return fits(glob, feature.name); }))
                continue;
            const auto [it, is_new] = codes.emplace(reason.direction, reason.code);
            if (!is_new)
                add("doubled_words", feature.name,
                    "feature '{}' (direction \"{}\") has the words of '{}' and of '{}'; leave it "
                    "in "
                    "one of them",
                    feature.name, to_string(reason.direction), it->second, reason.code);
        }
        if (codes.contains(Direction::kAny)) return;
        std::vector<std::string> lacking;
        const auto need = [&](Direction direction) {
            if (!codes.contains(direction)) lacking.emplace_back(to_string(direction));
        };
        if (feature.kind == FeatureKind::kNumeric) {
            need(Direction::kLow);
            need(Direction::kHigh);
        }
        need(Direction::kMissing);
        if (codes.empty() || feature.kind == FeatureKind::kCategorical) lacking = {"any"};
        if (!lacking.empty())
            add("feature_without_words", feature.name,
                "feature '{}' has no words for direction {}; a decline for it could have no letter",
                feature.name, fmt::join(lacking, ", "));
    }
    auto count_of(Source source) const {
        return std::count_if(words_.reasons.begin(), words_.reasons.end(),
                             [&](const auto& reason) { return reason.source == source; });
    }
    void check_review(Source source, std::string_view by) {
        const auto count = count_of(source);
        if (count == 0)
            findings_.push_back(
                {false, "no_review_words", std::string(by),
                 fmt::format("there is no reason with by = \"{}\": where people review a decline, "
                             "it gets no letter by itself",
                             by)});
        if (count > 1)
            add("doubled_words", std::string(by), "{} reasons have by = \"{}\"; leave one", count,
                by);
    }
    void check_draw(Source source, std::string_view by) {
        const auto count = count_of(source);
        if (count == 0)
            add("no_draw_words", std::string(by),
                "there is no reason with by = \"{}\": declines that chance decided could have no "
                "letter",
                by);
        if (count > 1)
            add("doubled_words", std::string(by), "{} reasons have by = \"{}\"; leave one", count,
                by);
    }

    const LenderWords& words_;
    const dataset::FeatureSchema& schema_;
    std::vector<WordsFinding> findings_;
};

}  // namespace

std::vector<WordsFinding> check_words(const LenderWords& words,
                                      const dataset::FeatureSchema& schema) {
    return Check(words, schema).run();
}

}  // namespace rampart::notices
