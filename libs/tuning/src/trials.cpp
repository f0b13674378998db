#include "rampart/tuning/trials.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <tuple>

#include "rampart/tuning/reasons.hpp"

namespace rampart::tuning {
namespace {

constexpr std::string_view kFormat = "rampart-trials 1";
constexpr size_t kFields = 7;

/// Takes the text up to `end` off the front; the whole text if it does not occur.
std::string_view take(std::string_view& text, char end) {
    const size_t at = std::min(text.find(end), text.size());
    const auto out = text.substr(0, at);
    text.remove_prefix(std::min(at + 1, text.size()));
    return out;
}

template <class T>
bool read(std::string_view text, T& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

/// Returns the text on one line, without the mark between fields.
std::string one_line(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    return text;
}

bool read_trial(std::string_view line, Trial& out) {
    std::string_view fields[kFields];
    for (size_t i = 0; i + 1 < kFields; ++i) fields[i] = take(line, '\t');
    out.values = std::string(fields[5]);
    out.failed = std::string(line);
    return read(fields[0], out.setting) && read(fields[1], out.share) &&
           read(fields[2], out.score) && read(fields[3], out.excess) &&
           read(fields[4], out.seconds) && out.setting > 0 && out.share > 0 && out.share <= 1;
}

}  // namespace

bool is_better(const Trial& a, const Trial& b) {
    const auto place = [](const Trial& one) {
        return std::tuple(!one.failed.empty(), one.excess, one.score, one.setting);
    };
    return place(a) < place(b);
}

std::string describe(const Trial& trial, std::string_view resource, std::string_view score) {
    const auto part = trial.share < 1
                          ? fmt::format("1/{:g} of the {}", std::round(1 / trial.share), resource)
                          : fmt::format("all {}", resource);
    if (!trial.failed.empty())
        return fmt::format("{}; {}; no model: {}; {:.1f} s", trial.values, part, trial.failed,
                           trial.seconds);
    return fmt::format("{}; {}; {} {:.5f}; {}; {:.1f} s", trial.values, part, score, trial.score,
                       trial.excess > 0 ? fmt::format("misses constraints by {:.4f}", trial.excess)
                                        : "keeps its constraints",
                       trial.seconds);
}

std::string encode(const base::Digest& of, std::span<const Trial> trials) {
    std::string out = fmt::format("{}\n{}\n", kFormat, of.hex());
    for (const auto& one : trials)
        out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", one.setting, one.share, one.score,
                           one.excess, one.seconds, one.values, one_line(one.failed));
    return out;
}

base::Result<std::vector<Trial>> decode(const base::Digest& of, std::string_view text) {
    if (take(text, '\n') != kFormat)
        return base::make_error(Reason::kBadTrials, "the first line is not '{}'", kFormat);
    if (const auto digest = take(text, '\n'); digest != of.hex())
        return base::make_error(Reason::kOtherSearch,
                                "the trials are of the search {}, and this one is {}: another "
                                "recipe, other rows or another seed",
                                digest, of.hex());
    std::vector<Trial> out;
    while (!text.empty()) {
        if (!read_trial(take(text, '\n'), out.emplace_back()))
            return base::make_error(Reason::kBadTrials, "line {} is no trial", out.size() + 2);
    }
    return out;
}

}  // namespace rampart::tuning
