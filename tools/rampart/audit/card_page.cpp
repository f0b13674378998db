#include "audit/card_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "audit/card_figures.hpp"
#include "frame/mixture_text.hpp"
#include "frame/page.hpp"

namespace rampart::cli {
namespace {

constexpr size_t kBars = 20;
constexpr size_t kLongText = 400;
constexpr size_t kFewRows = 100;

constexpr std::string_view kCardStyle = R"(
.tick{font-size:11px;fill:var(--soft)}.grid{stroke:var(--line);stroke-width:.6}
.bar,.point,.band{fill:var(--mark)}.band{opacity:.16}.ideal{stroke:var(--soft)}
.ideal{stroke-dasharray:4 4}.whisker{stroke:var(--mark);stroke-width:2}
.curve{fill:none;stroke:var(--mark);stroke-width:2}.figure{max-width:32rem;display:block}
.figure{margin:auto}figure{margin:0}figcaption{font-size:.9rem;overflow-wrap:anywhere}
.multiples{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:1rem}
.lead{font-size:1.1rem}.rates td{white-space:nowrap;vertical-align:top}
.warning{border-left:4px solid var(--bad);padding-left:.8rem}
)";

std::string number(const std::optional<double>& x) {
    return x ? fmt::format("{:.4f}", *x) : "undefined";
}

std::string percent(const std::optional<double>& x) {
    return x ? fmt::format("{:.1f} %", 100 * *x) : "among nobody";
}

std::string interval(const std::optional<stats::Interval>& found, double scale = 1,
                     int digits = 4) {
    if (!found) return "";
    return fmt::format(" <span class='soft'>{:.{}f}–{:.{}f}</span>", scale * found->lo, digits,
                       scale * found->hi, digits);
}

std::string fact(std::string_view name, std::string_view html) {
    return fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(name), html);
}

std::string heading(std::string_view title, std::string_view html) {
    return fmt::format("<h2>{}</h2>\n<p class='soft'>{}</p>\n", title, html);
}

std::string ramp_text(const ModelCard& card) {
    const auto& ramp = card.learned().ramp;
    std::string out = "with f = ";
    out += fmt::format("{:g}·P(favourable) {:+g} in [-1, 1]: ", card.learned().score_slope,
                       card.learned().score_intercept);
    out += ramp.gamma == 0 ? std::string("approve where f is above the threshold")
                           : fmt::format(
                                 "P(approve) rises from 0 to 1 over a width of {:g} "
                                 "(offset {:g}) at the threshold",
                                 ramp.gamma, ramp.offset);
    for (size_t g = 0; g < ramp.thresholds.size(); ++g) {
        out += g == 0 ? "; threshold " : ", ";
        if (ramp.group_aware()) out += fmt::format("{}: ", card.policy.group_names()[g]);
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

std::string the_model(const ModelCard& card) {
    const auto& features = card.policy.schema().features();
    const auto categorical = std::count_if(features.begin(), features.end(), [](const auto& f) {
        return f.kind == dataset::FeatureKind::kCategorical;
    });
    const auto unread = std::count_if(card.features.begin(), card.features.end(),
                                      [](const auto& f) { return f.splits.splits == 0; });
    std::string out = "<h2>The model</h2>\n<table class='facts'>\n";
    out += fact("file", escaped(card.names.model));
    out += fact("id (SHA-256 of the file)", fmt::format("<code>{}</code>", card.id));
    out +=
        fact("predicts",
             escaped(fmt::format("P({} = {})", card.schema.label_column, card.schema.favourable)));
    const size_t trees = card.learned().ensemble.trees.size();
    out += fact("trees", fmt::format("{} with {} leaves, at most {} splits deep", trees,
                                     card.leaves, card.depth));
    out +=
        fact("features",
             fmt::format("{}: {} numeric, {} categorical; {} of them not read", features.size(),
                         features.size() - static_cast<size_t>(categorical), categorical, unread));
    out += fact("decides by protected group", card.policy.group_aware() ? "yes" : "no");
    out += fact("decision", escaped(ramp_text(card)));
    if (!card.learned().members.empty()) {
        out += fact("mixture",
                    escaped(fmt::format(
                        "{}: P(approve) is its members' weighted mean, and so is the score whose "
                        "performance is shown. The trees and features on this page are those of "
                        "the first ensemble, the thresholds above those of members without their "
                        "own.",
                        mixture_text(card.learned()))));
    }
    out += fact("exploration", escaped(exploration_text(card.learned().exploration)));
    out += fact("policy", fmt::format("this page takes link {} of {} apart", card.link,
                                      card.policy.links().size()));
    return out + "</table>\n";
}

std::string provenance(const ModelCard& card) {
    std::string rows;
    for (const auto& [key, value] : card.policy.provenance()) {
        if (std::any_of(std::begin(kStatements), std::end(kStatements),
                        [&](const auto& statement) { return key == statement.key; }))
            continue;
        rows += fact(key, value.size() <= kLongText
                              ? escaped(value)
                              : fmt::format("{} bytes of text in the model file", value.size()));
    }
    if (rows.empty()) rows = fact("nothing", "the model file says nothing of where it is from");
    return "<h2>Where it is from</h2>\n<table class='facts'>\n" + rows + "</table>\n";
}

std::string statements(const ModelCard& card, const std::map<std::string, std::string>& stated) {
    std::string out = "<h2>Use and limits</h2>\n<table class='facts'>\n";
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
        out += fact(title, text);
    }
    return out + "</table>\n";
}

std::string performance(const ModelCard& card) {
    const auto& e = card.evaluation;
    std::string out = heading(
        "Performance",
        escaped(fmt::format("On {} ({} rows, SHA-256 of the table {}). Ranges: {:g} % intervals.",
                            card.rows_of, e.rows, card.data_sha256, 100 * e.confidence)));
    if (card.learned_from)
        out +=
            "<p class='warning'>The model may have learned from these rows: figures on rows "
            "that it has not seen would be worse.</p>\n";
    out += "<table class='facts'>\n";
    out += fact("AUC", number(e.auc) + interval(e.auc_interval));
    out += fact("log loss", fmt::format("{:.4f} <span class='soft'>({:.4f} for everybody the same "
                                        "score)</span>",
                                        e.log_loss, card.mean_label_log_loss));
    out += fact("Brier score", number(e.brier));
    out += fact("Kolmogorov-Smirnov", number(e.ks));
    out += fact("calibration error",
                fmt::format("{:.4f} <span class='soft'>(mean distance of score and observed rate "
                            "over the bins)</span>",
                            card.calibration_error));
    out += "</table>\n<h3>Calibration</h3>\n";
    out += fmt::format(
        "<p class='soft'>The rows in {} bins by score: observed share of favourable "
        "labels against the mean score. On the dashed line, scores are what they "
        "say.</p>\n",
        card.calibration.size());
    return out + calibration_figure(card);
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

std::string rate_cell(const GroupColumn& column, const stats::Tally& tally, double confidence) {
    auto rate = tally.rate();
    auto range = stats::wilson(tally, confidence);
    double hits = tally.hits;
    if (column.complement && rate) {
        rate = 1 - *rate;
        range = stats::Interval{1 - range->hi, 1 - range->lo};
        hits = tally.weight - tally.hits;
    }
    return fmt::format("<td>{}<br/>{}<br/><span class='soft'>{:.0f} of {:.0f}</span></td>",
                       percent(rate), interval(range, 100, 1), hits, tally.weight);
}

std::string group_row(const std::string& name, const stats::DecisionRates& rates,
                      const std::optional<double>& auc, double log_loss, double mean_score,
                      double confidence) {
    std::string out = fmt::format("<tr><td>{}</td><td>{}</td>", escaped(name), rates.base.rows);
    for (const auto& column : kGroupColumns) {
        out += rate_cell(column, rates.*column.rate, confidence);
    }
    return out + fmt::format("<td>{}</td><td>{:.4f}</td><td>{:.1f} %</td></tr>\n", number(auc),
                             log_loss, 100 * mean_score);
}

std::string groups(const ModelCard& card) {
    const auto& e = card.evaluation;
    if (!e.groups)
        return "<h2>Protected groups</h2>\n<p class='warning'>The schema names no protected "
               "columns: nothing can be said of groups. Name them under <code>protected</code>."
               "</p>\n";
    std::string out = heading(
        "Protected groups",
        "Expected rates of the policy's decisions, exploration included. TPR: approved among "
        "favourable labels; FPR: approved among the others. Groups are read from the data for "
        "this page alone. Counts are sums of row weights.");
    out += "<div class='scroll'><table class='rates'><tr><th>group</th><th>rows</th>";
    for (const auto& column : kGroupColumns) out += fmt::format("<th>{}</th>", column.title);
    out += "<th>AUC</th><th>log loss</th><th>mean score</th></tr>\n";
    double mean_score = 0, weight = 0;
    std::string rows, few;
    for (size_t g = 0; g < card.groups.size(); ++g) {
        const auto& group = e.groups->groups[g];
        const auto& quality = card.groups[g];
        rows += group_row(group.name, group.rates, quality.auc, quality.log_loss,
                          quality.mean_score, e.confidence);
        mean_score += group.rates.base.weight * quality.mean_score;
        weight += group.rates.base.weight;
        if (group.rates.base.rows < kFewRows)
            few += fmt::format("{}{} ({} rows)", few.empty() ? "" : ", ", group.name,
                               group.rates.base.rows);
    }
    out += group_row("all", e.overall, e.auc, e.log_loss, mean_score / weight, e.confidence);
    out += rows + "</table></div>\n";
    if (!few.empty())
        out +=
            fmt::format("<p class='warning'>Too few rows to say much of: {}.</p>\n", escaped(few));
    return out;
}

std::string importance(const ModelCard& card) {
    std::string how =
        card.variant == "path-dependent"
            ? std::string("unknown features go the ways that the training rows went")
            : fmt::format("against {}, SHA-256 {}", card.reference, card.reference_sha256);
    std::string out = heading(
        "What moves the score",
        escaped(fmt::format("Mean of the absolute contribution to the log-odds (exact Shapley "
                            "values, {}: {}) over {} rows.",
                            card.variant, how, card.explained_rows)));
    out += importance_figure(card, kBars);
    if (card.features.size() > kBars)
        out += fmt::format("<p class='soft'>{} features matter less and are not drawn.</p>\n",
                           card.features.size() - kBars);
    if (card.dependence.empty()) return out;
    out += "<h3>Along one feature</h3>\n";
    out += fmt::format(
        "<p class='soft'>P(favourable) when one feature is replaced and the others stay as they "
        "are: the mean over {} rows, and where all but the lowest and the highest tenth of them "
        "lie. Numbers stand at their quantiles, evenly spaced. All plots have the same scale. "
        "Combinations of values that nobody has count too.</p>\n",
        card.curve_rows);
    return out + dependence_figures(card);
}

std::string directions(const ModelCard& card) {
    double gain = 0;
    for (const auto& feature : card.features) gain += feature.splits.gain;
    std::string out = heading(
        "Features",
        fmt::format("Direction: which way the score goes as the feature rises and the others "
                    "stay, looked at for {} rows at every value where it can change. A direction "
                    "is what was found there, not a promise for all rows.",
                    card.curve_rows));
    out +=
        "<div class='scroll'><table><tr><th>feature</th><th>direction</th><th>values looked "
        "at</th><th>largest rise</th><th>largest fall</th><th>splits</th><th>gain</th>"
        "<th>missing</th></tr>\n";
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
        out += fmt::format(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
            "<td>{:.1f} %</td><td>{:.1f} %</td></tr>\n",
            escaped(spec.name), direction, steps, rise, fall, feature.splits.splits,
            gain > 0 ? 100 * feature.splits.gain / gain : 0, 100 * feature.missing);
    }
    return out + "</table></div>\n";
}

}  // namespace

std::string card_page(const ModelCard& card, const std::map<std::string, std::string>& stated) {
    std::string out = fmt::format(
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'/><meta name='viewport' "
        "content='width=device-width,initial-scale=1'/><title>Model card {}</title><style>{}{}"
        "</style></head><body>\n<h1>Model card</h1>\n<p class='lead'>{}</p>\n",
        card.id.substr(0, 12), kPageStyle, kCardStyle,
        escaped(fmt::format("{} gradient-boosted trees that say how likely {} = {} is, and a rule "
                            "that decides by it.",
                            card.learned().ensemble.trees.size(), card.schema.label_column,
                            card.schema.favourable)));
    out += statements(card, stated) + the_model(card) + performance(card) + groups(card);
    out += importance(card) + directions(card) + provenance(card);
    return out +
           "<p class='soft'>Every figure on this page was computed from the model file and "
           "the table named above; the same files give the same page.</p>\n</body></html>\n";
}

}  // namespace rampart::cli
