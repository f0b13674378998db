// Reading a CSV file as a table: numbers, categories, a label and two protected columns.
#include <benchmark/benchmark.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "rampart/base/random.hpp"
#include "rampart/dataset/csv.hpp"
#include "rampart/dataset/infer_schema.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/dataset/table_cache.hpp"

namespace rampart::dataset {
namespace {

constexpr size_t kRows = 200'000;

std::vector<std::string> names(std::string_view prefix, size_t count) {
    std::vector<std::string> out;
    for (size_t i = 0; i < count; ++i) out.push_back(fmt::format("{}{}", prefix, i));
    return out;
}

TableSchema schema() {
    TableSchema out;
    out.features = FeatureSchema::create({{"age", FeatureKind::kNumeric, {}},
                                          {"income", FeatureKind::kNumeric, {}},
                                          {"score", FeatureKind::kNumeric, {}},
                                          {"hours", FeatureKind::kNumeric, {}},
                                          {"job", FeatureKind::kCategorical, names("job ", 500)},
                                          {"place", FeatureKind::kCategorical, names("", 220)},
                                          {"work", FeatureKind::kCategorical, names("class-", 8)}})
                       .value();
    out.label_column = "repaid";
    out.favourable = "1";
    out.protected_columns = {"sex", "race"};
    out.missing_tokens = {"?"};
    return out;
}

/// 10 columns, about 42 bytes a row, as in a census.
class File {
  public:
    explicit File(bool quotes)
        : path_(std::filesystem::temp_directory_path() / "rampart_bench.csv") {
        base::Random random(1);
        std::ofstream out(path_, std::ios::binary);
        out << "age,income,score,hours,job,place,work,sex,race,repaid\n";
        const std::string_view q = quotes ? "\"" : "";
        for (size_t i = 0; i < kRows; ++i) {
            const auto job = static_cast<size_t>(500 * std::pow(random.uniform(), 3));
            out << fmt::format("{},{},{:.6g},{},{}job {}{},{},{}class-{}{},{},{}race {}{},{}\n",
                               17 + random.below(78), 10 * random.below(20'000), random.normal(),
                               random.below(99), q, job, q, random.below(220), q, random.below(8),
                               q, 1 + random.below(2), q, random.below(5), q, random.below(2));
        }
        out.close();
        bytes_ = std::filesystem::file_size(path_);
    }
    ~File() { std::filesystem::remove(path_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    const std::filesystem::path& path() const { return path_; }
    size_t bytes() const { return bytes_; }

  private:
    std::filesystem::path path_;
    size_t bytes_ = 0;
};

void cells(benchmark::State& state) {
    const File file(state.range(0) != 0);
    for (auto _ : state) {
        auto csv = CsvReader::open(file.path()).value();
        size_t bytes = 0;
        while (csv.next().value()) {
            for (const auto cell : csv.cells()) bytes += cell.size();
        }
        benchmark::DoNotOptimize(bytes);
    }
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * file.bytes()));
}
BENCHMARK(cells)->ArgName("quotes")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void table(benchmark::State& state) {
    const File file(state.range(0) != 0);
    const auto columns = schema();
    for (auto _ : state) benchmark::DoNotOptimize(read_table(file.path(), columns).value());
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * file.bytes()));
}
BENCHMARK(table)->ArgName("quotes")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void cached(benchmark::State& state) {
    const File file(false);
    const auto columns = schema();
    const auto cache = file.path().string() + ".table";
    bool from_cache = read_table_cached(file.path(), columns, cache).has_value();
    for (auto _ : state) {
        from_cache = read_table_cached(file.path(), columns, cache).value().from_cache;
    }
    if (!from_cache) state.SkipWithError("the cache was not used");
    std::filesystem::remove(cache);
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * file.bytes()));
}
BENCHMARK(cached)->Unit(benchmark::kMillisecond);

void infer(benchmark::State& state) {
    const File file(false);
    const ColumnRoles roles{"repaid", "1", {"sex", "race"}, {}, {}};
    for (auto _ : state) benchmark::DoNotOptimize(infer_schema(file.path(), roles).value());
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * file.bytes()));
}
BENCHMARK(infer)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rampart::dataset
