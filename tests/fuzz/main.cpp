#include <sanitizer/allocator_interface.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "fuzz.hpp"

namespace rampart::fuzz {
namespace {

// The memory that an input may cost, freed or not, in all of its encodings and comparisons.
constexpr size_t kAllocatedPerInput = 256 << 10, kAllocatedPerByte = 1 << 10;

std::atomic<size_t> allocated{0};

struct Tally {
    Target target;
    size_t runs = 0, accepted = 0;
    size_t dearest = 0;  // most bytes allocated by one input
    size_t dearest_input = 0;
};
std::vector<Tally> tallies;

bool run(Tally& tally, std::string_view bytes) {
    const size_t before = allocated;
    const bool accepted = tally.target.run(bytes);
    const size_t cost = allocated - before;
    RAMPART_CHECK(
        cost <= kAllocatedPerInput + bytes.size() * kAllocatedPerByte + tally.target.spare,
        "{}: {} bytes allocated for an input of {}", tally.target.name, cost, bytes.size());
    ++tally.runs;
    tally.accepted += accepted ? 1 : 0;
    if (cost > tally.dearest) {
        tally.dearest = cost;
        tally.dearest_input = bytes.size();
    }
    return accepted;
}

/// Prints at the end what each target reached: a target that accepts no input tests nothing.
void report() {
    for (const auto& t : tallies) {
        std::fprintf(stderr, "target %s: %zu inputs, %zu accepted; dearest: %zu bytes for %zu\n",
                     std::string(t.target.name).c_str(), t.runs, t.accepted, t.dearest,
                     t.dearest_input);
    }
}

void write_seeds(const std::string& folder) {
    for (size_t t = 0; t < tallies.size(); ++t) {
        const auto seeds = tallies[t].target.seeds();
        RAMPART_CHECK(!seeds.empty(), "{} has no seeds", tallies[t].target.name);
        for (size_t s = 0; s < seeds.size(); ++s) {
            RAMPART_CHECK(run(tallies[t], seeds[s]), "{}: seed {} is not accepted",
                          tallies[t].target.name, s);
            const auto path = fmt::format("{}/{}_{}", folder, tallies[t].target.name, s);
            std::ofstream file(path, std::ios::binary);
            file << static_cast<char>(t) << seeds[s];
            RAMPART_CHECK(file.flush().good(), "cannot write {}", path);
        }
    }
}

}  // namespace
}  // namespace rampart::fuzz

/// With RAMPART_FUZZ_SEEDS=FOLDER the program writes its seeds there and ends.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
    using namespace rampart::fuzz;
    for (const auto& target : targets()) tallies.push_back({target});
    __sanitizer_install_malloc_and_free_hooks(
        [](const volatile void*, size_t size) { allocated += size; }, [](const volatile void*) {});
    if (const char* folder = std::getenv("RAMPART_FUZZ_SEEDS")) {
        write_seeds(folder);
        std::exit(0);
    }
    std::atexit(report);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace rampart::fuzz;
    if (size == 0) return 0;
    Tally& tally = tallies[data[0] % tallies.size()];
    // on the heap and in exact size, so that the sanitizer sees one byte too far
    const std::unique_ptr<char[]> bytes(new char[size - 1]);
    std::copy(data + 1, data + size, bytes.get());
    run(tally, {bytes.get(), size - 1});
    return 0;
}
