// Time of a restart with a million open decisions: joined state and decision index of four
// partitions, after kill -9 and after an orderly end, with none of their files cached in memory and
// with all of them.
//
//     bench_restart [DECISIONS] [FOLDER]
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/serving/decision_service.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "tools/peers/stream/workload.hpp"

namespace rampart {
namespace {

namespace fs = std::filesystem;
using base::Result;
using streaming::Offset;
using streaming::PartitionId;
using Clock = std::chrono::steady_clock;

constexpr int32_t kPartitions = 4;
constexpr uint64_t kMemory = 512u << 20;

/// A log whose decisions are made when they are read; it has no outcomes.
class GeneratedLog final : public streaming::Reader, public streaming::Writer {
  public:
    explicit GeneratedLog(size_t decisions) {
        for (size_t i = 0; i < decisions; ++i) {
            const auto id = domain::decision_id_of(peers::application(i).id);
            const auto partition = streaming::partition_of(id.value(), kPartitions);
            numbers_[static_cast<size_t>(partition.value())].push_back(static_cast<uint32_t>(i));
        }
    }
    Result<int32_t> partitions(std::string_view) const override { return kPartitions; }
    Result<std::string> identity(std::string_view topic) const override {
        return std::string(topic);
    }
    Result<std::vector<streaming::StoredRecord>> read(std::string_view topic, PartitionId partition,
                                                      Offset from, size_t limit) const override {
        RAMPART_TRY(const Offset end, end_offset(topic, partition));
        std::vector<streaming::StoredRecord> records;
        for (int64_t at = from.value(); at < end.value() && records.size() < limit; ++at) {
            const size_t number =
                numbers_[static_cast<size_t>(partition.value())].at(static_cast<size_t>(at));
            records.push_back({partition, Offset(at), peers::decision_record(number)});
        }
        return records;
    }
    Result<Offset> begin_offset(std::string_view, PartitionId) const override { return Offset(0); }
    Result<Offset> end_offset(std::string_view topic, PartitionId partition) const override {
        if (topic != "decisions") return Offset(0);
        return Offset(
            static_cast<int64_t>(numbers_[static_cast<size_t>(partition.value())].size()));
    }
    Result<std::vector<streaming::Position>> append(std::string_view,
                                                    std::span<const streaming::Record>) override {
        return base::Error{base::ErrorCode::kFailedPrecondition, "read_only",
                           "nothing is appended here"};
    }
    Result<std::vector<streaming::Position>> append_to(
        std::string_view, PartitionId, std::span<const streaming::Record>) override {
        return base::Error{base::ErrorCode::kFailedPrecondition, "read_only",
                           "nothing is appended here"};
    }

  private:
    std::vector<uint32_t> numbers_[kPartitions];
};

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

void check(const base::Status& status) {
    if (status) return;
    fmt::print(stderr, "{}\n", status.error().message);
    std::exit(1);
}

/// The databases of the partitions that `rampart serve` opens; reads the log to its end when made.
struct Node {
    std::shared_ptr<storage::MemoryBudget> memory = storage::MemoryBudget::create(kMemory).value();
    runtime::SystemClock clock;
    runtime::Metrics metrics;
    runtime::Health health;
    std::unique_ptr<joiner::OutcomeJoiner> joiner;
    std::unique_ptr<serving::DecisionService> service;
    double joiner_seconds = 0, service_seconds = 0;

    Node(const fs::path& folder, GeneratedLog& log) {
        auto start = Clock::now();
        joiner::JoinerOptions joining;
        joining.product = peers::product();
        joining.partitions = kPartitions;
        joining.memory = memory;
        auto opened = joiner::OutcomeJoiner::open(folder, joining, log);
        check(opened.map([](auto&) {}));
        joiner = *std::move(opened);
        while (true) {
            const auto polled = joiner->poll(4000);
            check(polled.map([](const auto&) {}));
            if (polled->records == 0) break;
        }
        joiner_seconds = seconds_since(start);
        start = Clock::now();
        serving::DecisionServiceOptions deciding;
        deciding.log.folder = folder;
        deciding.log.partitions = kPartitions;
        deciding.log.memory = memory;
        deciding.product = peers::product();
        deciding.draw_key = {"key", "secret"};
        auto served =
            serving::DecisionService::open(std::move(deciding), {log, log, clock, metrics, health});
        check(served.map([](auto&) {}));
        service = *std::move(served);
        const auto known = domain::decision_id_of(peers::application(0).id);
        check(service->find(known).map([](const auto&) {}));
        service_seconds = seconds_since(start);
    }
};

/// Makes the system drop the cached content of the files.
void forget(const fs::path& folder) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file()) continue;
        const int fd = ::open(entry.path().c_str(), O_RDONLY);
        ::fsync(fd);
        ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        ::close(fd);
    }
}

void reopen(const char* when, const fs::path& folder, GeneratedLog& log, uint64_t decisions) {
    const Node node(folder, log);
    const auto counts = node.joiner->counts();
    fmt::print("{:<44} {:6.2f} s  (joined state {:.2f}, decisions {:.2f})  memory {} of {} MB\n",
               when, node.joiner_seconds + node.service_seconds, node.joiner_seconds,
               node.service_seconds, node.memory->usage().used >> 20, kMemory >> 20);
    if (counts.decisions != decisions || counts.matured != 0) {
        fmt::print(stderr, "{} decisions, {} matured: not what was put in\n", counts.decisions,
                   counts.matured);
        std::exit(1);
    }
}

int run(size_t decisions, const fs::path& folder) {
    fs::remove_all(folder);
    GeneratedLog log(decisions);
    const auto start = Clock::now();
    const pid_t filler = ::fork();
    if (filler == 0) {
        const Node node(folder, log);
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    rusage usage{};
    ::wait4(filler, &status, 0, &usage);
    if (!WIFSIGNALED(status)) return 1;
    uint64_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) bytes += entry.file_size();
    }
    constexpr uint64_t kBlock = 512;  // the unit of the system
    fmt::print("{} open decisions, filled in {:.0f} s, {} MB in files, {} MB written\n", decisions,
               seconds_since(start), bytes >> 20,
               (static_cast<uint64_t>(usage.ru_oublock) * kBlock) >> 20);
    forget(folder);
    reopen("after kill -9, files not in memory", folder, log, decisions);
    forget(folder);
    reopen("after an orderly end, files not in memory", folder, log, decisions);
    reopen("after an orderly end, files in memory", folder, log, decisions);
    fs::remove_all(folder);
    return 0;
}

}  // namespace
}  // namespace rampart

int main(int argc, char** argv) {
    const size_t decisions = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
    const std::filesystem::path folder = argc > 2 ? argv[2] : "/tmp/bench_restart";
    return rampart::run(decisions, folder);
}
