#include "audit/card_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frame/figures_text.hpp"
#include "rampart/report/html.hpp"

namespace rampart::cli {
namespace {

constexpr size_t kBars = 20;
constexpr size_t kLongText = 400;
constexpr size_t kFewRows = 100;

using report::Cell;
using report::escaped;
using report::Html;
using report::Row;

std::string number(const std::optional<double>& x) {
    return x ? fmt::format("{:.4f}", *x) : "undefined";
}

std::string percent(const std::optional<double>& x) {
    return x ? fmt::format("{:.1f} %", 100 * *x) : "no rows";
}

std::string interval(const std::optional<stats::Interval>& found, double scale = 1,
                     int digits = 4) {
    if (!found) return "";
    return fmt::format(" <span class='soft'>{:.{}f}–{:.{}f}</span>", scale * found->lo, digits,
                       scale * found->hi, digits);
}

void add_section(std::string_view title, std::string_view text, Html& page) {
    page.heading(title).paragraph(text, "soft");
}

std::string ramp_text(const evaluation::ModelCard& card) {
    const auto& ramp = card.learned().ramp;
    std::string out = "with f = ";
    out += fmt::format("{:g}·P(favourable) {:+g} in [-1, 1]: ", card.learned().score_slope,
                       card.learned().score_intercept);
    out += ramp.gamma == 0 ? std::string("approve where f is above the threshold")
                           : fmt::format(
                                 "P(approve) rises from 0 to 1 over a width of {:g} "
                                 "(offset {:g}) at the threshold",
                                 ramp.gamma, ramp.offset);
    const auto names = cell_names(card.learned(), card.policy);
    for (size_t g = 0; g < ramp.thresholds.size(); ++g) {
        out += g == 0 ? "; threshold " : ", ";
        if (!names.empty()) out += fmt::format("{}: ", names[g]);
        out += fmt::format("{:.4f}", ramp.thresholds[g]);
        if (!ramp.slopes.empty()) out += fmt::format(" on {:.4f}·f", ramp.slopes[g]);
    }
    if (const auto score = score_text(card.learned()); !score.empty())
        out += fmt::format("; the score is {}", score);
    return out;
}

std::string exploration_text(const model::Exploration& exploration) {
    switch (exploration.mode) {
        case model::ExplorationMode::kNone:
            return "none";
        case model::ExplorationMode::kOneSided:
            return fmt::format("P(approve) is at least {:g}", exploration.epsilon);
        case model::ExplorationMode::kTwoSided:
            return fmt::format("P(approve) is at least {0:g} and at most 1 - {0:g}",
                               exploration.epsilon);
    }
    return "unknown";
}

void add_model(const evaluation::ModelCard& card, Html& page) {
    const auto& features = card.policy.schema().features();
    const auto categorical = std::count_if(features.begin(), features.end(), [](const auto& f) {
        return f.kind == dataset::FeatureKind::kCategorical;
    });
    const auto unread = std::count_if(card.features.begin(), card.features.end(),
                                      [](const auto& f) { return f.splits.splits == 0; });
    const auto& learned = card.learned();
    std::vector<Row> rows{
        {"file", card.names.model},
        {"id (SHA-256 of the file)", Cell::raw(fmt::format("<code>{}</code>", escaped(card.id)))},
        {"predicts", fmt::format("P({} = {})", card.schema.label_text(), card.schema.favourable)},
        {"trees", fmt::format("{} with {} leaves, at most {} splits deep",
                              learned.ensemble.trees.size(), card.leaves, card.depth)},
        {"features",
         fmt::format("{}: {} numeric, {} categorical; {} of them not read", features.size(),
                     features.size() - static_cast<size_t>(categorical), categorical, unread)},
        {"feature schema (SHA-256, as certificates name it)",
         Cell::raw(fmt::format("<code>{}</code>", card.policy.schema().digest().hex()))},
        {"decides by protected group", card.policy.group_aware() ? "yes" : "no"},
        {"decision", ramp_text(card)}};
    if (!learned.members.empty())
        rows.push_back(
            {"mixture",
             fmt::format("{}: P(approve) is its members' weighted mean, and so is the score whose "
                         "performance is shown. The trees and features on this page are those of "
                         "the first ensemble, the thresholds above those of members without their "
                         "own.",
                         mixture_text(learned))});
    rows.push_back({"exploration", exploration_text(learned.exploration)});
    rows.push_back({"policy", fmt::format("this page explains link {} of {}", card.link,
                                          card.policy.links().size())});
    page.heading("The model").facts(rows);
}

void add_provenance(const evaluation::ModelCard& card, Html& page) {
    std::vector<Row> rows;
    for (const auto& [key, value] : card.policy.printed_facts()) {
        if (std::any_of(std::begin(kStatements), std::end(kStatements),
                        [&](const auto& statement) { return key == statement.key; }))
            continue;
        rows.push_back(
            {key, value.size() <= kLongText
                      ? value
                      : fmt::format("{} bytes of text in the model file", value.size())});
    }
    if (rows.empty()) rows.push_back({"nothing", "the model file does not say where it is from"});
    page.heading("Where it is from").facts(rows);
}

void add_statements(const evaluation::ModelCard& card,
                    const std::map<std::string, std::string>& stated, Html& page) {
    std::vector<Row> rows;
    for (const auto& [key, title] : kStatements) {
        const auto own = card.policy.provenance().find(key);
        const auto added = stated.find(key);
        std::string text = fmt::format(
            "<span class='bad'>not stated</span> <span class='soft'>({} is missing "
            "from the model's provenance)</span>",
            key);
        if (own != card.policy.provenance().end()) {
            text = escaped(own->second);
        } else if (added != stated.end()) {
            text = escaped(added->second) +
                   " <span class='soft'>(stated when this page was made; the model file does not "
                   "carry it)</span>";
        }
        rows.push_back({title, Cell::raw(text)});
    }
    page.heading("Use and limits").facts(rows);
}

void add_performance(const evaluation::ModelCard& card, Html& page) {
    const auto& e = card.evaluation;
    add_section("Performance",
                fmt::format("On {} ({} rows, SHA-256 of the table {}). Ranges: {:g} % intervals.",
                            card.rows_of, e.rows, card.data_sha256, 100 * e.confidence),
                page);
    if (card.learned_from)
        page.paragraph(
            "The model may have learned from these rows: figures on rows that it has not seen "
            "would be worse.",
            "warning");
    page.facts({{"AUC", Cell::raw(number(e.auc) + interval(e.auc_interval))},
                {"log loss",
                 Cell::raw(fmt::format("{:.4f} <span class='soft'>({:.4f} with the same score for "
                                       "all rows)</span>",
                                       e.log_loss, card.mean_label_log_loss))},
                {"Brier score", number(e.brier)},
                {"Kolmogorov-Smirnov", number(e.ks)},
                {"calibration error",
                 Cell::raw(fmt::format("{:.4f} <span class='soft'>(mean distance of score and "
                                       "observed rate over the bins)</span>",
                                       card.calibration_error))}});
    page.subheading("Calibration");
    page.paragraph(fmt::format("The rows in {} bins by score: observed share of favourable labels "
                               "against the mean score. The scores of a calibrated model lie on "
                               "the dashed line.",
                               card.calibration.size()),
                   "soft");
    page.raw(calibration_figure(card));
}

struct GroupColumn {
    const char* title;
    stats::Tally stats::DecisionRates::*rate;
    bool complement;  // shown is 1 - rate
};
constexpr std::array<GroupColumn, 4> kGroupColumns{{
    {"favourable", &stats::DecisionRates::base, false},
    {"approved", &stats::DecisionRates::approved, false},
    {"TPR", &stats::DecisionRates::false_negative, true},
    {"FPR", &stats::DecisionRates::false_positive, false},
}};

Cell rate_cell(const GroupColumn& column, const stats::Tally& tally, double confidence) {
    auto rate = tally.rate();
    auto range = stats::wilson(tally, confidence);
    double hits = tally.hits;
    if (column.complement && rate) {
        rate = 1 - *rate;
        range = stats::Interval{1 - range->hi, 1 - range->lo};
        hits = tally.weight - tally.hits;
    }
    return Cell::raw(fmt::format("{}<br/>{}<br/><span class='soft'>{:.0f} of {:.0f}</span>",
                                 percent(rate), interval(range, 100, 1), hits, tally.weight));
}

/// One line of the table of groups.
struct GroupLine {
    std::string name;
    const stats::DecisionRates& rates;
    evaluation::GroupQuality quality;
};

Row row_of(const GroupLine& line, double confidence) {
    Row row{line.name, std::to_string(line.rates.base.rows)};
    for (const auto& column : kGroupColumns)
        row.push_back(rate_cell(column, line.rates.*column.rate, confidence));
    row.emplace_back(number(line.quality.auc));
    row.emplace_back(fmt::format("{:.4f}", line.quality.log_loss));
    row.emplace_back(fmt::format("{:.1f} %", 100 * line.quality.mean_score));
    return row;
}

void add_groups(const evaluation::ModelCard& card, Html& page) {
    const auto& e = card.evaluation;
    if (!e.groups) {
        page.heading("Protected groups");
        page.raw(
            "<p class='warning'>The schema names no protected columns: nothing can be said about "
            "groups. Name them under <code>protected</code>.</p>\n");
        return;
    }
    add_section("Protected groups",
                "Expected rates of the policy's decisions, exploration included. TPR: approved "
                "among favourable labels; FPR: approved among the others. Groups are read from the "
                "data for this page alone. Counts are sums of row weights.",
                page);
    Row head{"group", "rows"};
    for (const auto& column : kGroupColumns) head.emplace_back(column.title);
    for (const char* title : {"AUC", "log loss", "mean score"}) head.emplace_back(title);
    double mean_score = 0, weight = 0;
    std::vector<Row> rows(1);
    std::string few;
    for (size_t g = 0; g < card.groups.size(); ++g) {
        const auto& group = e.groups->groups[g];
        rows.push_back(row_of({group.name, group.rates, card.groups[g]}, e.confidence));
        mean_score += group.rates.base.weight * card.groups[g].mean_score;
        weight += group.rates.base.weight;
        if (group.rates.base.rows < kFewRows)
            few += fmt::format("{}{} ({} rows)", few.empty() ? "" : ", ", group.name,
                               group.rates.base.rows);
    }
    rows[0] = row_of({"all", e.overall, {e.auc, e.log_loss, mean_score / weight}}, e.confidence);
    page.table(head, rows, "rates");
    if (!few.empty())
        page.paragraph(fmt::format("Too few rows to say much of: {}.", few), "warning");
}

void add_importance(const evaluation::ModelCard& card, Html& page) {
    const std::string how =
        card.variant == "path-dependent"
            ? std::string("unknown features take the paths of the training rows")
            : fmt::format("against {}, SHA-256 {}", card.reference, card.reference_sha256);
    add_section("What moves the score",
                fmt::format("Mean of the absolute contribution to the log-odds (exact Shapley "
                            "values, {}: {}) over {} rows.",
                            card.variant, how, card.explained_rows),
                page);
    page.raw(importance_figure(card, kBars));
    if (card.features.size() > kBars)
        page.paragraph(
            fmt::format("{} features matter less and are not drawn.", card.features.size() - kBars),
            "soft");
    if (card.dependence.empty()) return;
    page.subheading("Along one feature");
    page.paragraph(
        fmt::format("P(favourable) when one feature is replaced and the others stay as they are: "
                    "the mean over {} rows, and the band without the lowest and the highest tenth "
                    "of them. Numbers are placed at their quantiles, evenly spaced. All plots have "
                    "the same scale. Combinations of values that no row has count too.",
                    card.curve_rows),
        "soft");
    page.raw(dependence_figures(card));
}

void add_directions(const evaluation::ModelCard& card, Html& page) {
    double gain = 0;
    for (const auto& feature : card.features) gain += feature.splits.gain;
    add_section("Features",
                fmt::format("Direction: how the score changes as the feature rises and the others "
                            "stay, computed for {} rows at every value where it can change. A "
                            "direction is what was found there, not a promise for all rows.",
                            card.curve_rows),
                page);
    std::vector<Row> rows;
    for (const auto& feature : card.features) {
        const auto& spec = card.policy.schema().features()[feature.feature];
        std::string direction = "not read", steps, rise, fall;
        if (feature.direction) {
            direction = to_string(feature.direction->direction);
            steps = fmt::format("{}{}", feature.steps, feature.all_steps ? "" : ", not all");
            rise = fmt::format("{:.4f}", feature.direction->largest_rise);
            fall = fmt::format("{:.4f}", feature.direction->largest_fall);
        } else if (feature.splits.splits > 0) {
            direction = fmt::format("{} categories", spec.categories.size());
        }
        rows.push_back({spec.name, direction, steps, rise, fall,
                        std::to_string(feature.splits.splits),
                        fmt::format("{:.1f} %", gain > 0 ? 100 * feature.splits.gain / gain : 0),
                        fmt::format("{:.1f} %", 100 * feature.missing)});
    }
    page.table({"feature", "direction", "values examined", "largest rise", "largest fall", "splits",
                "gain", "missing"},
               rows);
}

}  // namespace

std::string card_page(const evaluation::ModelCard& card,
                      const std::map<std::string, std::string>& stated) {
    Html page;
    page.title("Model card");
    page.paragraph(fmt::format("{} gradient-boosted trees that predict the probability of {} = {}, "
                               "and a rule that decides by it.",
                               card.learned().ensemble.trees.size(), card.schema.label_text(),
                               card.schema.favourable),
                   "lead");
    add_statements(card, stated, page);
    add_model(card, page);
    add_performance(card, page);
    add_groups(card, page);
    add_importance(card, page);
    add_directions(card, page);
    add_provenance(card, page);
    page.paragraph(
        "Every figure on this page was computed from the model file and the table named above; the "
        "same files give the same page.",
        "soft");
    return report::document(fmt::format("Model card {}", card.id.substr(0, 12)), page);
}

}  // namespace rampart::cli
