#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <thread>

#include "frame/commands.hpp"
#include "frame/figures_text.hpp"
#include "frame/reasons.hpp"
#include "learn/postprocess_fit.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/dataset/split.hpp"
#include "rampart/evaluation/evaluation.hpp"
#include "rampart/evaluation/model_table.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/report/text_table.hpp"

namespace rampart::cli {
namespace {

using ramp::RampCriterion;

struct Options {
    std::string model, data, schema, split = "validation", out, report, frontier;
    std::string criterion{to_string(RampCriterion::kStatisticalParity)},
        gamma = "cv", calibration = "default", regulariser = "centred";
    std::vector<std::string> epsilons;  // GROUP:NUMBER
    PostprocessSettings settings;
    size_t threads = std::max(1u, std::thread::hardware_concurrency());
    CLI::Option* group_trees_option = nullptr;
};

/// The rows of one part, what the old and the new policy do with them, and how that does.
struct Side {
    std::string name;
    dataset::Dataset rows;
    evaluation::PolicyAnswers before, after;
    evaluation::Evaluation was, is;
};

struct Tables {
    dataset::Dataset fit, others;
    std::optional<dataset::Dataset> test;
};

base::Result<double> number_in(std::string_view text, double lo, double hi, std::string_view what) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value >= lo && value <= hi))
        return base::make_error(base::Reason::kBadNumber, "{} '{}' is no number from {} to {}",
                                what, text, lo, hi);
    return value;
}

base::Status apply_epsilons(Options& o, const std::vector<std::string>& groups) {
    if (o.epsilons.empty()) return base::ok();
    auto& epsilons = o.settings.ramp.epsilons;
    epsilons.assign(groups.size(), o.settings.ramp.epsilon);
    for (const auto& text : o.epsilons) {
        const auto colon = text.rfind(':');
        const auto name = text.substr(0, colon);
        const auto at = std::find(groups.begin(), groups.end(), name);
        if (colon == std::string::npos || at == groups.end())
            return base::make_error(Reason::kBadGroupEpsilon,
                                    "--group-tolerance {}: wanted is GROUP:NUMBER with one of "
                                    "the groups {}",
                                    text, fmt::join(groups, ", "));
        RAMPART_TRY(epsilons[static_cast<size_t>(at - groups.begin())],
                    number_in(std::string_view(text).substr(colon + 1), 0, 1, "--group-tolerance"));
    }
    return base::ok();
}

base::Status apply_settings(Options& o) {
    auto& s = o.settings;
    RAMPART_TRY(s.ramp.criterion, ramp::parse_ramp_criterion(o.criterion));
    s.ramp.regulariser =
        o.regulariser == "paper" ? ramp::Regulariser::kPaper : ramp::Regulariser::kCentred;
    s.search_gamma = o.gamma == "cv" && !s.blind;
    if (o.gamma != "cv") {
        RAMPART_TRY(s.ramp.gamma, number_in(o.gamma, 0, 100, "--gamma"));
    }
    const bool outcomes = s.ramp.criterion == RampCriterion::kEqualOpportunity ||
                          s.ramp.criterion == RampCriterion::kEqualizedOdds;
    if (o.calibration == "default") {
        if (outcomes) s.calibration = calibration::CalibrationMethod::kBeta;
    } else if (o.calibration != "none") {
        RAMPART_TRY(s.calibration, calibration::parse_calibration(o.calibration));
    }
    if (s.blind && !s.within.empty())
        return base::make_error(Reason::kBlindWithin,
                                "--within compares groups inside a protected attribute, "
                                "which a --blind rule does not know: leave one of them out");
    if (s.blind && s.ramp.criterion == RampCriterion::kCovariance)
        return base::make_error(Reason::kBlindCovariance,
                                "--blind does not go with --criterion covariance; for two groups, "
                                "statistical_parity bounds the covariance as well");
    return base::ok();
}

base::Result<Tables> read_tables(const Options& o, const model::LoadedPolicy& loaded) {
    const auto* link = loaded.policy.last_learned();
    if (link != nullptr && link->scale.kind == model::ScoreScale::Kind::kUnit)
        return base::make_error(Reason::kUnitScale,
                                "{}: its score is no probability, and its policy was chosen "
                                "when it was trained (--approve-at-least, --approve-at-most)",
                                o.model);
    const auto& record = loaded.policy.state().training;
    const evaluation::ModelTableNames names{o.model, o.data, o.schema};
    RAMPART_TRY(const auto schema, evaluation::schema_for(names, loaded.policy, record));
    RAMPART_TRY(const auto table, dataset::read_table(o.data, schema));
    RAMPART_RETURN_IF_ERROR(evaluation::require_labels(table, names));
    Tables tables;
    if (o.split == "all") {
        tables.fit = table;
        if (o.settings.blind) {
            const auto halves = dataset::split_rows(table, {0.5, 0.5, 0}, o.settings.seed);
            tables.others = table.subset(halves.train);
            tables.fit = table.subset(halves.validation);
        }
        return tables;
    }
    RAMPART_TRY(tables.fit, evaluation::part_of(names, o.split, table, record));
    if (o.settings.blind) {
        RAMPART_TRY(
            tables.others,
            evaluation::part_of(names, o.split == "train" ? "validation" : "train", table, record));
    }
    if (auto test = evaluation::part_of(names, "test", table, record); test && o.split != "test")
        tables.test = *std::move(test);
    return tables;
}

base::Result<Side> side_of(std::string name, dataset::Dataset rows, const model::Policy& before,
                           const model::Policy& after) {
    Side side{std::move(name), std::move(rows), {}, {}, {}, {}};
    RAMPART_TRY(side.before, evaluation::policy_answers(before, side.rows, std::nullopt));
    RAMPART_TRY(side.after, evaluation::policy_answers(after, side.rows, std::nullopt));
    RAMPART_TRY(side.was, evaluation::evaluate_answers(side.before, side.rows));
    RAMPART_TRY(side.is, evaluation::evaluate_answers(side.after, side.rows));
    return side;
}

std::string rate(const stats::Tally& tally) {
    const auto value = tally.rate();
    return value ? fmt::format("{:.4f}", *value) : "-";
}

/// Returns one line for each group, and one for all rows.
report::Table table_of(const Side& side) {
    report::Table table{{fmt::format("{} rows", side.name), "rows", "approved", "after", "TPR",
                         "after", "FPR", "after", "accuracy", "after"}};
    const auto add = [&](const std::string& name, const stats::DecisionRates& was,
                         const stats::DecisionRates& is) {
        const auto tpr = [](const stats::Tally& fnr) {
            const auto value = fnr.rate();
            return value ? fmt::format("{:.4f}", 1 - *value) : "-";
        };
        table.push_back({name, std::to_string(was.base.rows), rate(was.approved), rate(is.approved),
                         tpr(was.false_negative), tpr(is.false_negative), rate(was.false_positive),
                         rate(is.false_positive), rate(was.correct), rate(is.correct)});
    };
    for (size_t k = 0; k < side.is.groups->groups.size(); ++k)
        add(side.is.groups->groups[k].name, side.was.groups->groups[k].rates,
            side.is.groups->groups[k].rates);
    add("all rows", side.was.overall, side.is.overall);
    return table;
}

std::string calibration_text(const calibration::CalibrationComparison& c) {
    if (!c.before || !c.after) return {};
    return fmt::format(
        "expected calibration error {:.4f}, after the map {:.4f}{}", c.before->expected,
        c.after->expected,
        c.out_of_fold ? fmt::format(", out of fold {:.4f}", c.out_of_fold->expected) : "");
}

boost::json::value json_of(const std::optional<calibration::CalibrationError>& e) {
    if (!e) return nullptr;
    return boost::json::object{{"brier", e->brier},
                               {"log_loss", e->log_loss},
                               {"expected", e->expected},
                               {"largest", e->largest}};
}

boost::json::object describe(const Options& o, const Postprocessed& fitted) {
    boost::json::object json{{"criterion", o.criterion},
                             {"tolerance", o.settings.ramp.epsilon},
                             {"blind", o.settings.blind},
                             {"gamma", fitted.link.ramp.gamma},
                             {"offset", fitted.link.ramp.offset},
                             {"thresholds", boost::json::value_from(fitted.link.ramp.thresholds)},
                             {"slopes", boost::json::value_from(fitted.link.ramp.slopes)},
                             {"ties", boost::json::value_from(fitted.link.ramp.ties)},
                             {"duality_gap", fitted.gap()}};
    boost::json::array gammas;
    for (const auto& figure : fitted.gammas)
        gammas.push_back({{"gamma", figure.gamma},
                          {"accuracy", figure.accuracy ? boost::json::value(*figure.accuracy)
                                                       : boost::json::value(nullptr)},
                          {"mean_product", figure.mean_product},
                          {"bias", figure.bias}});
    json["gammas"] = std::move(gammas);
    if (fitted.calibration)
        json["calibration"] =
            boost::json::object{{"before", json_of(fitted.calibration->overall.before)},
                                {"after", json_of(fitted.calibration->overall.after)},
                                {"out_of_fold", json_of(fitted.calibration->overall.out_of_fold)}};
    if (fitted.aware) json["rates"] = boost::json::value_from(fitted.aware->rates);
    if (fitted.blind) {
        const auto& blind = *fitted.blind;
        const bool parity = o.settings.ramp.criterion == RampCriterion::kStatisticalParity;
        json["mean_product"] = blind.mean_product;
        if (parity) {
            json["expected_rates"] = boost::json::value_from(blind.rates);
            json["aware_mean_product"] = blind.aware_mean_product;
        } else {
            json["expected_true_positive_rates"] =
                boost::json::value_from(blind.true_positive_rates);
        }
        if (o.settings.ramp.criterion == RampCriterion::kEqualizedOdds)
            json["expected_false_positive_rates"] =
                boost::json::value_from(blind.false_positive_rates);
    }
    return json;
}

std::string summary_of(const Options& o, const Postprocessed& fitted) {
    std::string text =
        fmt::format("criterion {}, tolerance {}{}{}, gamma {:g}{}, duality gap {:.1e}", o.criterion,
                    o.settings.ramp.epsilon, o.settings.within.empty() ? "" : ", within ",
                    o.settings.within, fitted.link.ramp.gamma,
                    fitted.gammas.empty() ? "" : " (by cross-validation)", fitted.gap());
    if (fitted.calibration)
        text += fmt::format("\n{} calibration: {}", to_string(*o.settings.calibration),
                            calibration_text(fitted.calibration->overall));
    if (fitted.blind && !std::isnan(fitted.blind->aware_mean_product))
        text += fmt::format(
            "\ngroup-blind: agreement with the scores {:.5f}; with the group known it would be "
            "{:.5f}",
            fitted.blind->mean_product, fitted.blind->aware_mean_product);
    return text;
}

/// The whole curve: what each tolerance gives, and how accurate that is on rows of neither kind.
base::Status write_frontier(const Options& o, const Postprocessed& fitted,
                            const dataset::Dataset& fit,
                            const std::optional<dataset::Dataset>& test) {
    RAMPART_TRY(const auto points, epsilon_curve(fitted, fit, o.settings));
    std::string csv = "tolerance,bias,mean_product,approval,test_accuracy\n";
    std::vector<double> scores;
    if (test) {
        std::vector<float> row(test->schema.size());
        for (size_t i = 0; i < test->rows(); ++i) {
            test->copy_row(i, row);
            const auto& link = fitted.link;
            scores.push_back(
                link.value(link.probability(model::sigmoid(link.ensemble.predict_raw(row)),
                                            static_cast<size_t>(test->group[i]))));
        }
    }
    for (const auto& point : points) {
        double right = 0, all = 0;
        for (size_t i = 0; i < scores.size(); ++i) {
            const double q = point.rule.apply(scores[i], static_cast<size_t>(test->group[i]));
            const auto w = static_cast<double>(test->weight_of(i));
            right += w * (test->label[i] == 1 ? q : 1 - q);
            all += w;
        }
        csv += fmt::format("{},{},{},{},{}\n", point.epsilon, point.bias, point.mean_product,
                           point.approval, all > 0 ? fmt::format("{}", right / all) : "");
    }
    return base::write_file_atomically(o.frontier, csv);
}

base::Result<Answer> answer_of(const Options& o, const Postprocessed& fitted,
                               const std::vector<Side>& sides, const domain::PolicyId& id) {
    Answer answer;
    boost::json::object json{{"out", o.out}, {"id", id.value()}, {"model", o.model}};
    for (auto& [key, value] : describe(o, fitted)) json[key] = value;
    answer.text = fmt::format("wrote {}\nid {}\n{}\n", o.out, id.value(), summary_of(o, fitted));
    for (const auto& side : sides) {
        answer.text += fmt::format("\n{}", report::align(table_of(side)));
        json[side.name] =
            boost::json::object{{"before", to_json(side.was)}, {"after", to_json(side.is)}};
    }
    if (!o.report.empty()) {
        const auto& fit = sides.front();
        const auto page = postprocess_page(
            fmt::format("{}: {}", std::filesystem::path(o.out).filename().string(), o.criterion),
            summary_of(o, fitted), table_of(sides.back()),
            ramp_pictures(fit.rows.group_names, fit.rows.group, fitted.rows.scores,
                          fit.before.approve, fitted.rows.approve));
        RAMPART_RETURN_IF_ERROR(base::write_file_atomically(o.report, page));
        answer.text += fmt::format("\nwrote {}\n", o.report);
    }
    answer.json = boost::json::serialize(json);
    return answer;
}

std::string provenance_text(const Options& o, const model::LearnedLink& link) {
    return fmt::format(
        "criterion={} tolerance={}{}{} gamma={} regulariser={} calibration={}{} "
        "split={} seed={}",
        o.criterion, o.settings.ramp.epsilon,
        o.settings.within.empty() ? "" : " within=", o.settings.within, link.ramp.gamma,
        o.regulariser, o.settings.calibration ? to_string(*o.settings.calibration) : "none",
        o.settings.blind ? " blind" : "", o.split, o.settings.seed);
}

base::Result<Answer> postprocess(Options& o) {
    RAMPART_RETURN_IF_ERROR(apply_settings(o));
    RAMPART_TRY(const auto loaded, model::load_model_file(o.model));
    const auto* before = loaded.policy.last_learned();
    if (before == nullptr || loaded.policy.links().size() > 1)
        return base::make_error(Reason::kNotOneLink,
                                "{} has {} links; a ramp is put on a model of one learnt "
                                "link, as `rampart train` and `rampart import` make them",
                                o.model, loaded.policy.links().size());
    RAMPART_TRY(auto tables, read_tables(o, loaded));
    RAMPART_RETURN_IF_ERROR(apply_epsilons(o, tables.fit.group_names));
    base::ThreadPool pool(o.threads);
    RAMPART_TRY(const auto fitted,
                postprocess_link(*before, tables.fit, tables.others, o.settings, pool));

    auto provenance = loaded.policy.provenance();
    provenance["postprocess"] = provenance_text(o, fitted.link);
    provenance["postprocessed_from"] = loaded.id.value();
    const auto names =
        fitted.link.group_aware() ? tables.fit.group_names : std::vector<std::string>();
    RAMPART_TRY(const auto policy,
                model::Policy::create(loaded.policy.schema(), {fitted.link}, names,
                                      std::move(provenance), loaded.policy.state()));
    if (!o.frontier.empty())
        RAMPART_RETURN_IF_ERROR(write_frontier(o, fitted, tables.fit, tables.test));
    std::vector<Side> sides;
    RAMPART_TRY(sides.emplace_back(),
                side_of("fitted", std::move(tables.fit), loaded.policy, policy));
    if (tables.test) {
        RAMPART_TRY(sides.emplace_back(),
                    side_of("test", *std::move(tables.test), loaded.policy, policy));
    }
    RAMPART_TRY(const auto id, model::save_model_file(policy, o.out));
    return answer_of(o, fitted, sides, id);
}

void add_rule_options(CLI::App& command, Options& o) {
    auto& ramp = o.settings.ramp;
    command
        .add_option("--criterion", o.criterion,
                    "what has to be alike in all groups: statistical_parity, approval rates; "
                    "equal_opportunity, true positive rates; equalized_odds, true and false "
                    "positive rates; covariance, of approval and group within strata of two")
        ->check(CLI::IsMember(
            {"statistical_parity", "equal_opportunity", "equalized_odds", "covariance"}))
        ->capture_default_str();
    command.add_option("--tolerance", ramp.epsilon, "allowed difference between groups")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    command.add_option("--group-tolerance", o.epsilons,
                       "GROUP:NUMBER: another tolerance for one group; may be repeated");
    command.add_option("--within", o.settings.within,
                       "protected attribute; groups are compared within each of its values");
    command
        .add_option("--gamma", o.gamma,
                    "width of the band of scores (in [-1, 1]) in which approval is drawn; 0: a "
                    "threshold, ties drawn; cv: by cross-validation (with --blind: 0.1)")
        ->capture_default_str();
    command
        .add_option("--rho", ramp.rho,
                    "middle of the groups' approval rates; default: the best one")
        ->check(CLI::Range(0.0, 1.0));
    command
        .add_option("--approve-at-least", ramp.overall.lo, "minimum share of all rows to approve")
        ->check(CLI::Range(0.0, 1.0));
    command
        .add_option("--approve-at-most", ramp.overall.hi, "maximum share of all rows to approve")
        ->check(CLI::Range(0.0, 1.0));
    command
        .add_option("--regulariser", o.regulariser,
                    "centred: on the threshold; paper: as printed, which favours declines")
        ->check(CLI::IsMember({"centred", "paper"}))
        ->capture_default_str();
    command
        .add_option("--calibration", o.calibration,
                    "calibration of the scores on the same rows, by group for equal_opportunity "
                    "and equalized_odds; default: beta for these two, none for the others")
        ->check(CLI::IsMember({"default", "none", "isotonic", "platt", "beta"}))
        ->capture_default_str();
    command.add_flag("--blind", o.settings.blind,
                     "do not use the group, but P(group | features), learnt from the training "
                     "part; the criterion holds in expectation");
    o.group_trees_option =
        command
            .add_option("--group-trees", o.settings.posteriors.trees,
                        "with --blind: trees of each ensemble that predicts P(group | features)")
            ->capture_default_str();
}

}  // namespace

void add_postprocess(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& o = *options;
    o.settings.ramp.epsilon = 0.02;
    o.settings.posteriors.trees = 100;
    o.settings.posteriors.leaves = 15;
    auto& command = frame.add(
        {.name = "postprocess",
         .summary = "Put a ramp on a model's scores so that rates are alike in all groups",
         .example = "rampart postprocess --model m.rmp --data data.csv.gz --criterion "
                    "statistical_parity --tolerance 0.02 --out p.rmp --report ramps.html",
         .detail = "The ramp is fitted on rows that the model was not trained on (--split), and "
                   "evaluated on the test part as well if the table is the one that the model was "
                   "trained on. The model's score and exploration stay.",
         .reads_no_store = true},
        [options](const Context&) {
            auto answer = postprocess(*options);
            if (answer && !options->settings.blind && options->group_trees_option->count() > 0)
                answer->notes.push_back("--group-trees has no effect without --blind");
            return answer;
        });
    command.add_option("--model", o.model, "the model file")->required();
    command.add_option("--data", o.data, "the table: .csv or .csv.gz")->required();
    command.add_option("--out", o.out, "model file to write")->required();
    command.add_option("--schema", o.schema, "schema file, if the model carries none");
    command.add_option("--split", o.split, "rows to fit on")
        ->check(CLI::IsMember({"train", "validation", "test", "all"}))
        ->capture_default_str();
    add_rule_options(command, o);
    command.add_option("--report", o.report,
                       "HTML page to write: each group's ramp over its scores");
    command.add_option("--frontier", o.frontier,
                       "CSV file: the results of 21 tolerances, in one pass (not with --blind)");
    command.add_option("--seed", o.settings.seed, "seed of the folds")->capture_default_str();
    command.add_option("--threads", o.threads, "number of threads, default one per core")
        ->check(CLI::Range(size_t{1}, size_t{256}));
}

}  // namespace rampart::cli
