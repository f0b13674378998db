#include "learn/cross_validation.hpp"

#include <fmt/format.h>

#include <cmath>

#include "rampart/dataset/twins.hpp"
#include "rampart/report/text_table.hpp"

namespace rampart::cli {
namespace {

/// What the policies of one division say of the rows that they have not seen.
struct Judged {
    std::vector<uint32_t> rows;
    evaluation::PolicyAnswers answers;
};

std::optional<double> value_of(const Figures& figures, const std::string& name) {
    for (const auto& [key, value] : figures)
        if (key == name) return value;
    return std::nullopt;
}

base::Result<Judged> judge_division(const dataset::Dataset& data, const Division& division,
                                    size_t repeat, const LearnFold& learn,
                                    const std::function<void(size_t)>& learnt,
                                    CrossValidation& found) {
    Judged judged;
    for (size_t k = 0; k < division.size(); ++k) {
        const auto& fold = division[k];
        FoldFigures one{.repeat = repeat,
                        .fold = k + 1,
                        .train_rows = fold.train.size(),
                        .test_rows = fold.test.size()};
        const auto where = fmt::format("fold {} of {}", k + 1, division.size());
        const auto policy = learn(one, fold.train);
        if (!policy) return policy.error().with_context(where);
        const auto test = data.subset(fold.test);
        one.twins = dataset::count_twins(test, data.subset(fold.train));
        const auto answers = evaluation::policy_answers(*policy, test, std::nullopt);
        if (!answers) return answers.error().with_context(where);
        RAMPART_TRY(const auto evaluation,
                    evaluation::evaluate_answers(*answers, test, found.confidence));
        one.figures = figures_of(evaluation);
        judged.rows.insert(judged.rows.end(), fold.test.begin(), fold.test.end());
        auto& all = judged.answers;
        all.score.insert(all.score.end(), answers->score.begin(), answers->score.end());
        all.approve.insert(all.approve.end(), answers->approve.begin(), answers->approve.end());
        found.folds.push_back(std::move(one));
        learnt(found.folds.size());
    }
    return judged;
}

void summarise(const std::vector<Figures>& pooled, CrossValidation& found) {
    double test_rows = 0, train_rows = 0;
    for (const auto& fold : found.folds) {
        test_rows += static_cast<double>(fold.test_rows);
        train_rows += static_cast<double>(fold.train_rows);
        if (fold.repeat > 1) continue;
        found.test_rows += fold.test_rows;
        found.twins += fold.twins;
    }
    found.mean_train_rows = train_rows / static_cast<double>(found.folds.size());
    for (const auto& [name, unused] : pooled.front()) {
        std::vector<double> values, together;
        for (const auto& fold : found.folds)
            if (const auto value = value_of(fold.figures, name)) values.push_back(*value);
        for (const auto& figures : pooled)
            if (const auto value = value_of(figures, name)) together.push_back(*value);
        FigureSummary summary{.name = name, .folds = values.size(), .of_folds = {}, .pooled = {}};
        if (const auto mean =
                stats::resampled_mean(values, test_rows / train_rows, found.confidence))
            summary.of_folds = *mean;
        if (const auto mean = stats::resampled_mean(together, 0, found.confidence))
            summary.pooled = mean->mean;
        found.summary.push_back(std::move(summary));
    }
}

std::string number(const std::optional<double>& value) {
    return value ? fmt::format("{:.4f}", *value) : "-";
}

boost::json::value json_of(const std::optional<double>& value) {
    return value ? boost::json::value(*value) : boost::json::value(nullptr);
}

}  // namespace

Figures figures_of(const evaluation::Evaluation& e) {
    Figures out{{"auc", e.auc},
                {"log_loss", e.log_loss},
                {"brier", e.brier},
                {"ks", e.ks},
                {"accuracy", e.overall.correct.rate()}};
    if (!e.groups) return out;
    const auto put = [&](const char* name, const std::optional<fairness::Gap>& gap) {
        out.emplace_back(name, gap ? std::optional(gap->difference) : std::nullopt);
    };
    put("approval_gap", e.groups->approved);
    put("false_positive_gap", e.groups->false_positive);
    put("false_negative_gap", e.groups->false_negative);
    put("accuracy_gap", e.groups->accuracy);
    return out;
}

base::Result<CrossValidation> cross_validate(const dataset::Dataset& data,
                                             const std::vector<Division>& divisions,
                                             double confidence, const LearnFold& learn,
                                             const std::function<void(size_t)>& learnt) {
    CrossValidation found;
    found.confidence = confidence;
    std::vector<Figures> pooled;
    for (size_t repeat = 0; repeat < divisions.size(); ++repeat) {
        RAMPART_TRY(const auto judged,
                    judge_division(data, divisions[repeat], repeat + 1, learn, learnt, found));
        RAMPART_TRY(
            const auto evaluation,
            evaluation::evaluate_answers(judged.answers, data.subset(judged.rows), confidence));
        pooled.push_back(figures_of(evaluation));
    }
    summarise(pooled, found);
    return found;
}

std::string to_text(const CrossValidation& found) {
    report::Table folds{{"repeat", "fold", "train rows", "test rows", "twins"}};
    for (const auto& [name, value] : found.folds.front().figures) folds.front().push_back(name);
    for (const auto& fold : found.folds) {
        report::Table::value_type line{std::to_string(fold.repeat), std::to_string(fold.fold),
                                       std::to_string(fold.train_rows),
                                       std::to_string(fold.test_rows), std::to_string(fold.twins)};
        for (const auto& [name, value] : fold.figures) line.push_back(number(value));
        folds.push_back(std::move(line));
    }
    report::Table table{{"figure", "mean", "spread", "from", "to", "pooled", "folds"}};
    for (const auto& one : found.summary) {
        const auto& interval = one.of_folds.interval;
        const bool any = one.folds > 0;
        table.push_back(
            {one.name, any ? number(one.of_folds.mean) : "-",
             any ? number(one.of_folds.spread) : "-", interval ? number(interval->lo) : "-",
             interval ? number(interval->hi) : "-", number(one.pooled), std::to_string(one.folds)});
    }
    return fmt::format(
        "{}\n{}\nfrom, to: with {:g} % confidence what the learner reaches, on the mean, on tables "
        "of {:.0f} rows of this kind; corrected for the rows that folds have in common (Nadeau and "
        "Bengio 2003)\n{} of {} judged rows have the same features as a training row\n",
        report::align(folds), report::align(table), 100 * found.confidence, found.mean_train_rows,
        found.twins, found.test_rows);
}

boost::json::object to_json(const CrossValidation& found) {
    boost::json::array folds;
    for (const auto& fold : found.folds) {
        boost::json::object one{{"repeat", fold.repeat},
                                {"fold", fold.fold},
                                {"train_rows", fold.train_rows},
                                {"test_rows", fold.test_rows},
                                {"twins", fold.twins}};
        for (const auto& [name, value] : fold.figures) one[name] = json_of(value);
        folds.push_back(std::move(one));
    }
    boost::json::object summary;
    for (const auto& one : found.summary) {
        const auto& interval = one.of_folds.interval;
        const bool any = one.folds > 0;
        summary[one.name] = boost::json::object{
            {"mean", any ? boost::json::value(one.of_folds.mean) : boost::json::value(nullptr)},
            {"spread", any ? boost::json::value(one.of_folds.spread) : boost::json::value(nullptr)},
            {"interval", interval ? boost::json::value{interval->lo, interval->hi}
                                  : boost::json::value(nullptr)},
            {"pooled", json_of(one.pooled)},
            {"folds", one.folds}};
    }
    return {{"confidence", found.confidence},
            {"interval_method", "corrected resampled t (Nadeau and Bengio 2003)"},
            {"mean_train_rows", found.mean_train_rows},
            {"judged_rows", found.test_rows},
            {"twins", found.twins},
            {"folds", std::move(folds)},
            {"summary", std::move(summary)}};
}

}  // namespace rampart::cli
