#include "rampart/storage/scrub.hpp"

#include <rocksdb/sst_file_reader.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "database_impl.hpp"
#include "errors.hpp"
#include "rampart/base/log.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;

constexpr base::Logger kLog("storage");
using Steady = std::chrono::steady_clock;

rocksdb::Status read_all(rocksdb::Env& environment, const fs::path& file, bool past_the_cache) {
    rocksdb::Options options;
    options.env = &environment;
    options.use_direct_reads = past_the_cache;
    rocksdb::SstFileReader reader(options);
    const auto opened = reader.Open(file.string());
    return opened.ok() ? reader.VerifyChecksum() : opened;
}

/// Returns how long it takes at the rate to read what was read, less the time that has passed.
base::Duration ahead_of(uint64_t bytes_per_second, uint64_t bytes, Steady::time_point begun) {
    if (bytes_per_second == 0) return {};
    const double due = static_cast<double>(bytes) / static_cast<double>(bytes_per_second);
    const double passed = std::chrono::duration<double>(Steady::now() - begun).count();
    return base::Duration::micros(static_cast<int64_t>(1e6 * std::max(0.0, due - passed)));
}

/// Reads a table; one that compaction has deleted meanwhile is none any more.
void scrub_table(const OpenTables& database, const fs::path& file, ScrubReport& report) {
    auto status = read_all(*database.environment, file, true);
    // some file systems refuse direct reads; a block that is damaged on the disk may still be whole
    // in the cache, so damage is not looked at twice
    if (!status.ok() && !status.IsCorruption())
        status = read_all(*database.environment, file, false);
    std::error_code error;
    const uint64_t bytes = fs::file_size(file, error);
    if (error) return;
    ++report.files;
    report.bytes += bytes;
    if (status.ok()) return;
    const auto why = map_error(status, database.path, "read");
    kLog.error(
        "msg=\"a table is damaged, or cannot be read\" file={} what=\"{}\" "
        "runbook=ops/runbooks/damage.md",
        file.string(), why.message);
    database.damage->take(why);
    report.damaged.push_back(file);
}

}  // namespace

ScrubReport scrub(const ScrubOptions& options) {
    ScrubReport report;
    const auto begun = Steady::now();
    for (const auto& database : open_tables()) {
        for (const auto& file : database.files) {
            const auto ahead = ahead_of(options.bytes_per_second, report.bytes, begun);
            if (options.wait && !options.wait(ahead)) {
                report.stopped = true;
                return report;
            }
            scrub_table(database, file, report);
        }
    }
    return report;
}

}  // namespace rampart::storage
