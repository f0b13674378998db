#include "frame/error_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>

#include "frame/reasons.hpp"
#include "rampart/access/reasons.hpp"
#include "rampart/attribution/reasons.hpp"
#include "rampart/authenticated_log/reasons.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/budro/reasons.hpp"
#include "rampart/calibration/reasons.hpp"
#include "rampart/candidate_selection/reasons.hpp"
#include "rampart/certification/reasons.hpp"
#include "rampart/config/reasons.hpp"
#include "rampart/constraints/reasons.hpp"
#include "rampart/counterfactuals/reasons.hpp"
#include "rampart/data_profile/reasons.hpp"
#include "rampart/data_retention/reasons.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/decision/reasons.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/domain/reasons.hpp"
#include "rampart/evaluation/reasons.hpp"
#include "rampart/explain/reasons.hpp"
#include "rampart/fair_regression/reasons.hpp"
#include "rampart/fairgbm/reasons.hpp"
#include "rampart/fairness/reasons.hpp"
#include "rampart/gate_log/reasons.hpp"
#include "rampart/gbdt/reasons.hpp"
#include "rampart/http/reasons.hpp"
#include "rampart/http/response.hpp"
#include "rampart/identity_provider/reasons.hpp"
#include "rampart/joiner/reasons.hpp"
#include "rampart/learning/reasons.hpp"
#include "rampart/lease/reasons.hpp"
#include "rampart/loan_stream/reasons.hpp"
#include "rampart/model/reasons.hpp"
#include "rampart/model_exchange/reasons.hpp"
#include "rampart/monitoring/reasons.hpp"
#include "rampart/notices/reasons.hpp"
#include "rampart/numeric/reasons.hpp"
#include "rampart/ope/reasons.hpp"
#include "rampart/postprocessing/reasons.hpp"
#include "rampart/privacy/reasons.hpp"
#include "rampart/protected_attributes/reasons.hpp"
#include "rampart/ramp/reasons.hpp"
#include "rampart/reductions/reasons.hpp"
#include "rampart/registry/reasons.hpp"
#include "rampart/retraining/reasons.hpp"
#include "rampart/runtime/exit_code.hpp"
#include "rampart/runtime/reasons.hpp"
#include "rampart/serving/reasons.hpp"
#include "rampart/stats/reasons.hpp"
#include "rampart/storage/reasons.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/streaming_kafka/reasons.hpp"
#include "rampart/streaming_local/reasons.hpp"
#include "rampart/training/reasons.hpp"
#include "rampart/training_set/reasons.hpp"
#include "rampart/tuning/reasons.hpp"
#include "rampart/wire/reasons.hpp"
#include "services/decision_service/reasons.hpp"
#include "services/rampartd/reasons.hpp"
#include "tools/demo/reasons.hpp"

namespace rampart::cli {
namespace {

const std::span<const base::ReasonInfo> kLists[] = {
    access::reasons::kAll,
    attribution::reasons::kAll,
    authenticated_log::reasons::kAll,
    base::reasons::kAll,
    budro::reasons::kAll,
    calibration::reasons::kAll,
    candidate_selection::reasons::kAll,
    certification::reasons::kAll,
    cli::reasons::kAll,
    config::reasons::kAll,
    constraints::reasons::kAll,
    dataset::reasons::kAll,
    serving::reasons::kAll,
    decision_log::reasons::kAll,
    counterfactuals::reasons::kAll,
    data_profile::reasons::kAll,
    data_retention::reasons::kAll,
    decision::reasons::kAll,
    decision_service::reasons::kAll,
    demo::reasons::kAll,
    domain::reasons::kAll,
    evaluation::reasons::kAll,
    explain::reasons::kAll,
    fair_regression::reasons::kAll,
    fairgbm::reasons::kAll,
    fairness::reasons::kAll,
    gate_log::reasons::kAll,
    gbdt::reasons::kAll,
    http::reasons::kAll,
    identity_provider::reasons::kAll,
    joiner::reasons::kAll,
    learning::reasons::kAll,
    lease::reasons::kAll,
    loan_stream::reasons::kAll,
    model::reasons::kAll,
    model_exchange::reasons::kAll,
    monitoring::reasons::kAll,
    notices::reasons::kAll,
    numeric::reasons::kAll,
    ope::reasons::kAll,
    postprocessing::reasons::kAll,
    privacy::reasons::kAll,
    protected_attributes::reasons::kAll,
    ramp::reasons::kAll,
    rampartd::reasons::kAll,
    reductions::reasons::kAll,
    registry::reasons::kAll,
    retraining::reasons::kAll,
    runtime::reasons::kAll,
    stats::reasons::kAll,
    storage::reasons::kAll,
    streaming::reasons::kAll,
    streaming_kafka::reasons::kAll,
    streaming_local::reasons::kAll,
    training::reasons::kAll,
    training_set::reasons::kAll,
    tuning::reasons::kAll,
    wire::reasons::kAll,
};

constexpr size_t kMostNear = 5;

/// Returns how many letters have to be changed, added or left out to come from one to the other.
size_t distance(std::string_view from, std::string_view to) {
    std::vector<size_t> row(to.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < from.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < to.size(); ++j) {
            const size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

}  // namespace

std::vector<ErrorEntry> error_table() {
    std::vector<ErrorEntry> table;
    for (const auto& list : kLists)
        for (const base::ReasonInfo& info : list)
            table.push_back(
                {&info, http::status_of(info), static_cast<int>(runtime::exit_code_of(info.code))});
    std::sort(table.begin(), table.end(), [](const ErrorEntry& a, const ErrorEntry& b) {
        const auto key = [](const ErrorEntry& e) {
            return std::tuple(e.info->word, e.info->room, e.info->enumerator);
        };
        return key(a) < key(b);
    });
    return table;
}

std::string error_page() {
    std::string page =
        "# Errors\n\n"
        "Every reason that a program of Rampart gives, as `rampart "
        "errors` prints it (a test compares\n"
        "them). `reason` and `code` are the members of an error "
        "document: over HTTP a problem document\n"
        "(RFC 9457), of a command `{\"error\": {\"code\": …, "
        "\"reason\": …, \"message\": …}}`; detail or message\n"
        "names field and value. HTTP: the status of the answer. "
        "Exit: the exit code of a command that fails\n"
        "with it; where a command asks a question, some of them are "
        "the answer no, exit code 1, as its help\n"
        "says. A damaged file that the command names is bad input: "
        "code invalid_argument, exit code 2.\n\n"
        "| reason | room | code | HTTP | exit | what to do |\n| --- | --- | --- | --- | --- | --- "
        "|\n";
    for (const auto& [info, http_status, exit_code] : error_table())
        page += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", info->word, info->room,
                            base::to_string(info->code), http_status, exit_code, info->remedy);
    return page;
}

std::vector<std::string> near_reasons(std::string_view word) {
    std::vector<std::pair<size_t, std::string>> found;
    for (const auto& entry : error_table()) {
        const std::string known(entry.info->word);
        const bool part = word.size() >= 3 && known.find(word) != std::string::npos;
        const size_t apart = part ? 1 : distance(word, known);
        if (apart <= 1 + known.size() / 4) found.emplace_back(apart, known);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    std::vector<std::string> words;
    for (const auto& [apart, known] : found)
        if (words.size() < kMostNear) words.push_back(known);
    return words;
}

}  // namespace rampart::cli
