#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/check.hpp"
#include "rampart/base/result.hpp"

/// The common part of all fuzz programs.
///
/// A program has a few targets. The first byte of an input selects the target, which reads the
/// rest. A target does not only check that nothing crashes: it states laws by FUZZ_LAW. main.cpp
/// states one for all: the work on an input is bounded by its size, measured by allocations.
namespace rampart::fuzz {

struct Target {
    std::string_view name;
    /// Reads `bytes`; true: they were accepted, so the laws about content were checked too.
    bool (*run)(std::string_view bytes);
    /// Initial inputs, all of them accepted.
    std::vector<std::string> (*seeds)();
    /// Bytes that may be allocated in addition to what the size of the input explains.
    size_t spare = 0;
};

/// protobuf reserves up to 50 MB for a text of a declared length, before it sees that the input
/// ends. This happens once, because the input is then refused, and the memory is never touched.
inline constexpr size_t kProtobufSpare = 50'001'000;

/// Defined by each program, in the order of the first byte. Add new targets at the end, so that
/// kept corpora remain valid.
std::vector<Target> targets();

inline constexpr size_t kLongestMessage = 2048;

/// Checks a refusal: a code that blames the input, a reason for programs, a message for people that
/// does not repeat a whole input. Returns false, so that a target can return it.
inline bool refused(const base::Error& error) {
    using base::ErrorCode;
    RAMPART_CHECK(error.code == ErrorCode::kInvalidArgument ||
                      error.code == ErrorCode::kOutOfRange || error.code == ErrorCode::kDataLoss,
                  "code {} does not blame the input: {}", base::to_string(error.code),
                  error.message);
    RAMPART_CHECK(!error.reason.empty() && !error.message.empty(), "an error without words");
    RAMPART_CHECK(error.message.size() <= kLongestMessage, "{}: a message of {} bytes",
                  error.reason, error.message.size());
    return false;
}

/// A law that holds for any input.
#define FUZZ_LAW(...) RAMPART_CHECK(__VA_ARGS__)

/// Takes numbers from an input, which then decides what a target does; zeros after its end.
class Choices {
  public:
    explicit Choices(std::string_view bytes) : rest_(bytes) {}
    bool empty() const { return rest_.empty(); }
    uint8_t byte() {
        if (rest_.empty()) return 0;
        const auto value = static_cast<uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        return value;
    }
    uint64_t number(size_t bytes) {
        uint64_t value = 0;
        for (size_t i = 0; i < bytes; ++i) value = value << 8 | byte();
        return value;
    }
    std::string_view text(size_t length) {
        const auto taken = rest_.substr(0, length);
        rest_.remove_prefix(taken.size());
        return taken;
    }
    std::string_view rest() const { return rest_; }

  private:
    std::string_view rest_;
};

}  // namespace rampart::fuzz
