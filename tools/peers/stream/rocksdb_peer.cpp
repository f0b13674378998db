// RocksDB alone: writes what a join, or a log of decisions, writes for the records in a file, in
// synced batches; no read, no decoding. Settings are the library's defaults, except for LZ4,
// which ours uses as well.
//
// usage: peer_stream_rocksdb join|log FILE COUNT FOLDER BATCH
//   join: for each decision its state and three index entries; for each decision with outcomes in
//         a batch the state again, with the reports; half a batch of each kind of record
//   log:  for each decision the record
#include <rocksdb/db.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/peers/stream/stopwatch.hpp"

namespace {

struct Put {
    size_t family;
    std::string key, value;
};
using Batch = std::vector<Put>;

struct Pair {
    std::string key, value;
};

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "peer_stream_rocksdb: %s\n", what.c_str());
    std::exit(1);
}

void check(const rocksdb::Status& status) {
    if (!status.ok()) fail(status.ToString());
}

std::string read_text(std::ifstream& in) {
    uint32_t size = 0;
    in.read(reinterpret_cast<char*>(&size), sizeof size);
    std::string text(in ? size : 0, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!in) fail("the file of records is too short");
    return text;
}

std::vector<Pair> read_pairs(std::ifstream& in, size_t count) {
    std::vector<Pair> pairs(count);
    for (auto& pair : pairs) {
        pair.key = read_text(in);
        pair.value = read_text(in);
    }
    return pairs;
}

std::vector<Batch> log_batches(std::ifstream& in, size_t count, size_t size) {
    std::vector<Batch> batches;
    size_t offset = 0;
    for (auto& pair : read_pairs(in, count)) {
        if (offset % size == 0) batches.emplace_back();
        char key[32];
        std::snprintf(key, sizeof key, "%028zu", offset++);  // 16 bytes of id, partition, offset
        batches.back().push_back({0, key, pair.key + pair.value});
    }
    return batches;
}

std::vector<Batch> join_batches(std::ifstream& in, size_t count, size_t size) {
    const auto decisions = read_pairs(in, count);
    const auto outcomes = read_pairs(in, count);
    constexpr size_t kStateOverhead = 21, kReport = 31;  // bytes
    std::unordered_map<std::string, std::string> states;
    std::vector<Batch> batches;
    for (size_t from = 0; from < count; from += size / 2) {
        Batch batch;
        const size_t to = std::min(count, from + size / 2);
        for (size_t i = from; i < to; ++i) {
            const auto& [key, value] = decisions[i];
            std::string& state = states[key];
            state = value + std::string(kStateOverhead, '\0');
            batch.push_back({0, key, state});
            batch.push_back({1, std::string(8, 't') + key, ""});
            batch.push_back({2, std::string(8, 't') + "\6\0\0\0repaid" + key, ""});
            batch.push_back({2, std::string(8, 't') + "\14\0\0\0score_change" + key, ""});
        }
        std::set<std::string> reported;  // a state that changes twice in a batch is written once
        for (size_t i = from; i < to; ++i) {
            states.at(outcomes[i].key) += std::string(kReport, '\0');
            reported.insert(outcomes[i].key);
        }
        for (const auto& id : reported) batch.push_back({0, id, states.at(id)});
        batches.push_back(std::move(batch));
    }
    return batches;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 6) fail("usage: peer_stream_rocksdb join|log FILE COUNT FOLDER BATCH");
    const bool join = std::string(argv[1]) == "join";
    const auto count = static_cast<size_t>(std::atol(argv[3]));
    const auto size = static_cast<size_t>(std::atol(argv[5]));
    std::ifstream in(argv[2], std::ios::binary);
    const auto batches = join ? join_batches(in, count, size) : log_batches(in, count, size);

    rocksdb::Options options;
    options.create_if_missing = true;
    options.compression = rocksdb::kLZ4Compression;
    rocksdb::DB* raw = nullptr;
    check(rocksdb::DB::Open(options, argv[4], &raw));
    const std::unique_ptr<rocksdb::DB> db(raw);
    std::vector<rocksdb::ColumnFamilyHandle*> families{db->DefaultColumnFamily()};
    for (const char* name : {"by_time", "pending"}) {
        check(db->CreateColumnFamily(options, name, &families.emplace_back()));
    }
    rocksdb::WriteOptions synced;
    synced.sync = true;
    size_t puts = 0;
    const rampart::peers::Stopwatch watch;
    for (const auto& puts_of_batch : batches) {
        rocksdb::WriteBatch batch;
        for (const auto& put : puts_of_batch) {
            check(batch.Put(families[put.family], put.key, put.value));
        }
        check(db->Write(synced, &batch));
        puts += puts_of_batch.size();
    }
    const double seconds = watch.seconds(), cpu_seconds = watch.cpu_seconds();
    for (size_t i = 1; i < families.size(); ++i) db->DestroyColumnFamilyHandle(families[i]);
    std::printf("{\"records\": %zu, \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"puts\": %zu}\n",
                join ? 2 * count : count, seconds, cpu_seconds, puts);
    return 0;
}
