#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "frame/commands.hpp"
#include "frame/figures_text.hpp"
#include "frame/reasons.hpp"
#include "learn/postprocess_fit.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/dataset/split.hpp"
#include "rampart/dataset/twins.hpp"
#include "rampart/evaluation/evaluation.hpp"
#include "rampart/evaluation/model_table.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/report/text_table.hpp"

namespace rampart::cli {
namespace {

struct Options {
    std::string model, data, schema, split = "validation", out, report, frontier, operate_at;
    std::string criterion = "statistical_parity", gamma = "cv";
    bool blind = false;
    /// Texts of the flags that stand for options of post-processors, by the option's name.
    std::map<std::string, std::vector<std::string>> given;
    PostprocessSettings settings;
    size_t threads = std::max(1u, std::thread::hardware_concurrency());

    bool is_given(const std::string& name) const {
        const auto found = given.find(name);
        return found != given.end() && !found->second.empty();
    }
};

/// Values that suit a table at hand, where those of the options suit retraining.
const std::map<std::string_view, learning::OptionValue> kFallbacks{{"tolerance", 0.02},
                                                                   {"gamma", 0.1}};

/// The rows of one part, what the old and the new policy do with them, and how that does.
struct Side {
    std::string name;
    dataset::Dataset rows;
    evaluation::PolicyAnswers before, after;
    evaluation::Evaluation was, is;
    std::vector<StratumRates> strata = {};  // where the criterion compares within strata
};

struct Tables {
    dataset::Dataset fit, others;
    std::optional<dataset::Dataset> test;
    std::vector<std::string> notes;  // what the reading changed
    std::optional<size_t> twins;     // fitting rows with the same features as a training row
};

base::Result<double> number_in(std::string_view text, double lo, double hi, std::string_view what) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value >= lo && value <= hi))
        return base::make_error(base::Reason::kBadNumber, "{} '{}' is no number from {} to {}",
                                what, text, lo, hi);
    return value;
}

/// Returns the value that a flag's texts say.
base::Result<learning::OptionValue> value_of(const learning::Option& option,
                                             const std::vector<std::string>& texts) {
    const auto what = fmt::format("--{}", option.name);
    switch (option.fallback.index()) {
        case 1: {
            RAMPART_TRY(const auto value, number_in(texts.back(), option.lo, option.hi, what));
            if (value != std::floor(value))
                return base::make_error(base::Reason::kBadNumber, "{} '{}' is no whole number",
                                        what, texts.back());
            return learning::OptionValue(static_cast<int64_t>(value));
        }
        case 4: {
            std::vector<double> numbers;
            for (const auto& text : texts) {
                RAMPART_TRY(numbers.emplace_back(), number_in(text, option.lo, option.hi, what));
            }
            return learning::OptionValue(std::move(numbers));
        }
        case 2: {
            RAMPART_TRY(const auto value, number_in(texts.back(), option.lo, option.hi, what));
            return learning::OptionValue(value);
        }
        case 5:
            return learning::OptionValue(texts);
        default:
            return learning::OptionValue(texts.back());
    }
}

base::Status apply_settings(Options& o) {
    auto& s = o.settings;
    RAMPART_TRY(s.postprocessor, postprocessing::find_postprocessor(o.criterion));
    s.values = learning::OptionValues(s.postprocessor->options());
    for (const auto& [name, value] : kFallbacks)
        if (s.values.has(name)) s.values.set_fallback(name, value);
    for (const auto& [name, texts] : o.given) {
        if (texts.empty()) continue;
        const auto& options = s.values.options();
        const auto option = std::find_if(options.begin(), options.end(),
                                         [&](const auto& one) { return one.name == name; });
        if (option == options.end())
            return base::make_error(Reason::kMisuse,
                                    "criterion {} has no option {}: leave --{} out, or see "
                                    "`rampart postprocessors {}`",
                                    o.criterion, name, name, o.criterion);
        RAMPART_TRY(auto value, value_of(*option, texts));
        RAMPART_RETURN_IF_ERROR(s.values.set(name, std::move(value)));
    }
    if (o.blind) RAMPART_RETURN_IF_ERROR(s.values.set("group", std::string("blind")));
    s.search_gamma = o.gamma == "cv" && !o.blind && s.values.has("gamma");
    if (o.gamma != "cv") {
        RAMPART_TRY(const auto gamma, number_in(o.gamma, 0, 100, "--gamma"));
        RAMPART_RETURN_IF_ERROR(s.values.set("gamma", gamma));
    }
    if (!o.operate_at.empty()) {
        auto point = fairness::parse_operating_point(o.operate_at);
        if (!point) return point.error().with_context("--operate-at");
        if (!point->moves())
            return base::make_error(Reason::kMisuse,
                                    "--operate-at is '{}': a rule moves to a rate, as in "
                                    "approve=0.7; train the model at another threshold",
                                    o.operate_at);
        s.operate_at = *std::move(point);
    }
    return s.postprocessor->check(s.values);
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
    tables.notes = table.notes;
    if (o.split == "all") {
        tables.fit = table;
        if (o.settings.blind()) {
            const auto halves = dataset::split_rows(table, {0.5, 0.5, 0}, o.settings.seed);
            tables.others = table.subset(halves.train);
            tables.fit = table.subset(halves.validation);
        }
        return tables;
    }
    RAMPART_TRY(tables.fit, evaluation::part_of(names, o.split, table, record));
    if (o.settings.blind()) {
        RAMPART_TRY(
            tables.others,
            evaluation::part_of(names, o.split == "train" ? "validation" : "train", table, record));
    }
    if (auto test = evaluation::part_of(names, "test", table, record); test && o.split != "test")
        tables.test = *std::move(test);
    if (auto train = evaluation::part_of(names, "train", table, record);
        train && o.split != "train")
        tables.twins = dataset::count_twins(tables.fit, *train);
    return tables;
}

base::Result<Side> side_of(const Options& o, std::string name, dataset::Dataset rows,
                           const model::Policy& before, const model::Policy& after) {
    Side side{std::move(name), std::move(rows), {}, {}, {}, {}};
    RAMPART_TRY(side.before, evaluation::policy_answers(before, side.rows, std::nullopt));
    RAMPART_TRY(side.after, evaluation::policy_answers(after, side.rows, std::nullopt));
    RAMPART_TRY(side.was, evaluation::evaluate_answers(side.before, side.rows));
    RAMPART_TRY(side.is, evaluation::evaluate_answers(side.after, side.rows));
    RAMPART_TRY(side.strata, stratum_rates(o.settings.values, side.rows, side.before.approve,
                                           side.after.approve));
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

/// Returns the approval of each group in each stratum; the rows of a stratum end with its gap.
report::Table table_of_strata(const Side& side) {
    report::Table table{
        {fmt::format("strata of {}", side.name), "group", "rows", "approved", "after"}};
    const auto rate = [](double x) { return std::isnan(x) ? "-" : fmt::format("{:.4f}", x); };
    for (const auto& stratum : side.strata) {
        for (const auto& one : stratum.groups)
            table.push_back({stratum.name, one.group, fmt::format("{}", one.rows), rate(one.before),
                             rate(one.after)});
        table.push_back({stratum.name, "largest difference", "", rate(stratum.gap_before),
                         rate(stratum.gap_after)});
    }
    return table;
}

boost::json::array json_of_strata(const Side& side) {
    boost::json::array out;
    const auto rate = [](double x) {
        return std::isnan(x) ? boost::json::value(nullptr) : boost::json::value(x);
    };
    for (const auto& stratum : side.strata) {
        boost::json::array groups;
        for (const auto& one : stratum.groups)
            groups.push_back({{"group", one.group},
                              {"rows", one.rows},
                              {"before", rate(one.before)},
                              {"after", rate(one.after)}});
        out.push_back({{"stratum", stratum.name},
                       {"gap_before", stratum.gap_before},
                       {"gap_after", stratum.gap_after},
                       {"groups", std::move(groups)}});
    }
    return out;
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

/// Adds what a group-blind rule comes to, expected over the group.
void describe_blind(const ramp::BlindSolution& blind, ramp::RampCriterion criterion,
                    boost::json::object& json) {
    json["mean_product"] = blind.mean_product;
    if (criterion == ramp::RampCriterion::kStatisticalParity) {
        json["expected_rates"] = boost::json::value_from(blind.rates);
        json["aware_mean_product"] = blind.aware_mean_product;
        return;
    }
    json["expected_true_positive_rates"] = boost::json::value_from(blind.true_positive_rates);
    if (criterion == ramp::RampCriterion::kEqualizedOdds)
        json["expected_false_positive_rates"] = boost::json::value_from(blind.false_positive_rates);
}

boost::json::object describe(const Options& o, const Postprocessed& post) {
    const auto& fitted = post.fitted;
    const auto gap = post.gap();
    boost::json::object json{
        {"criterion", o.criterion},
        {"tolerance", o.settings.values.number("tolerance")},
        {"options", o.settings.values.canonical()},
        {"blind", o.settings.blind()},
        {"gamma", post.link.ramp.gamma},
        {"offset", post.link.ramp.offset},
        {"operating_threshold", fitted.threshold},
        {"thresholds", boost::json::value_from(post.link.ramp.thresholds)},
        {"slopes", boost::json::value_from(post.link.ramp.slopes)},
        {"ties", boost::json::value_from(post.link.ramp.ties)},
        {"members", post.link.members.size()},
        {"duality_gap", gap ? boost::json::value(*gap) : boost::json::value(nullptr)}};
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
    if (fitted.blind) describe_blind(*fitted.blind, fitted.params.criterion, json);
    return json;
}

std::string summary_of(const Options& o, const Postprocessed& post) {
    const auto& values = o.settings.values;
    const auto within = values.has("within") ? values.text("within") : std::string();
    std::string text =
        fmt::format("criterion {}, tolerance {}", o.criterion, values.number("tolerance"));
    if (!within.empty()) text += fmt::format(", within {}", within);
    if (postprocessing::has_strata(values))
        text += fmt::format(", within strata of {}", values.text("within_feature"));
    if (o.settings.operate_at)
        text += fmt::format(", {} (threshold {:.4f} of the score from -1 to 1)",
                            fairness::to_string(*o.settings.operate_at), post.fitted.threshold);
    if (const auto gap = post.gap())
        text += fmt::format(", gamma {:g}{}, duality gap {:.1e}", post.link.ramp.gamma,
                            post.fitted.gammas.empty() ? "" : " (by cross-validation)", *gap);
    if (post.fitted.calibration)
        text += fmt::format("\n{} calibration: {}", to_string(*post.fitted.method),
                            calibration_text(post.fitted.calibration->overall));
    const auto& blind = post.fitted.blind;
    if (blind && !std::isnan(blind->aware_mean_product))
        text += fmt::format(
            "\ngroup-blind: agreement with the scores {:.5f}; with the group known it would be "
            "{:.5f}",
            blind->mean_product, blind->aware_mean_product);
    return text;
}

/// The whole curve: what each tolerance gives, and how accurate that is on rows of neither kind.
base::Status write_frontier(const Options& o, const Postprocessed& fitted,
                            const dataset::Dataset& fit,
                            const std::optional<dataset::Dataset>& test) {
    if (!fitted.fitted.aware || fitted.fitted.groups != fit.group_names.size())
        return base::make_error(Reason::kMisuse,
                                "--frontier draws the curve of a ramp with a threshold for each "
                                "group: leave --blind, --member and --within-feature out, or "
                                "take another criterion than {}",
                                o.criterion);
    RAMPART_TRY(const auto points, epsilon_curve(fitted, fit));
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
        boost::json::object found{{"before", to_json(side.was)}, {"after", to_json(side.is)}};
        if (!side.strata.empty()) {
            answer.text += fmt::format("\n{}", report::align(table_of_strata(side), 2));
            found["strata"] = json_of_strata(side);
        }
        json[side.name] = std::move(found);
    }
    if (!o.report.empty()) {
        const auto& fit = sides.front();
        const auto page = postprocess_page(
            fmt::format("{}: {}", std::filesystem::path(o.out).filename().string(), o.criterion),
            summary_of(o, fitted), table_of(sides.back()),
            ramp_pictures(fit.rows.group_names, fit.rows.group, fitted.fitted.scores,
                          fit.before.approve, fitted.approve));
        RAMPART_RETURN_IF_ERROR(base::write_file_atomically(o.report, page));
        answer.text += fmt::format("\nwrote {}\n", o.report);
    }
    answer.json = boost::json::serialize(json);
    return answer;
}

std::string provenance_text(const Options& o, const model::LearnedLink& link) {
    return fmt::format("criterion={} {} used_gamma={} split={} seed={}", o.criterion,
                       o.settings.values.canonical(), link.ramp.gamma, o.split, o.settings.seed);
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
    if (before->ramp.thresholds.size() == 1) o.settings.threshold = before->ramp.thresholds[0];
    RAMPART_TRY(auto tables, read_tables(o, loaded));
    base::ThreadPool pool(o.threads);
    RAMPART_TRY(const auto fitted,
                postprocess_link(*before, tables.fit, tables.others, o.settings, pool));

    RAMPART_TRY(const auto policy, policy_of_link(loaded, fitted.link, tables.fit.group_names,
                                                  provenance_text(o, fitted.link)));
    if (!o.frontier.empty())
        RAMPART_RETURN_IF_ERROR(write_frontier(o, fitted, tables.fit, tables.test));
    std::vector<Side> sides;
    RAMPART_TRY(sides.emplace_back(),
                side_of(o, "fitted", std::move(tables.fit), loaded.policy, policy));
    if (tables.test) {
        RAMPART_TRY(sides.emplace_back(),
                    side_of(o, "test", *std::move(tables.test), loaded.policy, policy));
    }
    RAMPART_TRY(const auto id, model::save_model_file(policy, o.out));
    RAMPART_TRY(auto answer, answer_of(o, fitted, sides, id));
    answer.notes.insert(answer.notes.begin(), tables.notes.begin(), tables.notes.end());
    if (tables.twins)
        answer.text +=
            fmt::format("{} of {} fitted rows have the same features as a training row\n",
                        *tables.twins, sides.front().rows.rows());
    return answer;
}

/// Adds a flag for each option of any post-processor, but for those with a flag of their own.
void add_rule_options(CLI::App& command, Options& o) {
    std::vector<std::string> criteria;
    std::set<std::string_view> seen;
    std::vector<learning::Option> all;
    for (const auto* one : postprocessing::postprocessors()) {
        if (one->name() == "none") continue;
        criteria.emplace_back(one->name());
        for (auto& option : one->options()) all.push_back(std::move(option));
    }
    command
        .add_option("--criterion", o.criterion,
                    "what has to be alike in all groups; `rampart postprocessors` explains each")
        ->check(CLI::IsMember(criteria))
        ->capture_default_str();
    command
        .add_option("--gamma", o.gamma,
                    "width of the band of scores (in [-1, 1]) in which approval is drawn; 0: a "
                    "threshold, ties drawn; cv: by cross-validation (with --blind: 0.1)")
        ->capture_default_str();
    command.add_option("--operate-at", o.operate_at,
                       "move the rule until its own decisions keep a rate: \"approve=0.7\", "
                       "\"bad_rate<=0.03\", \"fpr<=0.05\" or \"fnr<=0.1\"; default: about the "
                       "model's threshold");
    command.add_flag("--blind", o.blind,
                     "do not use the group, but P(group | features), learnt from the training "
                     "part; the criterion holds in expectation");
    for (const auto& option : all) {
        if (option.name == "gamma" || option.name == "group") continue;
        if (!seen.insert(option.name).second) continue;
        const std::string name(option.name);
        const bool list = option.fallback.index() >= 4 && name != "rho";
        auto flag = name == "group_tolerances" ? "group-tolerance"
                    : name == "constraints"    ? "constraint"
                                               : name;
        std::replace(flag.begin(), flag.end(), '_', '-');
        const auto fallback = kFallbacks.find(option.name);
        learning::OptionValues values(std::vector{option});
        if (fallback != kFallbacks.end()) values.set_fallback(option.name, fallback->second);
        command
            .add_option("--" + flag, o.given[name],
                        std::string(option.help) + (list ? "; may be repeated" : ""))
            ->expected(1)
            ->take_all()
            ->default_str(values.canonical().substr(name.size() + 1));
    }
}

}  // namespace

base::Result<model::Policy> policy_of_link(const model::LoadedPolicy& loaded,
                                           const model::LearnedLink& link,
                                           const std::vector<std::string>& group_names,
                                           const std::string& how) {
    auto provenance = loaded.policy.provenance();
    provenance["postprocess"] = how;
    provenance["postprocessed_from"] = loaded.id.value();
    return model::Policy::create(loaded.policy.schema(), {link},
                                 link.group_aware() ? group_names : std::vector<std::string>(),
                                 std::move(provenance), loaded.policy.state());
}

void add_postprocess(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& o = *options;
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
            if (answer && !options->blind && options->is_given("group_trees"))
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
    command.add_option(
        "--frontier", o.frontier,
        "CSV file: the results of 21 tolerances, in one pass (ramps that know the group)");
    command.add_option("--seed", o.settings.seed, "seed of the folds")->capture_default_str();
    command.add_option("--threads", o.threads, "number of threads, default one per core")
        ->check(CLI::Range(size_t{1}, size_t{256}));
}

}  // namespace rampart::cli
