#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/reasons.hpp"
#include "learn/calibrate_page.hpp"
#include "learn/postprocess_fit.hpp"
#include "rampart/base/file.hpp"
#include "rampart/calibration/calibration.hpp"
#include "rampart/dataset/folds.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/evaluation/evaluation.hpp"
#include "rampart/evaluation/model_table.hpp"
#include "rampart/evaluation/reasons.hpp"
#include "rampart/model/model_file.hpp"

namespace rampart::cli {
namespace {

struct Options {
    std::string model, data, schema, test_data, split = "validation", method = "isotonic", out,
                                                report;
    size_t bins = 15, folds = 5;
    double confidence = 0.95;
    uint64_t seed = 0;
};

/// Rows with the model's P(favourable) before any map.
struct Scored {
    dataset::Dataset rows;
    std::vector<double> score, said;  // without the map that the model has; with it
};

/// Checks that there is one score that one map can go on.
base::Result<const model::LearnedLink*> link_of(const Options& o, const model::Policy& policy) {
    const auto* link = policy.last_learned();
    if (link == nullptr || policy.links().size() > 1)
        return base::make_error(Reason::kNotOneLink,
                                "{} has {} links; a model of one learnt link is calibrated, as "
                                "`rampart train` and `rampart import` make them",
                                o.model, policy.links().size());
    if (!link->members.empty())
        return base::make_error(Reason::kAMixture,
                                "the model is a mixture of {} members, which has no single "
                                "score: train one with --output best or --learner gbdt",
                                link->members.size());
    if (link->scale.kind == model::ScoreScale::Kind::kUnit)
        return base::make_error(Reason::kUnitScale, "{}: its score is no probability", o.model);
    if (link->group_aware() || link->strata || !link->adjustments.empty())
        return base::make_error(Reason::kMisuse,
                                "{}: a rule by group or stratum stands on its score, which a map "
                                "would move: calibrate the plain model, then `rampart postprocess`",
                                o.model);
    return link;
}

base::Result<Scored> scored(const Options& o, const model::LoadedPolicy& loaded,
                            const model::LearnedLink& link, dataset::Dataset rows) {
    auto plain = link;
    plain.calibrations.clear();
    RAMPART_TRY(const auto policy, policy_of_link(loaded, plain, {}, ""));
    Scored out{std::move(rows), {}, {}};
    RAMPART_RETURN_IF_ERROR(evaluation::require_labels(out.rows, {o.model, o.data, o.schema}));
    RAMPART_TRY(auto raw, evaluation::policy_answers(policy, out.rows, std::nullopt));
    RAMPART_TRY(auto said, evaluation::policy_answers(loaded.policy, out.rows, std::nullopt));
    out.score = std::move(raw.score);
    out.said = std::move(said.score);
    return out;
}

base::Result<model::Calibration> map_of(const Options& o, std::span<const double> score,
                                        const dataset::Dataset& rows) {
    RAMPART_TRY(const auto method, calibration::parse_calibration(o.method));
    RAMPART_TRY(
        auto fit,
        calibration::fit_calibration(
            {.score = score, .label = rows.label, .group = {}, .groups = 1, .weight = rows.weight},
            {.method = method, .folds = 0, .seed = o.seed}));
    return std::move(fit.maps.front());
}

/// Returns what maps of the other folds say of each row.
base::Result<std::vector<double>> out_of_fold(const Options& o, const Scored& fit) {
    RAMPART_TRY(const auto folds, dataset::row_folds(fit.rows, o.folds, o.seed));
    std::vector<double> said(fit.score.size());
    for (const auto& fold : folds) {
        std::vector<double> score;
        for (const uint32_t row : fold.train) score.push_back(fit.score[row]);
        RAMPART_TRY(const auto map, map_of(o, score, fit.rows.subset(fold.train)));
        for (const uint32_t row : fold.test) said[row] = model::apply(map, fit.score[row]);
    }
    return said;
}

/// Returns the rows to judge by: a file, the test part of the model's table, or none.
base::Result<std::optional<dataset::Dataset>> judging_rows(const Options& o,
                                                           const model::LoadedPolicy& loaded,
                                                           const dataset::TableSchema& schema,
                                                           const dataset::Dataset& table) {
    if (!o.test_data.empty()) {
        RAMPART_TRY(auto test, dataset::read_table(o.test_data, schema));
        return std::optional(std::move(test));
    }
    if (o.split == "all" || o.split == "test") return std::optional<dataset::Dataset>();
    auto test = evaluation::part_of({o.model, o.data, o.schema}, "test", table,
                                    loaded.policy.state().training);
    if (test) return std::optional(*std::move(test));
    // no test rows, or in a file of their own
    if (test.error().is(evaluation::Reason::kEmptyPart) ||
        test.error().is(evaluation::Reason::kOtherData))
        return std::optional<dataset::Dataset>();
    return test.error();
}

/// Measures before and after on rows that the map was not fitted on.
base::Result<CalibrationSides> judge(const Options& o, const Scored& fit,
                                     const std::optional<Scored>& test,
                                     const model::Calibration& map) {
    CalibrationSides sides;
    std::vector<double> after;
    const Scored& judged = test ? *test : fit;
    if (test) {
        for (const double p : test->score) after.push_back(model::apply(map, p));
        sides.rows = fmt::format("{} test rows", judged.rows.rows());
    } else {
        RAMPART_TRY(after, out_of_fold(o, fit));
        sides.rows = fmt::format("{} rows, each by a map of the other folds", judged.rows.rows());
    }
    const auto reliability = [&](std::span<const double> said) {
        return calibration::reliability_of({said, judged.rows.label, judged.rows.weight}, o.bins,
                                           o.confidence, o.seed);
    };
    RAMPART_TRY(sides.before, reliability(judged.said));
    RAMPART_TRY(sides.after, reliability(after));
    return sides;
}

boost::json::object json_of(const calibration::Reliability& found) {
    boost::json::array bins;
    for (const auto& bin : found.bins)
        bins.push_back({{"rows", bin.rows},
                        {"says", bin.said},
                        {"happens", bin.happened},
                        {"interval", {bin.interval.lo, bin.interval.hi}}});
    return {{"expected_calibration_error", found.expected},
            {"interval", {found.interval.lo, found.interval.hi}},
            {"by_chance", found.by_chance},
            {"log_loss", found.log_loss},
            {"brier", found.brier},
            {"bins", std::move(bins)}};
}

double approved(const evaluation::PolicyAnswers& answers, const dataset::Dataset& rows) {
    stats::Tally tally;
    for (size_t i = 0; i < rows.rows(); ++i)
        tally.add(static_cast<double>(rows.weight_of(i)), answers.approve[i]);
    return tally.rate().value_or(0);
}

base::Result<Answer> answer_of(const Options& o, const model::Policy& before,
                               const model::Policy& after, const Scored& fit,
                               const CalibrationSides& sides) {
    RAMPART_TRY(const auto was, evaluation::policy_answers(before, fit.rows, std::nullopt));
    RAMPART_TRY(const auto is, evaluation::policy_answers(after, fit.rows, std::nullopt));
    const double share = approved(was, fit.rows), now = approved(is, fit.rows);
    const auto summary =
        fmt::format("{}, fitted on {} rows ({})", o.method, fit.rows.rows(), o.split);
    Answer answer;
    answer.text = fmt::format(
        "{}\n\n{}\n{}\napproved of the fitted rows: {:.4f} before, {:.4f} after; the threshold of "
        "P(favourable) is as before\n",
        summary, report::align(error_table(sides)), report::align(reliability_table(sides.after)),
        share, now);
    boost::json::object json{{"model", o.model},
                             {"method", o.method},
                             {"fitted_rows", fit.rows.rows()},
                             {"judged_on", sides.rows},
                             {"confidence", o.confidence},
                             {"before", json_of(sides.before)},
                             {"after", json_of(sides.after)},
                             {"approved", {{"before", share}, {"after", now}}}};
    if (!o.report.empty()) {
        const auto title =
            fmt::format("{}: calibration", std::filesystem::path(o.out).filename().string());
        RAMPART_RETURN_IF_ERROR(
            base::write_file_atomically(o.report, calibrate_page(title, summary, sides)));
        answer.text += fmt::format("wrote {}\n", o.report);
        json["report"] = o.report;
    }
    RAMPART_TRY(const auto id, model::save_model_file(after, o.out));
    answer.text = fmt::format("wrote {}\nid {}\n{}", o.out, id.value(), answer.text);
    json["out"] = o.out;
    json["id"] = id.value();
    answer.json = boost::json::serialize(json);
    return answer;
}

base::Result<Answer> calibrate(const Options& o) {
    RAMPART_TRY(const auto loaded, model::load_model_file(o.model));
    RAMPART_TRY(const auto* link, link_of(o, loaded.policy));
    const auto& record = loaded.policy.state().training;
    const evaluation::ModelTableNames names{o.model, o.data, o.schema};
    RAMPART_TRY(const auto schema, evaluation::schema_for(names, loaded.policy, record));
    RAMPART_TRY(const auto table, dataset::read_table(o.data, schema));
    RAMPART_TRY(auto rows, evaluation::part_of(names, o.split, table, record));
    RAMPART_TRY(auto test_rows, judging_rows(o, loaded, schema, table));
    RAMPART_TRY(const auto fit, scored(o, loaded, *link, std::move(rows)));
    std::optional<Scored> test;
    if (test_rows) {
        RAMPART_TRY(test, scored(o, loaded, *link, *std::move(test_rows)));
    }
    RAMPART_TRY(const auto map, map_of(o, fit.score, fit.rows));
    auto mapped = *link;
    mapped.calibrations = {map};
    RAMPART_TRY(const auto policy, policy_of_link(loaded, mapped, {},
                                                  fmt::format("calibrated {} split={} seed={}",
                                                              o.method, o.split, o.seed)));
    RAMPART_TRY(const auto sides, judge(o, fit, test, map));
    RAMPART_TRY(auto answer, answer_of(o, loaded.policy, policy, fit, sides));
    answer.notes.insert(answer.notes.begin(), table.notes.begin(), table.notes.end());
    return answer;
}

void add_options(CLI::App& command, Options& o) {
    command.add_option("--model", o.model, "the model file")->required();
    command.add_option("--data", o.data, "the table: .csv or .csv.gz")->required();
    command.add_option("--out", o.out, "model file to write")->required();
    command.add_option("--schema", o.schema, "schema file, if the model carries none");
    command
        .add_option("--split", o.split,
                    "rows to fit on, which the model has not learnt from: a part of its own table, "
                    "or all of another one")
        ->check(CLI::IsMember({"validation", "test", "all"}))
        ->capture_default_str();
    command.add_option("--test-data", o.test_data,
                       "table to judge on; default: the model's test part, else each fitted row by "
                       "a map of the other folds");
    command.add_option("--method", o.method, "isotonic, platt or beta")
        ->check(CLI::IsMember({"isotonic", "platt", "beta"}))
        ->capture_default_str();
    command.add_option("--bins", o.bins, "bins of the reliability diagram")
        ->check(CLI::Range(size_t{2}, size_t{100}))
        ->capture_default_str();
    command.add_option("--folds", o.folds, "folds where there are no other rows to judge on")
        ->check(CLI::Range(size_t{2}, size_t{100}))
        ->capture_default_str();
    command.add_option("--confidence", o.confidence, "confidence level of the intervals")
        ->check(CLI::Range(0.5, 0.9999))
        ->capture_default_str();
    command.add_option("--seed", o.seed, "seed of folds and of the interval")
        ->capture_default_str();
    command.add_option("--report", o.report, "HTML page to write: the reliability diagram");
}

}  // namespace

void add_calibrate(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "calibrate",
         .summary = "Make a model's score the probability that it says, with a reliability diagram",
         .example = "rampart calibrate --model m.rmp --data data.csv.gz --method isotonic --out "
                    "c.rmp --report reliability.html",
         .detail = "The map goes from the model's P(favourable) to the share of favourable "
                   "outcomes; the probability of default is 1 - P(favourable). It keeps the order "
                   "of rows. What is said of it is measured on rows that it was not fitted on. The "
                   "rule keeps its threshold of P(favourable), so that decisions may change.",
         .reads_no_store = true},
        [options](const Context&) { return calibrate(*options); });
    add_options(command, *options);
}

}  // namespace rampart::cli
