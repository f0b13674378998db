#include "rampart/wire/fence.hpp"

#include <charconv>

#include "rampart/base/check.hpp"
#include "rampart/wire/reasons.hpp"
#include "rampart/wire/topics.hpp"

namespace rampart::wire {
namespace {

base::Result<uint64_t> parse_epoch(const streaming::Header& header) {
    uint64_t epoch = 0;
    const char* end = header.value.data() + header.value.size();
    const auto [last, failure] = std::from_chars(header.value.data(), end, epoch);
    if (failure == std::errc() && last == end && !header.value.empty()) return epoch;
    return base::make_error(Reason::kBadEpoch, "header '{}' is '{}', not a decimal number",
                            header.name, header.value.substr(0, 32));
}

}  // namespace

base::Result<WriterMark> writer_mark(const streaming::Record& record) {
    WriterMark mark;
    for (const auto& header : record.headers) {
        if (header.name != kFenceHeader && header.name != kEpochHeader) continue;
        RAMPART_TRY(mark.epoch, parse_epoch(header));
        if (header.name == kFenceHeader) {
            mark.fence = true;
            return mark;
        }
    }
    return mark;
}

streaming::Record fence_record(uint64_t epoch, std::string_view node, base::TimePoint now) {
    RAMPART_CHECK(epoch >= 1, "a fence without an epoch");
    return {"",
            "",
            now,
            {{std::string(kFenceHeader), std::to_string(epoch)},
             {std::string(kNodeHeader), std::string(node)}}};
}

}  // namespace rampart::wire
