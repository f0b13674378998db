#include "state_text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "rampart/base/limits.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/dataset/split_plan.hpp"
#include "rampart/dataset/text.hpp"
#include "rampart/model/reasons.hpp"

namespace rampart::model {
namespace {

using base::Result;
namespace limits = base::limits;

constexpr std::string_view kReferenceRow = "reference_row", kReasonMethod = "reason_method",
                           kShapley = "shapley", kMetric = "fair_metric",
                           kMetricDigest = "fair_metric_sha256",
                           kMultipliers = "fairgbm.multipliers", kLoss = "regression_loss",
                           kTableSchema = "table_schema", kSplit = "split", kSeed = "seed",
                           kData = "data_sha256", kMissed = "training.constraints_missed";

// A seed alone is no state: candidates have theirs in words.
constexpr std::array kKeys = {kReferenceRow, kReasonMethod, kMetric, kMetricDigest, kMultipliers,
                              kLoss,         kTableSchema,  kSplit,  kData,         kMissed};

constexpr size_t kMaxMetricBytes = size_t{128} << 20;
constexpr size_t kMaxMultipliers = 1 << 16;
constexpr size_t kMaxTextBytes = 16 << 20;

struct NamedLoss {
    std::string_view name;
    RegressionLossKind kind;
    double parameter;  // where the text has none
};
constexpr NamedLoss kLosses[] = {
    {"squared", RegressionLossKind::kSquared, 0},
    {"logistic", RegressionLossKind::kLogistic, 5},
    {"absolute", RegressionLossKind::kAbsolute, 0},
    {"quantile", RegressionLossKind::kQuantile, 0.5},
    {"huber", RegressionLossKind::kHuber, 0.1},
    {"poisson", RegressionLossKind::kPoisson, 5},
    {"tweedie", RegressionLossKind::kTweedie, 1.5},
};

std::optional<std::string> take(TextByKey& provenance, std::string_view key) {
    auto node = provenance.extract(std::string(key));
    if (node.empty()) return std::nullopt;
    return std::move(node.mapped());
}

Result<std::vector<float>> reference_row_of(std::string_view text) {
    std::vector<float> row;
    while (true) {
        const auto cell = text.substr(0, text.find(','));
        const auto number = dataset::parse_number(cell);
        if (!number && cell != "nan")
            return base::make_error(Reason::kBadReferenceRow,
                                    "'{}' holds '{}' at place {}; expected a number or nan",
                                    kReferenceRow, cell.substr(0, 40), row.size() + 1);
        row.push_back(number ? static_cast<float>(*number) : std::nanf(""));
        if (cell.size() == text.size()) return row;
        text.remove_prefix(cell.size() + 1);
    }
}

/// A method without a row says nothing: there are no reasons to measure.
Result<std::optional<ReasonReference>> take_reasons(TextByKey& provenance) {
    const auto row = take(provenance, kReferenceRow), method = take(provenance, kReasonMethod);
    if (method && *method != kShapley)
        return base::make_error(Reason::kBadReasonMethod, "'{}' is '{}'; expected '{}'",
                                kReasonMethod, method->substr(0, 40), kShapley);
    if (!row) return std::optional<ReasonReference>();
    ReasonReference reasons{method ? ReasonMethod::kShapley : ReasonMethod::kReplacement, {}};
    RAMPART_TRY(reasons.row, reference_row_of(*row));
    return std::optional(std::move(reasons));
}

Result<std::string> take_metric(TextByKey& provenance) {
    const auto text = take(provenance, kMetric), digest = take(provenance, kMetricDigest);
    if (!text && !digest) return std::string();
    auto bytes = base::from_base64(text.value_or(""));
    if (!text || !bytes || bytes->empty())
        return base::make_error(Reason::kBadMetricFile, "'{}' is not base64", kMetric);
    if (digest && *digest != base::sha256(*bytes).hex())
        return base::make_error(Reason::kBadMetricFile, "'{}' is not that of '{}'", kMetricDigest,
                                kMetric);
    return *std::move(bytes);
}

Result<std::optional<std::vector<double>>> take_multipliers(TextByKey& provenance) {
    const auto text = take(provenance, kMultipliers);
    if (!text) return std::optional<std::vector<double>>();
    std::vector<double> values;
    const char* at = text->data();
    const char* const end = at + text->size();
    while (at < end) {
        double value = 0;
        const auto [next, error] = std::from_chars(at, end, value);
        if (error != std::errc{} || (next != end && *next != ' '))
            return base::make_error(Reason::kBadMultipliers,
                                    "'{}' holds more than numbers after {}", kMultipliers,
                                    values.size());
        values.push_back(value);
        at = next == end ? end : next + 1;
    }
    return std::optional(std::move(values));
}

Result<std::optional<StoredLoss>> take_loss(TextByKey& provenance) {
    const auto text = take(provenance, kLoss);
    if (!text) return std::optional<StoredLoss>();
    const auto space = text->find(' ');
    const auto named = std::find_if(std::begin(kLosses), std::end(kLosses), [&](const auto& loss) {
        return loss.name == std::string_view(*text).substr(0, space);
    });
    std::optional<double> parameter;
    if (space != std::string::npos)
        parameter = dataset::parse_number(std::string_view(*text).substr(space + 1));
    if (named == std::end(kLosses) || (space != std::string::npos && !parameter))
        return base::make_error(Reason::kBadRegressionLoss, "'{}' is '{}'; expected e.g. 'squared'",
                                kLoss, text->substr(0, 40));
    return std::optional(StoredLoss{named->kind, parameter.value_or(named->parameter)});
}

Result<std::optional<TrainingRecord>> take_training(TextByKey& provenance) {
    auto schema = take(provenance, kTableSchema), split = take(provenance, kSplit);
    auto data = take(provenance, kData);
    if (!schema && !split && !data) return std::optional<TrainingRecord>();
    auto seed = take(provenance, kSeed);
    for (const auto& [key, text] :
         {std::pair{kTableSchema, &schema}, {kSplit, &split}, {kData, &data}, {kSeed, &seed}})
        if (!*text)
            return base::make_error(Reason::kBadTrainingRecord, "'{}' is missing beside the others",
                                    key);
    TrainingRecord record{*std::move(schema), *std::move(split), 0, {}};
    const char* const end = seed->data() + seed->size();
    const auto [at, error] = std::from_chars(seed->data(), end, record.seed);
    if (error != std::errc() || at != end)
        return base::make_error(Reason::kBadTrainingRecord, "'{}' is '{}'; expected a whole number",
                                kSeed, seed->substr(0, 40));
    const auto digest = base::Digest::from_hex(*data);
    if (!digest)
        return base::make_error(Reason::kBadTrainingRecord, "'{}' is '{}'; expected a SHA-256",
                                kData, data->substr(0, 80));
    record.data = *digest;
    return std::optional(std::move(record));
}

template <class... Args>
base::Error bad(fmt::format_string<Args...> format, Args&&... args) {
    return base::make_error(Reason::kBadPolicy, format, std::forward<Args>(args)...);
}

base::Status check_text(std::string_view what, std::string_view text) {
    if (text.size() > kMaxTextBytes)
        return bad("{} has {} bytes; allowed are {}", what, text.size(), kMaxTextBytes);
    if (!base::is_utf8(text)) return bad("{} is not UTF-8", what);
    return base::ok();
}

base::Status check_reasons(const ReasonReference& reasons, const dataset::FeatureSchema& schema) {
    if (reasons.row.size() != schema.size())
        return base::make_error(Reason::kBadReferenceRow,
                                "the reference row has {} values for {} features",
                                reasons.row.size(), schema.size());
    const auto infinite = std::find_if(reasons.row.begin(), reasons.row.end(),
                                       [](float value) { return std::isinf(value); });
    if (infinite != reasons.row.end())
        return base::make_error(Reason::kBadReferenceRow,
                                "the reference row has {} at place {}; expected a finite "
                                "number, or NaN for missing",
                                *infinite, infinite - reasons.row.begin() + 1);
    return base::ok();
}

base::Status check_multipliers(const std::vector<double>& values) {
    if (values.size() > kMaxMultipliers)
        return bad("{} multipliers; allowed are {}", values.size(), kMaxMultipliers);
    for (size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
            return bad("multiplier {} is {}; expected a finite number", i, values[i]);
    return base::ok();
}

base::Status check_loss(const StoredLoss& loss) {
    if (loss.kind == RegressionLossKind::kUser)
        return bad("the loss is a function of the caller's, which no file can hold");
    const bool plain =
        loss.kind == RegressionLossKind::kSquared || loss.kind == RegressionLossKind::kAbsolute;
    if (!std::isfinite(loss.parameter) || (plain && loss.parameter != 0))
        return bad("the parameter of the loss is {}; expected a finite number, 0 without one",
                   loss.parameter);
    return base::ok();
}

base::Status check_training(const TrainingRecord& record) {
    if (record.table_schema.empty()) return bad("the training record has no table schema");
    RAMPART_RETURN_IF_ERROR(check_text("the table schema", record.table_schema));
    if (const auto split = dataset::parse_split_plan(record.split); !split)
        return split.error().with_context("the training record");
    return base::ok();
}

}  // namespace

bool PolicyState::empty() const {
    return !reasons && fair_metric.empty() && !fairgbm_multipliers && !regression_loss &&
           !training && constraints_missed.empty();
}

Result<PolicyState> take_state(TextByKey& provenance) {
    PolicyState state;
    RAMPART_TRY(state.reasons, take_reasons(provenance));
    RAMPART_TRY(state.fair_metric, take_metric(provenance));
    RAMPART_TRY(state.fairgbm_multipliers, take_multipliers(provenance));
    RAMPART_TRY(state.regression_loss, take_loss(provenance));
    RAMPART_TRY(state.training, take_training(provenance));
    state.constraints_missed = take(provenance, kMissed).value_or("");
    return state;
}

TextByKey text_of(const PolicyState& state) {
    TextByKey out;
    const auto put = [&](std::string_view key, std::string text) {
        out.emplace(key, std::move(text));
    };
    if (state.reasons) {
        std::vector<std::string> cells;
        for (const float value : state.reasons->row)
            cells.push_back(std::isnan(value) ? "nan" : fmt::format("{}", value));
        put(kReferenceRow, fmt::format("{}", fmt::join(cells, ",")));
        if (state.reasons->method == ReasonMethod::kShapley)
            put(kReasonMethod, std::string(kShapley));
    }
    if (!state.fair_metric.empty()) {
        put(kMetric, base::to_base64(state.fair_metric));
        put(kMetricDigest, base::sha256(state.fair_metric).hex());
    }
    if (state.fairgbm_multipliers)
        put(kMultipliers, fmt::format("{}", fmt::join(*state.fairgbm_multipliers, " ")));
    for (const auto& loss : kLosses) {
        if (!state.regression_loss || state.regression_loss->kind != loss.kind) continue;
        const double parameter = state.regression_loss->parameter;
        put(kLoss, loss.parameter == 0 ? std::string(loss.name)
                                       : fmt::format("{} {}", loss.name, parameter));
    }
    if (state.training) {
        put(kTableSchema, state.training->table_schema);
        put(kSplit, state.training->split);
        put(kSeed, std::to_string(state.training->seed));
        put(kData, state.training->data.hex());
    }
    if (!state.constraints_missed.empty()) put(kMissed, state.constraints_missed);
    return out;
}

std::optional<std::string> key_of_state(const TextByKey& provenance) {
    for (const auto key : kKeys)
        if (provenance.contains(std::string(key))) return std::string(key);
    return std::nullopt;
}

base::Status check_state(const PolicyState& state, const dataset::FeatureSchema& schema) {
    if (state.reasons) RAMPART_RETURN_IF_ERROR(check_reasons(*state.reasons, schema));
    if (state.fair_metric.size() > kMaxMetricBytes)
        return bad("the fair metric has {} bytes; allowed are {}", state.fair_metric.size(),
                   kMaxMetricBytes);
    if (state.fairgbm_multipliers)
        RAMPART_RETURN_IF_ERROR(check_multipliers(*state.fairgbm_multipliers));
    if (state.regression_loss) RAMPART_RETURN_IF_ERROR(check_loss(*state.regression_loss));
    if (state.training) RAMPART_RETURN_IF_ERROR(check_training(*state.training));
    return check_text("the constraints that it misses", state.constraints_missed);
}

}  // namespace rampart::model
