#include "number_reader.hpp"

#include <charconv>
#include <chrono>
#include <cmath>

#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/split_time.hpp"
#include "rampart/dataset/text.hpp"

namespace rampart::dataset {
namespace {

namespace chrono = std::chrono;

/// Takes 1 to `most` digits off the front.
std::optional<int> take_number(std::string_view& text, size_t most) {
    size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
    if (digits == 0 || digits > most) return std::nullopt;
    int value = 0;
    std::from_chars(text.data(), text.data() + digits, value);
    text.remove_prefix(digits);
    return value;
}

std::optional<double> days_of(int year, int month, int day) {
    const chrono::year_month_day date(chrono::year(year),
                                      chrono::month(static_cast<unsigned>(month)),
                                      chrono::day(static_cast<unsigned>(day)));
    if (year < 1000 || !date.ok()) return std::nullopt;
    return static_cast<double>(chrono::sys_days(date).time_since_epoch().count());
}

/// Reads "1.2.2006", "01/02/2006" as three numbers.
std::optional<double> parts_of(std::string_view text, char separator, bool day_first) {
    const auto first = take_number(text, 2);
    if (!first || !text.starts_with(separator)) return std::nullopt;
    text.remove_prefix(1);
    const auto second = take_number(text, 2);
    if (!second || !text.starts_with(separator)) return std::nullopt;
    text.remove_prefix(1);
    const auto year = take_number(text, 4);
    if (!year || !text.empty()) return std::nullopt;
    return day_first ? days_of(*year, *second, *first) : days_of(*year, *first, *second);
}

}  // namespace

std::string_view word_of(DateForm form) {
    switch (form) {
        case DateForm::kYearMonth:
            return "YYYYMM";
        case DateForm::kDayMonthYear:
            return "DD.MM.YYYY";
        case DateForm::kMonthDayYear:
            return "MM/DD/YYYY";
        default:
            return "ISO";
    }
}

std::optional<double> parse_days(std::string_view text, DateForm form) {
    if (form == DateForm::kDayMonthYear) return parts_of(text, '.', true);
    if (form == DateForm::kMonthDayYear) return parts_of(text, '/', false);
    if (form == DateForm::kIso) {
        constexpr double kDay = 86'400;
        const auto seconds = parse_date(text);
        return seconds ? std::optional(std::floor(*seconds / kDay)) : std::nullopt;
    }
    constexpr size_t kDigits = 6;
    const auto number = text.size() == kDigits ? take_number(text, kDigits) : std::nullopt;
    if (!number || !text.empty()) return std::nullopt;
    return days_of(*number / 100, *number % 100, 1);
}

NumberReader::NumberReader(const TableSchema& schema, const std::string& column)
    : column_(column), missing_(schema.missing_tokens.begin(), schema.missing_tokens.end()) {
    const auto* rule = schema.rule_of(column);
    if (rule == nullptr) return;
    date_ = rule->date;
    range_ = rule->range;
    outside_is_error_ = rule->outside_is_error;
}

base::Result<std::optional<double>> NumberReader::read(std::string_view cell) {
    constexpr size_t kShown = 40;
    if (cell.empty() || missing_.contains(cell)) return std::optional<double>();
    const auto number = date_ ? parse_days(cell, *date_) : parse_number(cell);
    if (!number && date_)
        return base::make_error(Reason::kBadDate,
                                "column '{}' is '{}', no date of the form {}; correct the cell, "
                                "list it under `missing`, or declare another form",
                                column_, cell.substr(0, kShown), word_of(*date_));
    if (!number)
        return base::make_error(Reason::kNotANumber,
                                "column '{}' is '{}', and the schema reads numbers of it; list the "
                                "text under `missing`, or correct the file",
                                column_, cell.substr(0, kShown));
    if (!range_ || (*number >= range_->lo && *number <= range_->hi)) return number;
    if (outside_is_error_)
        return base::make_error(Reason::kNumberOutsideRange,
                                "column '{}' is {}, outside its range from {} to {}; correct the "
                                "cell, widen the range, or declare outside = \"missing\"",
                                column_, *number, range_->lo, range_->hi);
    ++outside_;
    return std::optional<double>();
}

std::string NumberReader::note() const {
    if (outside_ == 0) return {};
    return fmt::format("'{}' is outside {} to {} in {} row{}: read as missing", column_, range_->lo,
                       range_->hi, outside_, outside_ == 1 ? "" : "s");
}

}  // namespace rampart::dataset
