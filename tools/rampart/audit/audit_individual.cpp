#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "audit/file_rows.hpp"
#include "frame/commands.hpp"
#include "frame/figures_text.hpp"
#include "frame/metric_options.hpp"
#include "rampart/base/file.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/dataset/split.hpp"
#include "rampart/evaluation/individual_fairness.hpp"
#include "rampart/evaluation/model_table.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/report/html.hpp"
#include "rampart/report/svg.hpp"
#include "rampart/report/text_table.hpp"

namespace rampart::cli {
namespace {

/// A pair of similar persons with different decisions.
struct AuditedPair {
    size_t person = 0, other = 0;  // rows of the table, from 1
    std::string label;             // label of the person: "repaid = yes"
    double score = 0, other_score = 0, approve = 0, other_approve = 0;
    double distance = 0, mass = 0, excess = 0;
    struct Difference {
        std::string feature, own, other;
    };
    std::vector<Difference> differences;  // the largest first
    size_t more = 0;                      // differences that are not listed
};

using report::Axis;
using report::Svg;

constexpr double kWidth = 860, kLeft = 150, kRight = 24, kTop = 24, kLine = 24;
constexpr double kCloudHeight = 320, kCloudLeft = 60, kCloudBottom = 44;

std::string decision(double approve) {
    if (approve >= 1) return "approved";
    if (approve <= 0) return "declined";
    return fmt::format("approved with chance {:.2f}", approve);
}

/// Returns "Row 17 (repaid = yes; score 0.710, approved) against row 203 (…)", then what differs.
std::string pair_text(const AuditedPair& pair) {
    std::string text = fmt::format(
        "row {} ({}; score {:.3f}, {}) against row {} (score {:.3f}, {}): fair distance {:.3g}, "
        "adds {:.3g} to the loss",
        pair.person, pair.label, pair.score, decision(pair.approve), pair.other, pair.other_score,
        decision(pair.other_approve), pair.distance, pair.excess);
    if (pair.differences.empty()) return text + "; they differ in nothing";
    text += "; they differ in ";
    for (size_t k = 0; k < pair.differences.size(); ++k)
        text += fmt::format("{}{} ({} / {})", k == 0 ? "" : ", ", pair.differences[k].feature,
                            pair.differences[k].own, pair.differences[k].other);
    if (pair.more > 0) text += fmt::format(" and {} more", pair.more);
    return text;
}

/// Draws one line for each pair: from the own score (full dot) to the other's (ring).
std::string dumbbells(const std::vector<AuditedPair>& pairs) {
    const double height = kTop + kLine * static_cast<double>(pairs.size()) + 30;
    const Axis x{0, 1, kLeft, kWidth - kRight};
    Svg svg(kWidth, height, "scores of pairs of people");
    for (const double score : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        svg.line("grid", x.at(score), kTop - 10, x.at(score), height - 24);
        svg.text(x.at(score), height - 8, report::Anchor::kMiddle, report::tick_text(score),
                 "tick");
    }
    for (size_t k = 0; k < pairs.size(); ++k) {
        const auto& pair = pairs[k];
        const double y = kTop + kLine * (static_cast<double>(k) + 0.3);
        svg.text(kLeft - 12, y + 4, report::Anchor::kEnd,
                 fmt::format("{}: {} as {}", k + 1, pair.person, pair.other), "tick");
        svg.open("", pair_text(pair))
            .line("link", x.at(pair.score), y, x.at(pair.other_score), y)
            .circle("dot", x.at(pair.score), y, 5)
            .circle("ring", x.at(pair.other_score), y, 5)
            .close();
    }
    return svg.markup();
}

/// Draws each pair as a dot: its fair distance, its difference of scores, and as its area what it
/// adds to the loss.
std::string cloud(const std::vector<AuditedPair>& pairs) {
    double farthest = 1e-9, largest = 1e-300;
    for (const auto& pair : pairs) {
        farthest = std::max(farthest, pair.distance);
        largest = std::max(largest, pair.excess);
    }
    const Axis x{0, 1.02 * farthest, kCloudLeft, kWidth - kRight};
    const Axis y{0, 1, kCloudHeight - kCloudBottom, kTop};
    Svg svg(kWidth, kCloudHeight, "difference of scores by fair distance");
    svg.frame(x, y, {.x_title = "fair distance", .y_title = "difference of scores"});
    for (const auto& pair : pairs)
        svg.circle("faint", x.at(pair.distance), y.at(std::abs(pair.score - pair.other_score)),
                   3 + 9 * std::sqrt(std::max(0.0, pair.excess / largest)), pair_text(pair));
    return svg.markup();
}

/// Returns one HTML file: the certificate, consistency, and the pairs: over the scores, by
/// distance, in words.
std::string audit_page(const std::string& title, const std::string& summary,
                       const report::Table& table, const std::vector<AuditedPair>& pairs) {
    report::Html page;
    page.title(title).paragraph(summary, "soft").facts(report::rows_of(table));
    page.heading("Pairs that are treated differently");
    if (pairs.empty()) {
        page.paragraph("None: similar persons get the same decision.");
        return report::document(title, page);
    }
    page.paragraph(
        "Full dot: the score of a person. Ring: the score of a similar person, with which the "
        "first person's loss would be larger. The pairs that add most to the loss come first.",
        "soft");
    page.raw(dumbbells(pairs)).heading("How far apart they are");
    page.paragraph(
        "Difference of scores by fair distance. A dot's area is what the pair adds to the loss.",
        "soft");
    page.raw(cloud(pairs)).heading("In words");
    std::vector<std::string> items;
    for (const auto& pair : pairs) items.push_back(pair_text(pair));
    page.list(items);
    return report::document(title, page);
}

constexpr size_t kMostDifferences = 6;

struct Options {
    std::string model, data, schema, split = "test", report, save_metric, loss = "log";
    MetricOptions metric;
    budro::IndividualAuditParams params;
    std::vector<std::string> counterfactuals;
    std::optional<double> at_most;
    size_t memory_mib = 1024;
    size_t threads = std::max(1u, std::thread::hardware_concurrency());
};

/// What is audited, and where its rows stand in the file.
struct Audited {
    dataset::Dataset rows;
    std::vector<uint32_t> numbers;
    dataset::TableSchema schema;
    budro::FairMetric metric;
    std::string metric_is_from;
};

base::Result<Audited> read(const Options& o, const model::Policy& policy) {
    const auto& record = policy.state().training;
    const evaluation::ModelTableNames names{o.model, o.data, o.schema};
    RAMPART_TRY(const auto schema, evaluation::schema_for(names, policy, record));
    RAMPART_TRY(const auto table, dataset::read_table(o.data, schema));
    RAMPART_RETURN_IF_ERROR(evaluation::require_labels(table, names));
    RAMPART_TRY(auto numbers, evaluation::rows_of_part(names, o.split, table, record));
    auto rows = table.subset(numbers);
    RAMPART_TRY(const auto in_file, file_rows(o.data, schema, table.rows()));
    for (auto& number : numbers) number = in_file[number];
    RAMPART_TRY(auto own, metric_in(policy));
    if (own && !o.metric.given())
        return Audited{std::move(rows), std::move(numbers), schema, *std::move(own),
                       "the model's own"};
    const bool trained_on = evaluation::is_training_table(table, record);
    dataset::Dataset learn = rows;
    if (trained_on) {
        RAMPART_TRY(learn, evaluation::part_of(names, "train", table, record));
    }
    RAMPART_TRY(auto metric, metric_of(o.metric, {table, learn, schema.protected_columns}));
    std::string is_from = "learnt on the audited rows";
    if (!o.metric.metric.empty()) {
        is_from = "read from " + o.metric.metric;
    } else if (!o.metric.pairs.empty()) {
        is_from = "learnt on all rows of the table";
    } else if (trained_on) {
        is_from = "learnt on the training part";
    }
    return Audited{std::move(rows), std::move(numbers), schema, std::move(metric), is_from};
}

/// What the other has and the person has not.
void list_differences(const Audited& audited, const budro::TreatedDifferently& found,
                      AuditedPair& pair) {
    std::vector<float> own(audited.rows.schema.size()), other(own.size());
    audited.rows.copy_row(found.person, own);
    audited.rows.copy_row(found.other, other);
    const auto weights = audited.metric.feature_differences(own, other);
    std::vector<size_t> order;
    for (size_t j = 0; j < own.size(); ++j)
        if (own[j] != other[j] && !(std::isnan(own[j]) && std::isnan(other[j]))) order.push_back(j);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return weights[a] > weights[b]; });
    for (size_t k = 0; k < std::min(order.size(), kMostDifferences); ++k) {
        const auto& spec = audited.rows.schema.features()[order[k]];
        pair.differences.push_back({spec.name, evaluation::value_text(spec, own[order[k]]),
                                    evaluation::value_text(spec, other[order[k]])});
    }
    pair.more = order.size() - pair.differences.size();
    // a protected attribute that is no feature may still be what they differ in
    const auto& rows = audited.rows;
    if (!rows.group.empty() && rows.group[found.person] != rows.group[found.other])
        pair.differences.insert(
            pair.differences.begin(),
            {"protected group", rows.group_names[static_cast<size_t>(rows.group[found.person])],
             rows.group_names[static_cast<size_t>(rows.group[found.other])]});
}

std::vector<AuditedPair> pairs_of(const Audited& audited, const evaluation::PolicyAnswers& answers,
                                  const budro::IndividualAudit& audit) {
    std::vector<AuditedPair> pairs;
    for (const auto& found : audit.worst) {
        AuditedPair pair;
        pair.person = size_t{audited.numbers[found.person]} + 1;
        pair.other = size_t{audited.numbers[found.other]} + 1;
        const auto& schema = audited.schema;
        pair.label = fmt::format("{} is{} {}", schema.label_text(),
                                 audited.rows.label[found.person] ? "" : " not", schema.favourable);
        pair.score = answers.score[found.person];
        pair.other_score = answers.score[found.other];
        pair.approve = answers.approve[found.person];
        pair.other_approve = answers.approve[found.other];
        pair.distance = std::sqrt(found.squared_distance);
        pair.mass = found.mass;
        pair.excess = found.excess();
        list_differences(audited, found, pair);
        pairs.push_back(std::move(pair));
    }
    return pairs;
}

boost::json::array pairs_json(const std::vector<AuditedPair>& pairs) {
    boost::json::array out;
    for (const auto& pair : pairs) {
        boost::json::array differences;
        for (const auto& d : pair.differences)
            differences.push_back({{"feature", d.feature}, {"own", d.own}, {"other", d.other}});
        out.push_back({{"row", pair.person},
                       {"other", pair.other},
                       {"label", pair.label},
                       {"score", pair.score},
                       {"other_score", pair.other_score},
                       {"approve", pair.approve},
                       {"other_approve", pair.other_approve},
                       {"fair_distance", pair.distance},
                       {"mass", pair.mass},
                       {"excess", pair.excess},
                       {"differences", std::move(differences)},
                       {"more_differences", pair.more},
                       {"text", pair_text(pair)}});
    }
    return out;
}

/// Rows whose own copies are decided differently.
std::string consistency_text(const Audited& audited, const evaluation::IndividualFairness& found) {
    std::string text;
    for (const auto& consistency : found.consistency) {
        if (consistency.rows.empty()) continue;
        text += fmt::format("\nnot decided alike for {}: row", consistency.name);
        for (size_t k = 0; k < std::min<size_t>(5, consistency.rows.size()); ++k)
            text += fmt::format("{} {}", k == 0 ? "" : ",",
                                size_t{audited.numbers[consistency.rows[k].row]} + 1);
        text += consistency.rows.size() > 5 ? ", …" : "";
    }
    return text.empty() ? "" : text + "\n";
}

base::Result<Answer> audit_individual(Options& o) {
    o.params.loss = o.loss == "log" ? budro::AuditLoss::kLog : budro::AuditLoss::kDecision;
    o.params.transport.memory_budget = o.memory_mib << 20;
    RAMPART_RETURN_IF_ERROR(validate(o.params.transport));
    RAMPART_TRY(const auto loaded, model::load_model_file(o.model));
    RAMPART_TRY(const auto audited, read(o, loaded.policy));
    RAMPART_TRY(const auto answers,
                evaluation::policy_answers(loaded.policy, audited.rows, std::nullopt));
    base::ThreadPool pool(o.threads);
    RAMPART_TRY(
        const auto found,
        evaluation::individual_fairness(
            loaded.policy, audited.rows, answers,
            {.metric = audited.metric, .params = o.params, .counterfactuals = o.counterfactuals},
            pool));
    const auto pairs = pairs_of(audited, answers, found.audit);
    const auto summary =
        fmt::format("{} on {} ({}, {} rows), {} loss, epsilon {:g}; fair metric {}: {}", o.model,
                    o.data, o.split, audited.rows.rows(), o.loss, o.params.transport.epsilon,
                    audited.metric_is_from, metric_text(audited.metric));
    Answer answer;
    auto table = summary_table(found);
    const bool kept = !o.at_most || found.audit.gap_at_most() <= *o.at_most;
    if (o.at_most)
        table.push_back(
            {fmt::format("performance gap at most {:g}", *o.at_most), kept ? "kept" : "not kept"});
    answer.exit_code = kept ? ExitCode::kDone : ExitCode::kNo;
    answer.text = fmt::format("{}\n\n{}", summary, report::align(table));
    if (!pairs.empty())
        answer.text += fmt::format("\nworst of {} pairs of people:\n", found.audit.pairs);
    for (size_t k = 0; k < pairs.size(); ++k)
        answer.text += fmt::format("{}. {}\n", k + 1, pair_text(pairs[k]));
    answer.text += consistency_text(audited, found);
    boost::json::object json{{"model", o.model},
                             {"id", loaded.id.value()},
                             {"data", o.data},
                             {"split", o.split},
                             {"rows", audited.rows.rows()},
                             {"measured_loss", o.loss},
                             {"epsilon", o.params.transport.epsilon},
                             {"metric_is", audited.metric_is_from},
                             {"metric", metric_json(audited.metric)}};
    for (auto& [key, value] : to_json(found)) json[key] = value;
    if (o.at_most) json["kept"] = kept;
    json["worst"] = pairs_json(pairs);
    answer.json = boost::json::serialize(json);
    if (!o.report.empty()) {
        const auto title = fmt::format("Are similar people treated alike? {}",
                                       std::filesystem::path(o.model).filename().string());
        RAMPART_RETURN_IF_ERROR(
            base::write_file_atomically(o.report, audit_page(title, summary, table, pairs)));
        answer.text += fmt::format("\nwrote {}\n", o.report);
    }
    if (!o.save_metric.empty()) {
        RAMPART_RETURN_IF_ERROR(budro::save_fair_metric(audited.metric, o.save_metric));
        answer.text += fmt::format("wrote {}\n", o.save_metric);
    }
    return answer;
}

}  // namespace

void add_audit_individual(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& o = *options;
    o.params.most_pairs = 10;
    auto& command = frame.add(
        {.name = "audit-individual",
         .summary =
             "Bound the loss when people are replaced by similar people (individual fairness)",
         .example = "rampart audit-individual --model m.rmp --data data.csv.gz --epsilon 0.1 "
                    "--counterfactual relationship=Husband,Wife --report audit.html",
         .detail =
             "Robust loss: the largest mean loss when each row may get the score of similar rows, "
             "with a mean squared fair distance of at most epsilon (BuDRO). In the fair metric one "
             "standard deviation of a number is a distance of 1, and directions that predict a "
             "protected attribute have distance 0. The performance gap is robust loss minus loss; "
             "its upper bound is proven by the dual problem. With --at-most the exit code is 1 "
             "when the bound is larger. The fair metric is the model's own, or learnt from the "
             "protected columns.",
         .reads_no_store = true},
        [options](const Context&) { return audit_individual(*options); });
    command.add_option("--model", o.model, "the model file")->required();
    command.add_option("--data", o.data, "the table: .csv or .csv.gz")->required();
    command.add_option("--schema", o.schema, "schema file, if the model carries none");
    command.add_option("--split", o.split, "rows to audit")
        ->check(CLI::IsMember({"train", "validation", "test", "all"}))
        ->capture_default_str();
    command
        .add_option("--epsilon", o.params.transport.epsilon,
                    "mean squared fair distance by which rows may be moved")
        ->required();
    command
        .add_option("--loss", o.loss,
                    "log: log loss of the score; decision: P(decision against the label)")
        ->check(CLI::IsMember({"log", "decision"}))
        ->capture_default_str();
    command.add_option("--counterfactual", o.counterfactuals,
                       "FEATURE=VALUE,VALUE or FEATURE*FEATURE: report the share of rows with the "
                       "same decision for all these values; may be repeated");
    command
        .add_option("--at-most", o.at_most,
                    "largest performance gap that is accepted; default: any")
        ->check(CLI::NonNegativeNumber);
    command.add_option("--pairs", o.params.most_pairs, "number of pairs of rows to show")
        ->check(CLI::Range(0, 1000))
        ->capture_default_str();
    add_metric_options(command, o.metric, "Fair metric");
    command.add_option("--save-metric", o.save_metric, "file to write the fair metric to");
    command.add_option("--report,--html", o.report, "HTML page to write, with pictures");
    command.add_option("--memory", o.memory_mib, "memory limit of the search in MiB")
        ->check(CLI::Range(16, 1 << 20))
        ->capture_default_str();
    command
        .add_option("--threads", o.threads,
                    "number of threads, default one per core; the result does not depend on it")
        ->check(CLI::Range(size_t{1}, size_t{256}));
}

}  // namespace rampart::cli
