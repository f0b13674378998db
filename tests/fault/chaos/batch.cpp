#include <fmt/format.h>

#include "fault/chaos/load.hpp"
#include "rampart/base/random.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/record_codec.hpp"

namespace rampart::chaos {
namespace {

using streaming::PartitionId;

constexpr size_t kApplications = 8;  // for a batch
constexpr double kPoisoned = 0.05;   // for several batches
const std::string kMeasure = "repaid";

domain::Application application(const LoadOptions& options, const loan_stream::Stream& stream,
                                uint64_t number) {
    auto application = stream.applicants[number % stream.applicants.size()].application;
    application.id = domain::ApplicationId(fmt::format("chaos-{}-{}", options.seed, number));
    application.person = domain::PersonId(fmt::format("person-{}", number));
    application.event_time =
        options.start + base::Duration::seconds(static_cast<int64_t>(number % 100'000));
    return application;
}

/// Makes none, one, a repeated one, or one with its correction, in any order.
void plan_reports(const domain::Application& application, bool decided_by_topic,
                  base::Random& random, std::vector<PlannedReport>& reports) {
    const auto id = domain::decision_id_of(application.id);
    const uint64_t kind = random.below(10);
    const auto report = [&](uint32_t revision, double value) {
        PlannedReport planned;
        planned.outcome.decision = id;
        planned.outcome.measure = kMeasure;
        planned.outcome.revision = revision;
        planned.outcome.value = value;
        planned.outcome.observed_at = application.event_time + base::Duration::days(90 + revision);
        planned.by_topic = decided_by_topic || random.bernoulli(0.5);
        planned.early = planned.by_topic && random.bernoulli(0.2);
        planned.copies = random.bernoulli(0.2) ? 2 : 1;
        reports.push_back(planned);
    };
    const double value = random.bernoulli(0.7) ? 1 : 0;
    if (kind < 2) return;
    report(0, value);
    if (kind == 9) report(1, 1 - value);
}

Batch::Poison poison(const LoadOptions& options, int32_t partitions, base::Random& random,
                     const domain::Application& like, uint64_t number) {
    const std::string bytes = fmt::format("poison {} \xff\x01", random.next());
    const PartitionId anywhere(-1);
    const PartitionId some(static_cast<int32_t>(random.below(static_cast<uint64_t>(partitions))));
    switch (random.below(5)) {
        case 0:
            return {options.topics.outcomes, anywhere, {bytes, bytes, like.event_time, {}}};
        case 1:
            return {options.topics.decisions, some, {bytes, bytes, like.event_time, {}}};
        case 2:
            return {options.topics.applications, anywhere, {bytes, bytes, like.event_time, {}}};
        case 3: {  // a measure that does not exist
            domain::Outcome outcome{domain::decision_id_of(like.id), "height", 0, 1,
                                    like.event_time};
            return {options.topics.outcomes, anywhere, wire::to_record(outcome)};
        }
        default: {  // a decision by a process without a lease: it does not count
            domain::Decision decision;
            decision.application = like;
            decision.application.id = domain::ApplicationId(fmt::format("nobody-{}", number));
            decision.id = domain::decision_id_of(decision.application.id);
            decision.policy = domain::PolicyId(std::string(64, '0'));
            decision.score = decision.p_exploit = decision.p_approve = 1;
            decision.draw_key_id = std::string("k");
            decision.action = domain::Action::kApprove;
            return {options.topics.decisions, anywhere, wire::to_record(decision, 0)};
        }
    }
}

}  // namespace

Batch plan_batch(const LoadOptions& options, const loan_stream::Stream& stream, int32_t partitions,
                 uint64_t number) {
    base::Random random(base::mix64(options.seed) ^ base::mix64(number + 1));
    Batch batch;
    for (size_t i = 0; i < kApplications; ++i) {
        const auto one = application(options, stream, number * kApplications + i);
        const bool by_topic = random.bernoulli(options.by_topic);
        (by_topic ? batch.by_topic : batch.by_http).push_back(one);
        plan_reports(one, by_topic, random, batch.reports);
        if (i == 0 && random.bernoulli(kPoisoned)) {
            batch.poison.push_back(poison(options, partitions, random, one, number));
        }
    }
    random.shuffle(std::span(batch.reports));
    return batch;
}

}  // namespace rampart::chaos
