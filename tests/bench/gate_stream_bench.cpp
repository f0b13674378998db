// The gate over a vault that is in a store and never in memory: ten million records in four groups,
// each of another person, read from RocksDB block by block. Prints JSON.
//
//     bench_gate_stream [RECORDS] [FOLDER]
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "rampart/storage/database.hpp"
#include "support/gate_scenario.hpp"

namespace rampart {
namespace {

namespace fs = std::filesystem;
using certification::VaultRecord;
constexpr storage::ColumnFamily kRecords{0};
constexpr size_t kBlock = 4096;

std::string key_of(const VaultRecord& r) {
    std::string key(reinterpret_cast<const char*>(r.unit.data()), r.unit.size());
    return key.append(reinterpret_cast<const char*>(r.id.data()), r.id.size());
}

/// Records as bytes in a database; the keys are in the order of (unit, id).
class StoredVault final : public certification::VaultSource {
  public:
    explicit StoredVault(const fs::path& folder)
        : database_(storage::Database::open(folder, {"records"}).value()) {}
    const certification::VaultNames& names() const override { return names_; }

    base::Status put(std::span<const VaultRecord> records) {
        storage::WriteBatch batch;
        for (const VaultRecord& r : records) {
            batch.put(kRecords, key_of(r), {reinterpret_cast<const char*>(&r), sizeof r});
        }
        return database_->write(batch, storage::Sync::kNever);
    }

    base::Status read(const See& see) const override {
        std::vector<VaultRecord> block;
        block.reserve(kBlock);
        const auto visit = [&](std::string_view, std::string_view value) -> base::Result<bool> {
            std::memcpy(&block.emplace_back(), value.data(), sizeof(VaultRecord));
            if (block.size() < kBlock) return true;
            RAMPART_RETURN_IF_ERROR(see(block));
            block.clear();
            return true;
        };
        RAMPART_RETURN_IF_ERROR(database_->scan(kRecords, storage::KeyRange::all(), visit));
        return see(block);
    }

  private:
    certification::VaultNames names_{{"bootstrap"}, {"women", "men", "women < 30", "men < 30"}};
    std::unique_ptr<storage::Database> database_;
};

void add_young(ope::LoggedDecisions& d) {
    for (const size_t g : {0, 1}) {
        d.groups.push_back({d.groups[g].name + " < 30", {}});
        for (const uint32_t i : d.groups[g].records) {
            if (i % 6 < 3) d.groups.back().records.push_back(i);
        }
    }
}

void fill(StoredVault& vault, size_t records) {
    constexpr size_t kPart = 100'000;
    for (size_t from = 0; from < records; from += kPart) {
        base::Random random(from + 1);
        auto part = test::simulate(
            {.records = kPart, .skill = 0.02, .prefix = "v" + std::to_string(from)}, random);
        add_young(part.decisions);
        const auto made =
            certification::MemoryVault::from(part.decisions, test::kPseudonymKey).value();
        const auto known = made.with_impacts(part.impact).value();
        for (size_t i = 0; i < kPart; i += kBlock) {
            const std::span<const VaultRecord> all(known.records());
            (void)vault.put(all.subspan(i, std::min(kBlock, kPart - i)));
        }
    }
}

double seconds() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

long peak_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

int main_of(size_t records, const fs::path& folder) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    StoredVault vault(folder / "vault");
    fill(vault, records);
    const long before = peak_mib();
    const auto config = test::lender_config();
    auto ledger = test::ledger_for(config);
    base::Random random(7);
    auto selection = test::simulate({.records = 20'000, .skill = 0.02, .prefix = "c"}, random);
    add_young(selection.decisions);
    const double t0 = seconds();
    const auto checked = certification::precheck(
        {config, test::lender_identity(), ledger, test::kPseudonymKey, selection}, vault);
    if (!checked || !checked->prepared) return 1;
    const double t1 = seconds();
    const auto request = checked->prepared->request();
    (void)ledger.append(*ledger.next_registration(request, base::TimePoint()));
    const auto result = certification::run(*checked->prepared, *ledger.ticket(request), vault);
    const double t2 = seconds();
    std::printf(
        "{\"records\": %zu, \"precheck_seconds\": %.2f, \"run_seconds\": %.2f, "
        "\"peak_mib_before\": %ld, \"peak_mib\": %ld, \"verdict\": \"%s\"}\n",
        records, t1 - t0, t2 - t1, before, peak_mib(),
        std::string(to_string(result.value().verdict)).c_str());
    fs::remove_all(folder);
    return 0;
}

}  // namespace
}  // namespace rampart

int main(int argc, char** argv) {
    const size_t records = argc > 1 ? std::stoul(argv[1]) : 10'000'000;
    const std::filesystem::path folder = argc > 2
                                             ? std::filesystem::path(argv[2])
                                             : std::filesystem::temp_directory_path() /
                                                   ("gate_stream." + std::to_string(::getpid()));
    return rampart::main_of(records, folder);
}
