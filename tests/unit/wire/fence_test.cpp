#include "rampart/wire/fence.hpp"

#include <gtest/gtest.h>

#include "rampart/wire/topics.hpp"

namespace rampart::wire {
namespace {

const auto kNow = base::TimePoint::from_micros(5);

streaming::Record with(std::string_view name, const std::string& value) {
    return {"k", "v", kNow, {{"schema", "s"}, {std::string(name), value}}};
}

TEST(Fence, IsReadBackWithItsEpoch) {
    const auto record = fence_record(7, "node-1", kNow);
    const auto mark = writer_mark(record).value();
    EXPECT_TRUE(mark.fence);
    EXPECT_EQ(mark.epoch, 7u);
}

TEST(Fence, ADecisionCarriesTheEpochOfItsWriterOrNone) {
    EXPECT_EQ(writer_mark(with(kEpochHeader, "18446744073709551615"))->epoch, UINT64_MAX);
    EXPECT_FALSE(writer_mark(with(kEpochHeader, "3"))->fence);
    EXPECT_EQ(writer_mark({"k", "v", kNow, {}})->epoch, 0u);
}

TEST(Fence, AHeaderThatIsNoNumberIsAnError) {
    for (const char* text : {"", "x", "-1", "1 ", "18446744073709551616", "1.0"}) {
        EXPECT_EQ(writer_mark(with(kEpochHeader, text)).error().reason, "bad_epoch") << text;
        EXPECT_EQ(writer_mark(with(kFenceHeader, text)).error().reason, "bad_epoch") << text;
    }
}

}  // namespace
}  // namespace rampart::wire
