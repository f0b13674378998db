#include "store/store_copies.hpp"

#include <string>

#include "frame/reasons.hpp"
#include "rampart/storage/folder.hpp"
#include "rampart/storage/live_copy.hpp"
#include "rampart/streaming/partition_list.hpp"
#include "rampart/wire/topics.hpp"

namespace rampart::cli {

namespace fs = std::filesystem;
using base::Result;
using streaming::PartitionId;

namespace {

/// For what is looked at and never polls, where there is no log to look into.
class NoLog final : public streaming::Reader {
  public:
    Result<int32_t> partitions(std::string_view) const override { return none(); }
    Result<std::string> identity(std::string_view) const override { return none(); }
    Result<std::vector<streaming::StoredRecord>> read(std::string_view, PartitionId,
                                                      streaming::Offset, size_t) const override {
        return none();
    }
    Result<streaming::Offset> begin_offset(std::string_view, PartitionId) const override {
        return none();
    }
    Result<streaming::Offset> end_offset(std::string_view, PartitionId) const override {
        return none();
    }

  private:
    static base::Error none() { return base::make_error(Reason::kNoLog, "a check reads no log"); }
};

}  // namespace

void Temporary::remove() const {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
}

Result<bool> copy_to(const fs::path& copy, const rampartd::Settings& settings,
                     const fs::path& database) {
    if (!storage::is_database(settings.store / database)) return false;
    std::error_code failure;
    fs::create_directories((copy / database).parent_path(), failure);
    RAMPART_RETURN_IF_ERROR(storage::copy_live(settings.store / database, copy / database));
    return true;
}

Result<std::unique_ptr<Derived>> Derived::of(const rampartd::Settings& settings) {
    auto derived = std::make_unique<Derived>(settings);
    for (int32_t p = 0; p < settings.log.partitions; ++p) {
        const auto folder = fs::path("partitions") / std::to_string(p);
        const auto& copy = derived->copy.folder;
        RAMPART_TRY(const bool joins, copy_to(copy, settings, folder / "joins"));
        RAMPART_TRY(const bool decisions, copy_to(copy, settings, folder / "decisions"));
        if (joins) derived->joined.emplace_back(p);
        if (decisions) derived->decided.emplace_back(p);
    }
    if (storage::is_database(settings.store / "log")) {
        RAMPART_TRY(derived->log,
                    streaming_local::LocalLog::open_read_only(settings.store / "log"));
    }
    return derived;
}

const streaming::Reader& Derived::reader() const {
    static const NoLog none;
    return log ? static_cast<const streaming::Reader&>(*log) : none;
}

Result<std::unique_ptr<joiner::OutcomeJoiner>> open_joined(const rampartd::Settings& settings,
                                                           const Derived& derived,
                                                           std::vector<PartitionId> held) {
    const auto topics = wire::Topics::with_prefix(settings.log.topic_prefix);
    joiner::JoinerOptions options;
    options.product = settings.product;
    options.decisions_topic = topics.decisions;
    options.outcomes_topic = topics.outcomes;
    options.partitions = settings.log.partitions;
    options.held = held.empty() ? streaming::no_partitions() : std::move(held);
    return joiner::OutcomeJoiner::open(derived.partitions(), options, derived.reader());
}

Result<std::unique_ptr<decision_log::DecisionIndex>> open_index(const rampartd::Settings& settings,
                                                                const Derived& derived,
                                                                PartitionId partition) {
    decision_log::IndexOptions options;
    options.path = derived.partitions() / std::to_string(partition.value()) / "decisions";
    options.decisions_topic = wire::Topics::with_prefix(settings.log.topic_prefix).decisions;
    options.partition = partition;
    options.partitions = settings.log.partitions;
    return decision_log::DecisionIndex::open(options, derived.reader());
}

}  // namespace rampart::cli
