// The cost of databases whose files are encrypted, beside plain ones: writing with all flushes and
// compactions, and reading blocks that are in the page cache only. Argument: 1 encrypted. CPU time
// of the whole process counts. Repeat with --benchmark_repetitions=5
// --benchmark_enable_random_interleaving=true.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>

#include "rampart/base/digest.hpp"
#include "rampart/base/random.hpp"
#include "rampart/base/stream_cipher.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/storage/encryption.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;

constexpr ColumnFamily kFamily{0};
constexpr int kKeys = 100'000, kBatch = 100;

std::string key_of(int i) { return base::sha256(std::to_string(i)).hex().substr(0, 24); }

struct Store {
    fs::path folder = fs::temp_directory_path() / fmt::format("encryption_bench.{}", ::getpid());
    std::unique_ptr<Database> database;

    explicit Store(bool encrypted) {
        fs::remove_all(folder);
        set_file_key_source([encrypted](const fs::path&) -> base::Result<FileKeys> {
            if (!encrypted) return FileKeys();
            return FileKeys{FileKey{"0123456789abcdef", std::string(kFileKeyBytes, 'k')}, {}};
        });
        OpenOptions options;
        options.cache_bytes = 1u << 20;
        database = Database::open(folder, {"first"}, options).value();
    }
    ~Store() {
        database.reset();
        set_file_key_source({});
        fs::remove_all(folder);
    }
    void write_all() const {
        std::string value = base::random_bytes(150) + std::string(150, 'v');
        for (int i = 0; i < kKeys; i += kBatch) {
            WriteBatch batch;
            for (int j = i; j < i + kBatch; ++j) batch.put(kFamily, key_of(j), value);
            if (!database->write(batch, Sync::kNever)) std::abort();
        }
        if (!database->compact(kFamily)) std::abort();
    }
};

void write_and_compact(benchmark::State& state) {
    for (auto _ : state) {
        const Store store(state.range(0) == 1);
        store.write_all();
    }
    state.SetItemsProcessed(state.iterations() * kKeys);
}
BENCHMARK(write_and_compact)
    ->Arg(0)
    ->Arg(1)
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);

void get_from_the_page_cache(benchmark::State& state) {
    const Store store(state.range(0) == 1);
    store.write_all();
    base::Random random(7);
    for (auto _ : state) {
        const auto found =
            store.database->get(kFamily, key_of(static_cast<int>(random.below(kKeys))));
        if (!found || !*found) std::abort();
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(get_from_the_page_cache)->Arg(0)->Arg(1)->MeasureProcessCPUTime();

void cipher_alone(benchmark::State& state) {
    const base::StreamCipher cipher(std::string(base::kStreamKeyBytes, 'k'));
    std::string bytes(static_cast<size_t>(state.range(0)), 'x');
    for (auto _ : state) cipher.apply(4096, bytes);
    state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(cipher_alone)->Arg(100)->Arg(4096)->Arg(1 << 20);

}  // namespace
}  // namespace rampart::storage
