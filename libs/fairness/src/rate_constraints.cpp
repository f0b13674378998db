#include "rampart/fairness/rate_constraints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "rampart/fairness/reasons.hpp"

namespace rampart::fairness {
namespace {

struct Word {
    std::string_view text;
    Rate rate;
};
constexpr std::array kWords = {
    Word{"fpr", Rate::kFalsePositive},
    Word{"fnr", Rate::kFalseNegative},
    Word{"statistical_parity", Rate::kApproval},
    Word{"error", Rate::kError},
};

/// Words of earlier versions: refused, with the word of today.
struct Renamed {
    std::string_view earlier, today;
};
constexpr std::array kRenamed = {
    Renamed{"dp", "statistical_parity"}, Renamed{"pp", "statistical_parity"},
    Renamed{"eo", "equalized_odds"},     Renamed{"eopp", "equal_opportunity"},
    Renamed{"accuracy", "error"},
};

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto comma = text.find(',');
        parts.push_back(trimmed(text.substr(0, comma)));
        if (comma == std::string_view::npos) return parts;
        text.remove_prefix(comma + 1);
    }
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return out;
}

base::Result<std::vector<Rate>> parse_rates(std::string_view word) {
    const std::string text = lower(word);
    if (text == "equalized_odds") return std::vector{Rate::kFalsePositive, Rate::kFalseNegative};
    if (text == "equal_opportunity") return std::vector{Rate::kFalseNegative};
    RAMPART_TRY(const auto rate, parse_rate(text));
    return std::vector{rate};
}

}  // namespace

std::string_view to_string(Rate rate) {
    for (const auto& word : kWords)
        if (word.rate == rate) return word.text;  // the first of its words
    return "?";
}

base::Result<Rate> parse_rate(std::string_view text) {
    const std::string wanted = lower(text);
    for (const auto& word : kWords)
        if (word.text == wanted) return word.rate;
    for (const auto& word : kRenamed)
        if (word.earlier == wanted)
            return base::make_error(Reason::kUnknownRate, "'{}' is no rate: write {}",
                                    text.substr(0, 60), word.today);
    return base::make_error(Reason::kUnknownRate,
                            "'{}' is no rate: use fpr, fnr, statistical_parity (approval "
                            "rates) or error; between groups also equal_opportunity (fnr) "
                            "and equalized_odds (fpr and fnr)",
                            text.substr(0, 60));
}

base::Status validate(const RateConstraints& constraints) {
    for (const auto& c : constraints.parity) {
        if (!(c.tolerance >= 0 && c.tolerance <= 1))
            return base::make_error(Reason::kBadTolerance, "tolerance {} of {} is outside [0, 1]",
                                    c.tolerance, to_string(c.rate));
        const auto same = std::count_if(
            constraints.parity.begin(), constraints.parity.end(),
            [&](const auto& o) { return o.rate == c.rate && o.attribute == c.attribute; });
        if (same > 1)
            return base::make_error(Reason::kConstraintTwice,
                                    "{} is constrained twice: once is enough", to_string(c.rate));
    }
    for (const auto& t : constraints.targets)
        if (!(t.at_most >= 0 && t.at_most <= 1))
            return base::make_error(Reason::kBadTarget, "target {} <= {} is outside [0, 1]",
                                    to_string(t.rate), t.at_most);
    return base::ok();
}

base::Result<std::vector<ParityConstraint>> parse_parity(std::string_view text, double tolerance) {
    std::vector<ParityConstraint> out;
    for (const auto part : split(text)) {
        const auto at = part.find('@');
        RAMPART_TRY(const auto rates, parse_rates(trimmed(part.substr(0, at))));
        const auto attribute =
            at == std::string_view::npos ? std::string_view() : trimmed(part.substr(at + 1));
        if (at != std::string_view::npos && attribute.empty())
            return base::make_error(Reason::kNoAttribute,
                                    "'{}' names no attribute after @: write fnr@sex", part);
        for (const Rate rate : rates) out.push_back({rate, tolerance, std::string(attribute)});
    }
    return out;
}

base::Result<std::vector<RateTarget>> parse_targets(std::string_view text) {
    std::vector<RateTarget> out;
    for (const auto part : split(text)) {
        const auto sign = part.find("<=");
        const auto number =
            sign == std::string_view::npos ? std::string_view() : trimmed(part.substr(sign + 2));
        double value = -1;
        const auto [end, error] =
            std::from_chars(number.data(), number.data() + number.size(), value);
        if (error != std::errc{} || end != number.data() + number.size() || number.empty())
            return base::make_error(Reason::kBadTarget,
                                    "'{}' is no target: write a rate, <= and a number, as "
                                    "in fpr<=0.05",
                                    part.substr(0, 60));
        RAMPART_TRY(const auto rate, parse_rate(trimmed(part.substr(0, sign))));
        out.push_back({rate, value});
    }
    return out;
}

std::string to_string(const RateConstraints& constraints) {
    std::string out;
    const auto add = [&](const std::string& part) {
        if (!out.empty()) out += ", ";
        out += part;
    };
    for (const auto& c : constraints.parity)
        add(fmt::format("{}{}{} within {}", to_string(c.rate), c.attribute.empty() ? "" : "@",
                        c.attribute, c.tolerance));
    for (const auto& t : constraints.targets)
        add(fmt::format("{} <= {}", to_string(t.rate), t.at_most));
    return out.empty() ? "none" : out;
}

}  // namespace rampart::fairness
