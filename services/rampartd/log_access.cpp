#include "services/rampartd/log_access.hpp"

#include "rampart/base/log.hpp"
#include "rampart/registry/champion_feed.hpp"
#include "rampart/runtime/metric_list.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;

namespace {

constexpr base::Logger kLog("rampartd");

}  // namespace

Result<std::unique_ptr<LogAccess>> LogAccess::open(const LogSettings& settings,
                                                   const std::filesystem::path& local_folder,
                                                   const base::Clock& clock,
                                                   lease::SteadyTimer::Wait wait,
                                                   std::shared_ptr<storage::MemoryBudget> memory) {
    std::unique_ptr<LogAccess> log(
        new LogAccess(wire::Topics::with_prefix(settings.topic_prefix), std::move(wait)));
    if (settings.broker == LogSettings::Broker::kLocal) {
        RAMPART_RETURN_IF_ERROR(log->open_local(settings, local_folder, std::move(memory)));
    } else {
        RAMPART_RETURN_IF_ERROR(log->open_kafka(settings, clock));
    }
    return log;
}

void LogAccess::seal_with(privacy::PersonKeys& keys, bool seals) {
    sealed_ = std::make_unique<sealed_log::SealedLog>(*reader_, *writer_, keys, topics_.decisions,
                                                      seals, topics_.protected_attributes);
    reader_ = sealed_.get();
    writer_ = sealed_.get();
}

void LogAccess::measure(const streaming::Reader& reader, streaming::Writer& writer) {
    measured_ = std::make_unique<MeasuredLog>(reader, writer);
    below_ = reader_ = measured_.get();
    writer_ = measured_.get();
}

/// Puts the group's MAC on what nodes write for each other.
Status LogAccess::authenticate(const LogSettings& settings) {
    if (settings.group_keys.empty()) return base::ok();
    std::vector<std::string> keys;
    for (const auto& file : settings.group_keys) {
        RAMPART_TRY(keys.emplace_back(), runtime::load_secret(file));
    }
    authenticated_ = std::make_unique<authenticated_log::AuthenticatedLog>(
        *reader_, *writer_,
        authenticated_log::AuthenticatedTopics{
            std::move(keys),
            {topics_.decisions, topics_.leases, topics_.person_keys, topics_.policies},
            settings.unauthenticated_until});
    reader_ = authenticated_.get();
    writer_ = authenticated_.get();
    return base::ok();
}

void LogAccess::write(runtime::Samples& out) const {
    namespace metric = runtime::metric;
    constexpr int32_t kNamedPartitions = MeasuredLog::kNamedPartitions;
    measured_->write(out);
    if (authenticated_) {
        for (const auto& [topic, count] : authenticated_->passed_over())
            out.add(metric::kLogUnauthenticated, static_cast<double>(count), {{"topic", topic}});
    }
    if (leases_ == nullptr) return;
    if (const auto age = leases_->age()) {
        out.add(metric::kLeaseAge, static_cast<double>(age->micros()) / 1e6);
        const auto sign = leases_->last_sign(lease::kTrainer);
        out.add(metric::kTrainerSign, sign ? static_cast<double>(sign->micros()) / 1e6 : 0);
    }
    out.add(metric::kLeaseTtl, static_cast<double>(leases_->ttl().micros()) / 1e6);
    for (const auto& [partition, epoch] : leases_->owned()) {
        if (partition.value() >= kNamedPartitions) continue;
        out.add(metric::kLeaseEpoch, static_cast<double>(epoch),
                {{"partition", fmt::format("{}", partition)}});
    }
}

Status LogAccess::open_local(const LogSettings& settings, const std::filesystem::path& folder,
                             std::shared_ptr<storage::MemoryBudget> memory) {
    RAMPART_TRY(local_, streaming_local::LocalLog::open(folder, {.memory = std::move(memory)}));
    for (const auto& spec : topics_.specs(settings.partitions)) {
        streaming_local::TopicOptions options;
        options.partitions = spec.partitions;
        options.retention.max_age = spec.max_age;
        // only those that are used without other nodes
        if (spec.name == topics_.protected_attributes || spec.name == topics_.policies ||
            spec.name == topics_.leases || spec.name == topics_.person_keys) {
            continue;
        }
        RAMPART_RETURN_IF_ERROR(local_->create_topic(spec.name, options));
    }
    measure(*local_, *local_);
    return base::ok();
}

Result<uint64_t> LogAccess::drop(base::TimePoint now,
                                 const streaming_local::LocalLog::Needed& needed) {
    if (!local_) return uint64_t{0};
    return local_->drop(now, needed);
}

Status LogAccess::erase_published(const std::function<bool(const streaming::Record&)>& matches) {
    constexpr size_t kReadBatch = 1000;
    const streaming::PartitionId only(0);
    RAMPART_TRY(auto next, local_->begin_offset(topics_.quarantine, only));
    std::optional<streaming::Offset> until;
    while (true) {
        RAMPART_TRY(const auto records, local_->read(topics_.quarantine, only, next, kReadBatch));
        if (records.empty()) break;
        next = streaming::Offset(records.back().offset.value() + 1);
        for (const auto& one : records) {
            if (matches(one.record)) until = streaming::Offset(one.offset.value() + 1);
        }
    }
    return until ? local_->erase_until(topics_.quarantine, only, *until) : base::ok();
}

/// Returns those of the topics that the node uses.
std::vector<streaming::TopicSpec> LogAccess::specs(const LogSettings& settings) const {
    auto specs = topics_.specs(settings.partitions, settings.kept());
    if (!settings.attributes)
        std::erase_if(specs,
                      [&](const auto& spec) { return spec.name == topics_.protected_attributes; });
    return specs;
}

Status LogAccess::check_topics(const LogSettings& settings) {
    if (local_) return base::ok();
    RAMPART_TRY(const auto admin, streaming_kafka::TopicAdmin::open(settings.kafka));
    RAMPART_TRY(const auto found, admin->look(specs(settings)));
    if (!found.settings) {
        kLog.warning(
            "msg=\"the settings of the topics are not checked: the brokers do not show them\" "
            "reason={} what=\"{}\"",
            found.settings.error().reason, found.settings.error().message);
    }
    for (const auto& topic : found.topics) {
        for (const auto& d : topic.differences) {
            if (d.loses_records) continue;
            kLog.warning(
                "msg=\"a topic is not as it has to be\" topic={} property={} is=\"{}\" "
                "wanted=\"{}\" remedy=\"{}\"",
                topic.name, d.property, d.found, d.wanted, d.remedy);
        }
    }
    RAMPART_RETURN_IF_ERROR(
        streaming_kafka::check_keeps_records(found.topics, settings.development));
    const Status kept = streaming_kafka::check_keeps_records(found.topics, false);
    if (!kept)
        kLog.warning(
            "msg=\"kafka.development = true: if one disk of the cluster is lost, so is the log\" "
            "what=\"{}\"",
            kept.error().message);
    topics_status_ = found.settings ? kept : found.settings;
    return base::ok();
}

Status LogAccess::open_kafka(const LogSettings& settings, const base::Clock& clock) {
    RAMPART_TRY(kafka_reader_, streaming_kafka::KafkaReader::open(settings.kafka));
    RAMPART_TRY(kafka_writer_, streaming_kafka::KafkaWriter::open(settings.kafka));
    measure(*kafka_reader_, *kafka_writer_);
    RAMPART_RETURN_IF_ERROR(authenticate(settings));
    for (const auto& spec : specs(settings)) {
        const auto partitions = reader_->partitions(spec.name);
        if (!partitions && partitions.error().code == base::ErrorCode::kNotFound) {
            return base::make_error(streaming::Reason::kNoTopic,
                                    "the cluster at {} has no topic '{}'; make the topics with "
                                    "'rampart topics create --config …'",
                                    settings.kafka.bootstrap_servers, spec.name);
        }
        if (!partitions) return partitions.error();
    }
    lease_options_ = {topics_.leases, settings.group, settings.node, settings.lease_ttl,
                      settings.advertise};
    clock_ = &clock;
    RAMPART_TRY(leases_, lease::PartitionLeases::create(lease_options_,
                                                        {*reader_, *writer_, clock, timer_}));
    return base::ok();
}

Result<std::unique_ptr<lease::TrainerLease>> LogAccess::trainer_lease(
    const std::filesystem::path& file) const {
    return lease::TrainerLease::create(
        lease_options_, {*reader_, *writer_, *clock_, timer_}, file,
        [this] { return registry::newest_epoch(*reader_, topics_.policies); });
}

}  // namespace rampart::rampartd
