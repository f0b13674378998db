// One flipped bit in any file of any database of a node that was killed: what is read afterwards is
// what was written, or the damage is named, or a write of a log counts as torn, as after a power
// cut. RAMPART_FLIPS: how many in each database.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/random.hpp"
#include "rampart/http/client.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/storage/folder.hpp"
#include "rampart/wire/application_json.hpp"
#include "support/places.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::demo {
namespace {

namespace fs = std::filesystem;
using base::Result;

const std::string kProgram = test_support::bin_dir() + "/rampart";
constexpr size_t kPersons = 300, kBatch = 100;

uint64_t from_environment(const char* name, uint64_t otherwise) {
    const char* wanted = std::getenv(name);
    return wanted == nullptr ? otherwise : std::strtoull(wanted, nullptr, 10);
}

size_t flips() { return from_environment("RAMPART_FLIPS", 40); }
uint64_t seed() { return from_environment("RAMPART_SEED", 17); }

/// Each database of a node with this one's roles, by its path in the store; of the folders of
/// partitions that of partition 0 stands for all.
const std::set<std::string> kDatabases{"log",
                                       "partitions/0/decisions",
                                       "partitions/0/joins",
                                       "privacy/keys",
                                       "privacy/register",
                                       "protected",
                                       "registry/registry",
                                       "trainer"};

/// Which database a folder of a store is; empty: one of a further partition.
std::string name_of(const std::string& path) {
    return path.starts_with("partitions/") && !path.starts_with("partitions/0/") ? "" : path;
}

/// Whether its room has it go back to a moment before the damage of a log, and reads on from there.
bool goes_back(const fs::path& folder) {
    return folder.filename() == "decisions" || folder.filename() == "joins";
}

struct Content {
    base::Digest digest;
    uint64_t pairs = 0;
};

/// Opens the database as its room does, and reads all of it.
Result<Content> read_all(const fs::path& folder) {
    RAMPART_TRY(const auto families, storage::families_in(folder));
    storage::OpenOptions options;
    options.create = false;
    options.schema.version = storage::Schema::kAnyVersion;
    if (goes_back(folder)) options.recovery = storage::Recovery::kPointInTime;
    RAMPART_TRY(const auto database, storage::Database::open(folder, families, options));
    Content content;
    std::string sum;
    for (uint32_t i = 0; i < families.size(); ++i) {
        const auto visit = [&](std::string_view key, std::string_view value) -> Result<bool> {
            sum = base::sha256(fmt::format("{}{} {} {} {}", sum, i, key.size(), key, value)).hex();
            ++content.pairs;
            return true;
        };
        RAMPART_RETURN_IF_ERROR(
            database->scan(storage::ColumnFamily{i}, storage::KeyRange::all(), visit));
    }
    content.digest = base::sha256(sum);
    RAMPART_RETURN_IF_ERROR(database->damage());
    return content;
}

struct Flip {
    fs::path file;
    uint64_t byte = 0, bit = 0;
    bool in_log() const { return file.extension() == ".log"; }
    std::string text() const {
        return fmt::format("bit {} of byte {} of {}", bit, byte, file.filename().string());
    }
};

/// Flips one bit of a file of the folder.
Flip flip(const fs::path& folder, base::Random& random) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
        // what no database reads: its lock, and its messages for people
        const auto name = entry.path().filename().string();
        if (name == "LOCK" || name.starts_with("LOG") || entry.file_size() == 0) continue;
        files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    Flip made{files.at(random.below(files.size()))};
    made.byte = random.below(fs::file_size(made.file));
    made.bit = random.below(8);
    std::fstream stream(made.file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(made.byte));
    const char byte = static_cast<char>(stream.get() ^ (1 << made.bit));
    stream.seekp(static_cast<std::streamoff>(made.byte));
    stream.put(byte);
    EXPECT_TRUE(stream.good());
    return made;
}

class BitFlips : public testing::Test {
  protected:
    /// Decides for some persons, and kills the node: much is in write-ahead logs.
    void SetUp() override {
        loan_stream::StreamOptions options;
        options.name = "simulated";
        options.rows = kPersons;
        const auto stream = loan_stream::load(options).value();
        const auto workspace =
            prepare_workspace(folder_ / "a", test_support::source_dir() + "/ops/config", stream, 3)
                .value();
        auto process = ServiceProcess::start(kProgram, workspace.config, workspace.endpoint_file,
                                             workspace.log);
        ASSERT_TRUE(process) << process.error().message;
        auto endpoint = base::read_file(workspace.endpoint_file, 256).value();
        endpoint.pop_back();
        http::ClientOptions asking;
        asking.token = workspace.token;
        auto client = http::Client::create(endpoint, asking).value();
        for (size_t i = 0; i < kPersons; i += kBatch) {
            std::vector<domain::Application> some;
            for (size_t n = i; n < i + kBatch; ++n)
                some.push_back(stream.applicants.at(n).application);
            const auto body = wire::to_json(std::span<const domain::Application>(some));
            ASSERT_EQ(client.post("/v1/decisions", body).value().status, 200);
        }
        const auto now = stream.applicants.at(kPersons - 1).application.event_time;
        const auto moved =
            client.post("/v1/clock", fmt::format(R"({{"now":"{}"}})", base::to_iso8601(now)));
        ASSERT_EQ(moved.value().status, 200) << moved.value().body;
        process->kill();
        store_ = workspace.store;
    }
    ~BitFlips() override { fs::remove_all(folder_); }

    /// The databases of the store, by their paths.
    std::map<std::string, fs::path> databases() const {
        std::map<std::string, fs::path> found;
        for (const auto& entry : fs::recursive_directory_iterator(store_)) {
            if (!entry.is_directory() || !storage::is_database(entry.path())) continue;
            const auto name = name_of(fs::relative(entry.path(), store_).string());
            if (!name.empty()) found[name] = entry.path();
        }
        return found;
    }
    /// Copies the database of a killed process.
    fs::path copy(const fs::path& database) const {
        const auto place = folder_ / "copy" / database.filename();
        fs::remove_all(folder_ / "copy");
        fs::create_directories(folder_ / "copy");
        fs::copy(database, place, fs::copy_options::recursive);
        return place;
    }
    /// Returns what a damaged log may be taken for: one that ends before the damaged write. Only
    /// the last write may be that, where the database does not go back.
    Result<Content> read_torn(const fs::path& database, const Flip& flip) const {
        const auto log = copy(database) / flip.file.filename();
        const auto size = fs::file_size(log);
        fs::resize_file(log, goes_back(database) ? flip.byte : size - 1);
        return read_all(log.parent_path());
    }
    void flip_bits_of(const std::string& name, const fs::path& database);

    const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("flips.{}", ::getpid());
    fs::path store_;
    base::Random random_{seed()};
};

void BitFlips::flip_bits_of(const std::string& name, const fs::path& database) {
    const auto right = read_all(copy(database));
    ASSERT_TRUE(right) << right.error().message;
    size_t named = 0, harmless = 0, torn = 0;
    for (size_t i = 0; i < flips(); ++i) {
        const auto place = copy(database);
        const auto flipped = flip(place, random_);
        const auto found = read_all(place);
        if (!found) {
            ++named;
            EXPECT_NE(found.error().message.find(place.string()), std::string::npos)
                << name << ", " << flipped.text() << ": " << found.error().message;
        } else if (found->digest == right->digest) {
            ++harmless;
        } else {
            ++torn;
            const auto without = flipped.in_log() ? read_torn(database, flipped) : right;
            EXPECT_TRUE(without && found->digest == without->digest)
                << name << ", " << flipped.text() << ": " << found->pairs
                << " pairs are read, there were " << right->pairs << ", and no error says so";
        }
    }
    fmt::print("{}: {} pairs; {} flips named, {} taken for a torn write, {} changed nothing\n",
               name, right->pairs, named, torn, harmless);
    EXPECT_GT(named + torn, 0u) << name;
}

TEST_F(BitFlips, InAnyFileOfAnyDatabaseAreNamedOrChangeNothing) {
    const auto all = databases();
    std::set<std::string> names;
    for (const auto& [name, folder] : all) names.insert(name);
    EXPECT_EQ(names, kDatabases) << "a database of the store is in no list of these tests";
    for (const auto& [name, folder] : all) flip_bits_of(name, folder);
}

}  // namespace
}  // namespace rampart::demo
