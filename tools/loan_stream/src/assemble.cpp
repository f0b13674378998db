#include "assemble.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "rampart/base/random.hpp"
#include "rampart/loan_stream/reasons.hpp"

namespace rampart::loan_stream {
namespace {

constexpr double kNever = 0.004;      // probability that the report is lost
constexpr double kTwice = 0.01;       // probability that it is sent twice
constexpr double kCorrected = 0.005;  // probability that it is wrong at first

std::vector<Report> reports_of(const Draft& draft, const Source& source, base::Random random) {
    if (!draft.applicant.label) return {};
    // All draws are made in every case, so that no share depends on another.
    const auto jitter_days =
        random.below(static_cast<uint64_t>(source.early_days + source.late_days) + 1);
    const auto jitter_seconds = random.below(24 * 3600);
    const double fate = random.uniform();
    const auto correction_after = base::Duration::days(14 + static_cast<int64_t>(random.below(29)));

    const double truth = *draft.applicant.label ? 1 : 0;
    auto at = draft.observed_at;
    if (source.early_days + source.late_days > 0) {
        at = at - base::Duration::days(source.early_days) +
             base::Duration::days(static_cast<int64_t>(jitter_days)) +
             base::Duration::seconds(static_cast<int64_t>(jitter_seconds));
    }
    if (fate < kNever) return {};
    if (fate < kNever + kTwice) return {{0, truth, at}, {0, truth, at}};
    if (fate < kNever + kTwice + kCorrected) {
        return {{0, 1 - truth, at}, {1, truth, at + correction_after}};
    }
    return {{0, truth, at}};
}

base::Status check_unique(const std::vector<Draft>& drafts, std::string_view stream) {
    std::unordered_set<std::string_view> seen;
    for (const auto& draft : drafts) {
        const auto& id = draft.applicant.application.id.value();
        if (!seen.insert(id).second) {
            return base::make_error(Reason::kDuplicateApplication,
                                    "stream {}: application {} occurs twice; the data file has a "
                                    "repeated id, get an intact copy (ops/data)",
                                    stream, id);
        }
    }
    return base::ok();
}

}  // namespace

base::TimePoint spread(base::TimePoint begin, base::TimePoint end, size_t k, size_t n) {
    // Whole seconds: ids, logs and reports stay readable. No overflow: centuries in microseconds
    // are below 2^53, so the product is computed as a ratio.
    const double share = (static_cast<double>(k) + 0.5) / static_cast<double>(n);
    const auto seconds = static_cast<double>((end - begin).micros()) / 1e6 * share;
    return begin + base::Duration::seconds(static_cast<int64_t>(seconds));
}

base::Result<Stream> assemble(Source source, size_t rows, uint64_t seed) {
    auto& drafts = source.drafts;
    if (drafts.empty()) {
        return base::make_error(
            Reason::kNoApplicants,
            "stream {}: the data files contain no applicant that the stream can use; "
            "get intact copies (ops/data --stream {})",
            source.name, source.name);
    }
    RAMPART_RETURN_IF_ERROR(check_unique(drafts, source.name));
    std::stable_sort(drafts.begin(), drafts.end(), [](const Draft& a, const Draft& b) {
        return a.applicant.application.event_time < b.applicant.application.event_time;
    });

    Stream stream{.name = source.name,
                  .schema = source.schema,
                  .applicants = {},
                  .start = drafts.front().applicant.application.event_time,
                  .end = drafts.front().applicant.application.event_time,
                  .horizon_months = source.horizon_months,
                  .grace = source.grace};
    const size_t total = drafts.size();
    const size_t wanted = rows == 0 ? total : std::min(rows, total);
    stream.applicants.reserve(wanted);
    for (size_t i = 0; i < wanted; ++i) {
        const size_t position = i * total / wanted;
        auto& draft = drafts[position];
        // The generator is forked by the position before sampling: an applicant's reports do not
        // depend on the row limit.
        draft.applicant.reports = reports_of(draft, source, base::Random(seed).fork(position));
        if (draft.applicant.label) {
            const auto decided = draft.applicant.application.event_time;
            stream.end = std::max(stream.end,
                                  base::add_months(decided, source.horizon_months) + source.grace);
        }
        stream.applicants.push_back(std::move(draft.applicant));
    }
    stream.start = stream.applicants.front().application.event_time;
    return stream;
}

}  // namespace rampart::loan_stream
