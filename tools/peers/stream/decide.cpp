#include <fmt/format.h>

#include "rampart/base/random.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/privacy/person_keys.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/sealed_log/sealed_log.hpp"
#include "rampart/serving/decision_service.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "tools/peers/reasons.hpp"
#include "tools/peers/stream/commands.hpp"
#include "tools/peers/stream/stopwatch.hpp"
#include "tools/peers/stream/workload.hpp"

namespace rampart::peers {
namespace {

/// Returns a policy of 100 trees of the learner's default size over the card stream's features,
/// with exploration.
base::Result<std::shared_ptr<const model::LoadedPolicy>> learned_policy() {
    constexpr size_t kRows = 4000;
    std::vector<dataset::FeatureSpec> specs;
    for (size_t j = 0; j < kFeatures; ++j) {
        specs.push_back({feature_name(j), dataset::FeatureKind::kNumeric, {}});
    }
    dataset::Dataset data;
    RAMPART_TRY(data.schema, dataset::FeatureSchema::create(std::move(specs)));
    data.columns.assign(kFeatures, std::vector<float>(kRows));
    base::Random random(1);
    for (size_t i = 0; i < kRows; ++i) {
        for (auto& column : data.columns) column[i] = static_cast<float>(random.normal());
        const double logit = data.columns[0][i] + data.columns[1][i] * data.columns[2][i];
        data.label.push_back(random.bernoulli(model::sigmoid(logit)) ? 1 : 0);
    }
    gbdt::LearnerParams params;
    params.trees = 100;
    gbdt::LogLoss objective(data);
    model::LearnedLink link;
    RAMPART_TRY(link.ensemble, gbdt::train(data, objective, params, nullptr));
    link.exploration = {model::ExplorationMode::kOneSided, 0.05};
    RAMPART_TRY(auto policy, model::Policy::create(data.schema, {std::move(link)}, {}, {}));
    const auto id = model::policy_id_of(model::encode_model_file(policy));
    return std::make_shared<const model::LoadedPolicy>(model::LoadedPolicy{std::move(policy), id});
}

/// Creates one key per applicant; with kKnown before the clock starts.
base::Status make_keys(privacy::PersonKeys& keys, const DecideOptions& options) {
    if (options.sealing != Sealing::kKnown) return base::ok();
    std::vector<privacy::Letter> letters;
    for (size_t i = 0; i < options.decisions; ++i) {
        letters.push_back({application(i).person, "warm", "up"});
        if (letters.size() < 1000 && i + 1 < options.decisions) continue;
        RAMPART_RETURN_IF_ERROR(keys.seal(letters));
        letters.clear();
    }
    return base::ok();
}

}  // namespace

base::Status decide(const DecideOptions& options) {
    RAMPART_TRY(const auto log, streaming_local::LocalLog::open(options.store / "log"));
    for (const char* topic : {"decisions", "outcomes"}) {
        RAMPART_RETURN_IF_ERROR(log->create_topic(topic, {.partitions = options.partitions}));
    }
    const runtime::SystemClock clock;
    runtime::Metrics metrics;
    runtime::Health health;
    serving::DecisionServiceOptions service_options;
    service_options.product = product();
    service_options.draw_key = {"draw-2005", "secret"};
    service_options.log.folder = options.store / "partitions";
    service_options.log.partitions = options.partitions;
    service_options.log.exploration_per_day = 1000;
    service_options.event_window = {base::Duration::days(36'500), base::Duration::days(1)};
    RAMPART_TRY(service_options.log.memory, storage::MemoryBudget::create(512u << 20));
    RAMPART_TRY(const auto keys,
                privacy::PersonKeys::open(options.store / "keys", std::string(32, 's'), nullptr,
                                          service_options.log.memory));
    RAMPART_RETURN_IF_ERROR(make_keys(*keys, options));
    sealed_log::SealedLog sealed(*log, *log, *keys, "decisions", options.sealing != Sealing::kNone);
    RAMPART_TRY(const auto service,
                serving::DecisionService::open(std::move(service_options),
                                               {sealed, sealed, clock, metrics, health}));
    RAMPART_TRY(auto policy, learned_policy());
    RAMPART_RETURN_IF_ERROR(service->set_policy(std::move(policy), true));
    std::vector<std::vector<domain::Application>> batches;
    for (size_t i = 0; i < options.decisions; ++i) {
        if (i % options.batch == 0) batches.emplace_back();
        batches.back().push_back(application(i));
    }
    const Stopwatch watch;
    for (const auto& batch : batches) {
        RAMPART_TRY(const auto decided, service->decide(batch));
        if (decided.size() != batch.size())
            return base::make_error(peers::Reason::kLost, "a decision");
    }
    const double seconds = watch.seconds(), cpu_seconds = watch.cpu_seconds();
    fmt::print("{{\"records\": {}, \"seconds\": {}, \"cpu_seconds\": {}}}\n", options.decisions,
               seconds, cpu_seconds);
    return base::ok();
}

}  // namespace rampart::peers
