#include "gate/validation_tables.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace rampart::cli {
namespace {

using base::Toward;
using certification::ApprovalRate;
using certification::Certificate;

std::string plain(std::optional<double> x, Toward toward = Toward::kNearest) {
    return x ? base::significant(*x, 4, toward) : "none";
}

std::string with_sign(std::optional<double> x, Toward toward) {
    return x ? signed_number(*x, toward) : "none";
}

FigureTable effects_table(const Certificate& c) {
    const auto& config = c.plan.config;
    FigureTable out{"Intervals that hold together",
                    fmt::format("Change of the average impact per decision, in {}. All intervals "
                                "hold together with confidence {}, for this run by itself. The "
                                "smallest effect is the one with which the group would have "
                                "passed with probability 0.8.",
                                config.impact_units.empty() ? "units" : config.impact_units,
                                confidence_text(config.delta_epoch)),
                    {{"group", "estimate", "lower end", "upper end", "smallest effect"}}};
    for (size_t g = 0; g < c.figures->effects.size(); ++g) {
        const auto& effect = c.figures->effects[g];
        out.rows.push_back({effect.name, signed_number(c.results[g].bound.mean_gain),
                            with_sign(effect.lower, Toward::kDown),
                            with_sign(effect.upper, Toward::kUp),
                            with_sign(effect.smallest_seen, Toward::kUp)});
    }
    return out;
}

report::Table::value_type rate_row(const std::string& group, const char* policy,
                                   const ApprovalRate& rate) {
    const bool compared = !rate.highest.empty();
    const auto ratio = [&](std::optional<double> x, Toward toward) {
        return compared ? plain(x, toward) : std::string();
    };
    return {group,
            policy,
            rate.highest,
            plain(rate.rate),
            plain(rate.lower, Toward::kDown),
            plain(rate.upper, Toward::kUp),
            ratio(rate.ratio, Toward::kNearest),
            ratio(rate.ratio_lower, Toward::kDown),
            ratio(rate.ratio_upper, Toward::kUp)};
}

FigureTable approvals_table(const Certificate& c) {
    FigureTable out{
        "Approval rates and adverse impact",
        fmt::format("Share of people approved by draw, without referrals, and its "
                    "ratio to the highest of the same attribute. For the vault's "
                    "people rates are exact; for the population that they are a "
                    "random sample of, all intervals hold together with confidence {}.",
                    confidence_text(c.plan.config.delta_epoch)),
        {{"group", "policy", "compared with", "rate", "from", "to", "ratio", "from", "to"}},
        3};
    for (const auto& group : c.figures->approvals) {
        out.rows.push_back(rate_row(group.name, "candidate", group.candidate));
        out.rows.push_back(rate_row(group.name, "reference", group.reference));
    }
    return out;
}

/// Returns what is said of the declared impact of a decline.
std::string declined_text(const Certificate& c) {
    const auto& s = c.figures->sensitivity;
    const auto& config = c.plan.config;
    if (*s.declined_from == config.impact_lo && *s.declined_to == config.impact_hi)
        return "any in the declared range";
    return fmt::format("{} to {}; declared is {}",
                       base::significant(*s.declined_from, 4, Toward::kUp),
                       base::significant(*s.declined_to, 4, Toward::kDown),
                       base::significant(*config.declined_impact, 4));
}

FigureTable sensitivity_table(const Certificate& c) {
    const auto& s = c.figures->sensitivity;
    FigureTable out{"How much could be wrong",
                    "Within these limits, each by itself, the verdict on the groups stays.",
                    {{"what", "the verdict stays for"}},
                    2};
    if (s.declined_from) out.rows.push_back({"impact of a decline", declined_text(c)});
    if (s.odds_factor) {
        out.rows.push_back({"odds of the logged probabilities",
                            fmt::format("a factor of up to {}{} in each record",
                                        base::significant(*s.odds_factor, 4, Toward::kDown),
                                        *s.odds_factor >= 10 ? " or more" : "")});
    }
    const auto gamma =
        c.verdict == certification::Verdict::kCertified ? c.tipping_gamma : std::nullopt;
    if (s.tipping_gamma) {
        out.rows.push_back({"missing outcomes", "any: they were counted as the worst"});
    } else if (gamma) {
        out.rows.push_back(
            {"missing outcomes", fmt::format("impacts within {} of their centres",
                                             base::significant(*gamma, 4, Toward::kDown))});
    }
    return out;
}

FigureTable parts_table(const Certificate& c) {
    FigureTable out{"By half of the period and by logging policy",
                    fmt::format("Intervals by Student's t, approximate; each holds by itself with "
                                "confidence {}, not all together. Erased persons are not counted.",
                                confidence_text(c.plan.config.delta_epoch)),
                    {{"part", "group", "decisions", "people", "estimate", "from", "to"}},
                    2};
    for (const auto& part : c.figures->parts) {
        out.rows.push_back(
            {part.part.substr(0, 12), part.group, std::to_string(part.records),
             std::to_string(part.persons), with_sign(part.estimate, Toward::kNearest),
             with_sign(part.lower, Toward::kDown), with_sign(part.upper, Toward::kUp)});
    }
    return out;
}

FigureTable ungrouped_table(const Certificate& c) {
    FigureTable out{"In no group",
                    "Nothing is tested for these people: their attributes are not known, or have "
                    "values that no group has.",
                    {{"what", "number"}}};
    if (c.figures->ungrouped_records == 0) return out;
    out.rows.push_back({"decisions", std::to_string(c.figures->ungrouped_records)});
    out.rows.push_back({"people", std::to_string(c.figures->ungrouped_persons)});
    return out;
}

}  // namespace

std::string signed_number(double x, Toward toward) {
    const std::string text = base::significant(x, 4, toward);
    return std::isfinite(x) && text.front() != '-' ? "+" + text : text;
}

std::string confidence_text(double delta) {
    return fmt::format("{} %", base::significant(100 * (1 - delta), 4, Toward::kDown));
}

std::vector<FigureTable> validation_tables(const Certificate& c) {
    if (!c.figures) return {};
    std::vector<FigureTable> out{effects_table(c), parts_table(c), approvals_table(c),
                                 sensitivity_table(c), ungrouped_table(c)};
    std::erase_if(out, [](const FigureTable& table) { return table.rows.size() < 2; });
    return out;
}

}  // namespace rampart::cli
