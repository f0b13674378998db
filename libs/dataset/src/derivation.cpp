#include "rampart/dataset/derivation.hpp"

#include <array>
#include <chrono>
#include <cmath>

#include "word_scanner.hpp"

namespace rampart::dataset {
namespace {

namespace chrono = std::chrono;
using Function = Derivation::Function;

constexpr std::string_view kSpecials = "(),";
struct Known {
    std::string_view word;
    Function function;
    size_t columns;
};
constexpr std::array<Known, 5> kKnown{{{"ratio", Function::kRatio, 2},
                                       {"difference", Function::kDifference, 2},
                                       {"log", Function::kLog, 1},
                                       {"days_between", Function::kDaysBetween, 2},
                                       {"months_since", Function::kMonthsSince, 2}}};

const Known& known_of(Function function) {
    size_t i = 0;
    while (kKnown[i].function != function) ++i;
    return kKnown[i];
}

std::optional<double> finite(double value) {
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// Counts the whole months from one day to another: the 15th of March is a month after the 15th of
/// February, the 14th is not.
double months_between(double from, double to) {
    const auto date = [](double days) {
        return chrono::year_month_day(
            chrono::sys_days(chrono::days(static_cast<chrono::days::rep>(days))));
    };
    const auto a = date(from), b = date(to);
    const auto months =
        static_cast<double>(12 * (static_cast<int>(b.year()) - static_cast<int>(a.year())) +
                            static_cast<int>(static_cast<unsigned>(b.month())) -
                            static_cast<int>(static_cast<unsigned>(a.month())));
    return b.day() < a.day() ? months - 1 : months;
}

}  // namespace

bool Derivation::of_dates() const {
    return function == Function::kDaysBetween || function == Function::kMonthsSince;
}

base::Result<Derivation> parse_derivation(std::string_view text) {
    WordScanner scan(text, Reason::kBadDerivation, "derived");
    RAMPART_TRY(const auto word, scan.name(kSpecials));
    Derivation out;
    size_t wanted = 0;
    for (const auto& known : kKnown)
        if (known.word == word) out.function = known.function, wanted = known.columns;
    if (wanted == 0) {
        scan.move_to(0);
        return scan.wrong(
            "known are ratio, difference, log, days_between and months_since, each of columns in "
            "parentheses");
    }
    if (!scan.take('(')) return scan.wrong("'(' is wanted");
    while (true) {
        RAMPART_TRY(auto column, scan.name(kSpecials));
        out.columns.push_back(std::move(column));
        if (!scan.take(',')) break;
    }
    if (!scan.take(')')) return scan.wrong("',' or ')' is wanted");
    if (out.columns.size() != wanted)
        return scan.wrong(fmt::format("{} takes {} column{}, here are {}", word, wanted,
                                      wanted == 1 ? "" : "s", out.columns.size()));
    scan.skip_blanks();
    if (!scan.at_end()) return scan.wrong("nothing may follow");
    return out;
}

std::string to_text(const Derivation& derivation) {
    std::string out = fmt::format("{}(", known_of(derivation.function).word);
    for (size_t i = 0; i < derivation.columns.size(); ++i)
        out += (i == 0 ? "" : ", ") + quoted_name(derivation.columns[i], kSpecials);
    return out + ')';
}

std::optional<double> apply(const Derivation& derivation, std::optional<double> first,
                            std::optional<double> second) {
    if (!first) return std::nullopt;
    if (derivation.function == Function::kLog)
        return *first > 0 ? finite(std::log(*first)) : std::nullopt;
    if (!second) return std::nullopt;
    switch (derivation.function) {
        case Function::kRatio:
            return *second != 0 ? finite(*first / *second) : std::nullopt;
        case Function::kDaysBetween:
            return *second - *first;
        case Function::kMonthsSince:
            return months_between(*first, *second);
        default:
            return finite(*first - *second);
    }
}

}  // namespace rampart::dataset
