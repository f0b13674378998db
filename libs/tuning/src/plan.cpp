#include "rampart/tuning/plan.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "rampart/base/check.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/learning/option_text.hpp"
#include "rampart/tuning/reasons.hpp"

namespace rampart::tuning {
namespace {

using learning::Option;
using learning::OptionValue;
using learning::OptionValues;

constexpr size_t kWhole = 1, kNumber = 2, kText = 3;  // alternatives of OptionValue

/// Returns the reason for which no search goes over the option; empty: one may.
std::string_view not_searched(const Option& option) {
    if (option.asked)
        return "says what is asked of the model, not how it is learnt: leave it out, and give it "
               "one value in the recipe";
    const size_t type = option.fallback.index();
    if (type == kWhole || type == kNumber || (type == kText && !option.choices.empty())) return {};
    return "is no number and no choice among texts: leave it out, and give it one value in the "
           "recipe";
}

/// Reads {from = 0.01, to = 0.3, log = true}.
void read_interval(config::Table table, const Option& option, Range& range) {
    if (option.fallback.index() == kText)
        return table.fail(
            "from", fmt::format("is a {}: give a list of texts", learning::describe_type(option)));
    range.whole = option.fallback.index() == kWhole;
    const auto end = [&](std::string_view key) {
        return range.whole ? static_cast<double>(table.integer(key, static_cast<int64_t>(option.lo),
                                                               static_cast<int64_t>(option.hi)))
                           : table.number(key, option.lo, option.hi);
    };
    range.from = end("from");
    range.to = end("to");
    range.log = table.boolean("log", false);
    if (!(range.from < range.to))
        table.fail("to",
                   fmt::format("is {} and from is {}: give a larger one", range.to, range.from));
    if (range.log && !(range.from > 0))
        table.fail("log", fmt::format("from is {}, which has no logarithm: give a from above 0, or "
                                      "leave log out",
                                      range.from));
}

/// Reads a list of values.
void read_choices(config::Table& table, const Option& option, Range& range) {
    switch (option.fallback.index()) {
        case kWhole:
            for (const auto one : table.integers(option.name, static_cast<int64_t>(option.lo),
                                                 static_cast<int64_t>(option.hi)))
                range.choices.emplace_back(one);
            break;
        case kNumber:
            for (const double one : table.numbers(option.name, option.lo, option.hi))
                range.choices.emplace_back(one);
            break;
        default:
            for (const auto& one : table.strings(option.name)) {
                range.choices.emplace_back(one);
                if (std::find(option.choices.begin(), option.choices.end(), one) ==
                    option.choices.end())
                    table.fail(option.name, fmt::format("'{}' is none of {}", one,
                                                        fmt::join(option.choices, ", ")));
            }
    }
    if (range.choices.size() < 2)
        table.fail(option.name,
                   "has fewer than two values: give a list of two or more, or {from = "
                   "A, to = B}, or leave it out");
}

void read_ranges(config::Table table, const OptionValues& options, std::string_view prefix,
                 std::vector<Range>& ranges) {
    for (const auto& option : options.options()) {
        if (!table.has(option.name)) continue;
        Range range{.option = fmt::format("{}{}", prefix, option.name)};
        if (const auto why = not_searched(option); !why.empty())
            table.fail(option.name, why);
        else if (table.is_table(option.name))
            read_interval(table.table(option.name), option, range);
        else
            read_choices(table, option, range);
        ranges.push_back(std::move(range));
    }
}

/// Returns the number with four significant digits, within the range.
double rounded(double x, const Range& range) {
    const auto text = fmt::format("{:.4g}", x);
    double shorter = x;
    std::from_chars(text.data(), text.data() + text.size(), shorter);
    return std::clamp(shorter, range.from, range.to);
}

/// Returns the value at u in [0, 1).
OptionValue value_at(const Range& range, double u) {
    if (!range.choices.empty()) {
        const auto n = static_cast<double>(range.choices.size());
        return range.choices[static_cast<size_t>(u * n)];
    }
    // whole numbers: each from half a unit below it to half a unit above it
    const double half = range.whole ? 0.5 : 0;
    const double lo = range.from - half, hi = range.to + half;
    const double x =
        range.log ? std::exp(std::log(lo) + u * (std::log(hi) - std::log(lo))) : lo + u * (hi - lo);
    if (!range.whole) return rounded(x, range);
    return static_cast<int64_t>(std::clamp(std::round(x), range.from, range.to));
}

/// Returns the options that a range names and its name there.
std::pair<bool, std::string_view> place_of(const Range& range) {
    const std::string_view name = range.option;
    const bool post = name.starts_with(kPostprocess);
    return {post, post ? name.substr(kPostprocess.size()) : name};
}

}  // namespace

std::string_view to_string(Method method) { return kMethods[static_cast<size_t>(method)]; }

bool Range::contains(const OptionValue& value) const {
    if (!choices.empty()) return std::find(choices.begin(), choices.end(), value) != choices.end();
    const double x =
        whole ? static_cast<double>(std::get<int64_t>(value)) : std::get<double>(value);
    return x >= from && x <= to;
}

void read_plan(config::Table& table, const OptionValues& learner, const OptionValues& postprocess,
               Plan& plan) {
    const auto method = table.choice("method", {kMethods.begin(), kMethods.end()}, kMethods[0]);
    plan.method = method == kMethods[0] ? Method::kRandom : Method::kHalving;
    plan.trials = static_cast<int>(table.integer("trials", 1, kMaxTrials, plan.trials));
    plan.folds = static_cast<int>(table.integer("folds", 2, 10, plan.folds));
    if (table.has("seed")) plan.seed = static_cast<uint64_t>(table.integer("seed", 0, INT64_MAX));
    plan.seconds = table.number("seconds", 0, 1e9, 0);
    auto ranges = table.table("ranges");
    read_ranges(ranges, learner, "", plan.ranges);
    if (ranges.has("postprocess"))
        read_ranges(ranges.table("postprocess"), postprocess, kPostprocess, plan.ranges);
}

base::Status validate(const Plan& plan) {
    if (!plan.ranges.empty()) return base::ok();
    return base::make_error(Reason::kNoRange,
                            "[search] has no range in [search.ranges]: give one of an option of "
                            "the learner, or of the post-processor as {}KEY",
                            kPostprocess);
}

std::string to_toml(const Plan& plan) {
    std::string out =
        "[search]\n" + learning::to_toml("method", std::string(to_string(plan.method)));
    out += learning::to_toml("trials", int64_t{plan.trials});
    out += learning::to_toml("folds", int64_t{plan.folds});
    if (plan.seed) out += learning::to_toml("seed", static_cast<int64_t>(*plan.seed));
    if (plan.seconds > 0) out += learning::to_toml("seconds", plan.seconds);
    out += "\n[search.ranges]\n";
    for (const auto& range : plan.ranges) {
        if (range.choices.empty()) {
            out += fmt::format("{} = {{from = {}, to = {}{}}}\n", range.option, range.from,
                               range.to, range.log ? ", log = true" : "");
            continue;
        }
        std::vector<std::string> texts;
        for (const auto& one : range.choices) {
            const auto text = learning::text_of(one);
            texts.push_back(one.index() == kText ? fmt::format("\"{}\"", text) : text);
        }
        out += fmt::format("{} = [{}]\n", range.option, fmt::join(texts, ", "));
    }
    return out;
}

std::vector<Setting> settings_of(const Plan& plan, const Setting& own, uint64_t seed) {
    std::vector<Setting> out;
    bool within = true;
    for (size_t i = 0; i < plan.ranges.size(); ++i)
        within = within && plan.ranges[i].contains(own[i]);
    if (within) out.push_back(own);
    const auto wanted = static_cast<size_t>(plan.trials);
    constexpr size_t kAttempts = 20;  // for each: a range of few choices is soon used up
    for (size_t draw = 0; out.size() < wanted && draw < kAttempts * wanted; ++draw) {
        const auto key = fmt::format("search {} {}", seed, draw);
        Setting setting;
        for (const auto& range : plan.ranges)
            setting.push_back(value_at(range, base::keyed_uniform(key, range.option)));
        if (std::find(out.begin(), out.end(), setting) == out.end())
            out.push_back(std::move(setting));
    }
    return out;
}

base::Status apply(const Plan& plan, const Setting& setting, OptionValues& learner,
                   OptionValues& postprocess) {
    RAMPART_CHECK(setting.size() == plan.ranges.size(), "{} values for {} ranges", setting.size(),
                  plan.ranges.size());
    for (size_t i = 0; i < setting.size(); ++i) {
        const auto [post, name] = place_of(plan.ranges[i]);
        RAMPART_RETURN_IF_ERROR((post ? postprocess : learner).set(name, setting[i]));
    }
    return base::ok();
}

Setting setting_of(const Plan& plan, const OptionValues& learner, const OptionValues& postprocess) {
    Setting out;
    for (const auto& range : plan.ranges) {
        const auto [post, name] = place_of(range);
        out.push_back((post ? postprocess : learner).value(name));
    }
    return out;
}

std::string text_of(const Plan& plan, const Setting& setting) {
    std::string out;
    for (size_t i = 0; i < setting.size(); ++i)
        out += fmt::format("{}{}={}", i > 0 ? " " : "", plan.ranges[i].option,
                           learning::text_of(setting[i]));
    return out;
}

}  // namespace rampart::tuning
