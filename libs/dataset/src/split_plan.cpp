#include "rampart/dataset/split_plan.hpp"

#include <algorithm>
#include <array>

#include "calendar_numbers.hpp"
#include "rampart/dataset/folds.hpp"
#include "rampart/dataset/reasons.hpp"

namespace rampart::dataset {
namespace {

constexpr size_t kMaxPlanBytes = 16 << 10;

enum Part : uint8_t { kTrain, kValidation, kTest, kLeftOut };

template <class... Args>
base::Error bad(fmt::format_string<Args...> format, Args&&... args) {
    return base::make_error(Reason::kBadSplit, format, std::forward<Args>(args)...);
}

/// Writes a column's name without the characters that part words.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c == '%' || c == ';')
            out += fmt::format("%{:02X}", static_cast<unsigned>(c));
        else
            out += c;
    return out;
}

base::Result<std::string> unescaped(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        const auto code = text.substr(i, 3);
        if (code != "%25" && code != "%3B") return bad("split: '{}' is no column", text);
        out += code == "%25" ? '%' : ';';
        i += 2;
    }
    return out;
}

/// The words of the text, each with where it goes.
struct Words {
    SplitPlan& plan;

    base::Status put(std::string_view key, std::string_view value) {
        if (value.empty()) return bad("split: '{}' says nothing", key);
        for (const auto& [name, to] : {std::pair{"by", &plan.by},
                                       {"time", &plan.time},
                                       {"train-until", &plan.train_until},
                                       {"validate-until", &plan.validate_until},
                                       {"gap", &plan.gap}}) {
            if (key != name) continue;
            if (!to->empty()) return bad("split: '{}' stands twice", key);
            RAMPART_TRY(*to, unescaped(value));
            return base::ok();
        }
        for (const auto& [name, to] : {std::pair{"keys", &plan.keys},
                                       {"validation-file", &plan.validation_file},
                                       {"test-file", &plan.test_file}}) {
            if (key != name) continue;
            if (*to) return bad("split: '{}' stands twice", key);
            RAMPART_TRY(*to, base::Digest::from_hex(value));
            return base::ok();
        }
        return bad("split: there is no word '{}'", key.substr(0, 80));
    }
};

/// Returns the shares of the parts that are divided by shares; they sum to 1.
SplitFractions shares_left(const SplitPlan& plan, SplitFractions shares) {
    if (plan.validation_file || !plan.validate_until.empty()) shares.validation = 0;
    if (plan.test_file || !plan.time.empty()) shares.test = 0;
    const double sum = shares.train + shares.validation + shares.test;
    return {shares.train / sum, shares.validation / sum, shares.test / sum};
}

/// Divides some of the rows by shares, by row or by unit, and notes the part of each.
void divide(const Dataset& data, std::span<const uint32_t> rows, const SplitFractions& shares,
            const SplitPlan& plan, const RowKeys& keys, uint64_t seed, std::vector<uint8_t>& part) {
    const auto some = rows.size() == data.rows() ? Dataset() : data.subset(rows);
    const auto& divided = rows.size() == data.rows() ? data : some;
    if (plan.by.empty()) {
        const auto split = split_rows(divided, shares, seed);
        for (const uint32_t row : split.validation) part[rows[row]] = kValidation;
        for (const uint32_t row : split.test) part[rows[row]] = kTest;
        return;
    }
    // units of these rows, numbered anew: one without rows would take a place
    std::vector<uint32_t> number(keys.units(), UINT32_MAX), unit;
    uint32_t units = 0;
    for (const uint32_t row : rows) {
        auto& one = number[keys.unit[row]];
        if (one == UINT32_MAX) one = units++;
        unit.push_back(one);
    }
    const std::array<double, 3> by_part{shares.train, shares.validation, shares.test};
    const auto dealt = deal_units(divided, unit, units, by_part, seed);
    for (size_t i = 0; i < rows.size(); ++i) part[rows[i]] = static_cast<uint8_t>(dealt[unit[i]]);
}

/// The times that cut the table.
struct Cuts {
    double train_until = 0, validate_from = 0, validate_until = 0, test_from = 0;
    bool validates = false;
};

base::Result<Cuts> cuts_of(const SplitPlan& plan, const RowKeys& keys) {
    RAMPART_TRY(const auto gap, parse_gap(plan.gap));
    RAMPART_RETURN_IF_ERROR(check_gap_on(keys, gap));
    Cuts cuts;
    RAMPART_TRY(cuts.train_until, parse_split_time(plan.train_until, keys.scale));
    cuts.validates = !plan.validate_until.empty();
    double last = cuts.train_until;
    if (cuts.validates) {
        RAMPART_TRY(cuts.validate_from, moved(cuts.train_until, gap, keys.scale, 1));
        RAMPART_TRY(cuts.validate_until, parse_split_time(plan.validate_until, keys.scale));
        if (!(cuts.validate_until > cuts.validate_from))
            return bad("validate until {}: that is not after train until {} and the gap",
                       plan.validate_until, plan.train_until);
        last = cuts.validate_until;
    }
    RAMPART_TRY(cuts.test_from, moved(last, gap, keys.scale, 1));
    return cuts;
}

/// Leaves rows out whose unit has rows in an earlier part.
size_t keep_units_apart(const RowKeys& keys, std::vector<uint8_t>& part) {
    std::vector<uint8_t> first(keys.units(), kLeftOut);
    for (size_t row = 0; row < part.size(); ++row)
        first[keys.unit[row]] = std::min(first[keys.unit[row]], part[row]);
    size_t out = 0;
    for (size_t row = 0; row < part.size(); ++row) {
        if (part[row] == kLeftOut || part[row] == first[keys.unit[row]]) continue;
        part[row] = kLeftOut;
        ++out;
    }
    return out;
}

base::Status split_by_time(const Dataset& data, const SplitPlan& plan, const RowKeys& keys,
                           const SplitFractions& shares, uint64_t seed,
                           std::vector<uint8_t>& part) {
    RAMPART_TRY(const auto cuts, cuts_of(plan, keys));
    std::vector<uint32_t> early;
    for (uint32_t row = 0; row < part.size(); ++row) {
        const double t = keys.time[row];
        if (t < cuts.train_until)
            early.push_back(row);
        else if (t >= cuts.test_from)
            part[row] = kTest;
        else if (cuts.validates && t >= cuts.validate_from && t < cuts.validate_until)
            part[row] = kValidation;
        else
            part[row] = kLeftOut;
    }
    divide(data, early, shares, plan, keys, seed, part);
    return base::ok();
}

}  // namespace

base::Status validate(const SplitPlan& plan) {
    if (const auto shares = parse_split(plan.shares); !shares) return shares.error();
    RAMPART_TRY(const auto gap, parse_gap(plan.gap));
    if (plan.time.empty() != plan.train_until.empty())
        return bad("a split by time needs both a column of times and a time to train until");
    if (plan.time.empty() && (!plan.validate_until.empty() || gap.amount > 0))
        return bad("a gap and a time to validate until go with a split by time");
    if (!plan.time.empty() && plan.test_file)
        return bad("the test is either a file or what is later than a time, not both");
    if (!plan.validate_until.empty() && plan.validation_file)
        return bad("validation is either a file or until a time, not both");
    return base::ok();
}

std::string to_text(const SplitPlan& plan) {
    std::string out = plan.shares;
    for (const auto& [key, value] : {std::pair{"by", &plan.by},
                                     {"time", &plan.time},
                                     {"train-until", &plan.train_until},
                                     {"validate-until", &plan.validate_until},
                                     {"gap", &plan.gap}})
        if (!value->empty()) out += fmt::format("; {} {}", key, escaped(*value));
    for (const auto& [key, value] : {std::pair{"keys", &plan.keys},
                                     {"validation-file", &plan.validation_file},
                                     {"test-file", &plan.test_file}})
        if (*value) out += fmt::format("; {} {}", key, (*value)->hex());
    return out;
}

base::Result<SplitPlan> parse_split_plan(std::string_view text) {
    if (text.size() > kMaxPlanBytes)
        return bad("the split has {} bytes; allowed are {}", text.size(), kMaxPlanBytes);
    SplitPlan plan;
    plan.shares = std::string(text.substr(0, text.find(';')));
    Words words{plan};
    for (size_t at = text.find(';'); at != std::string_view::npos;) {
        const size_t end = text.find(';', at + 1);
        auto word = text.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
        at = end;
        if (!word.empty() && word.front() == ' ') word.remove_prefix(1);
        const size_t space = word.find(' ');
        if (space == std::string_view::npos) return bad("split: '{}' says nothing", word);
        RAMPART_RETURN_IF_ERROR(words.put(word.substr(0, space), word.substr(space + 1)));
    }
    RAMPART_RETURN_IF_ERROR(validate(plan));
    return plan;
}

base::Result<PlannedSplit> split_by_plan(const Dataset& data, const SplitPlan& plan,
                                         const RowKeys& keys, uint64_t seed) {
    RAMPART_RETURN_IF_ERROR(validate(plan));
    RAMPART_TRY(const auto given, parse_split(plan.shares));
    const auto shares = shares_left(plan, given);
    for (const auto& [column, have] :
         {std::pair{&plan.by, keys.unit.size()}, {&plan.time, keys.time.size()}})
        if (!column->empty() && have != data.rows())
            return bad("column '{}' has {} cells for {} rows: the file has changed meanwhile",
                       *column, have, data.rows());
    std::vector<uint8_t> part(data.rows(), kTrain);
    PlannedSplit out;
    if (plan.time.empty()) {
        std::vector<uint32_t> all(data.rows());
        for (uint32_t row = 0; row < all.size(); ++row) all[row] = row;
        divide(data, all, shares, plan, keys, seed, part);
    } else {
        RAMPART_RETURN_IF_ERROR(split_by_time(data, plan, keys, shares, seed, part));
        out.in_gap = static_cast<size_t>(std::count(part.begin(), part.end(), kLeftOut));
        if (!plan.by.empty()) out.on_two_sides = keep_units_apart(keys, part);
    }
    for (uint32_t row = 0; row < part.size(); ++row) {
        if (part[row] == kTrain) out.parts.train.push_back(row);
        if (part[row] == kValidation) out.parts.validation.push_back(row);
        if (part[row] == kTest) out.parts.test.push_back(row);
    }
    return out;
}

}  // namespace rampart::dataset
