#include "rampart/base/bytes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rampart::base {
namespace {

RC_GTEST_PROP(Bytes, WhatIsAppendedIsReadBack,
              (uint8_t a, uint32_t b, uint64_t c, int64_t d, double e, const std::string& f)) {
    std::string out;
    append_u8(out, a);
    append_u32(out, b);
    append_u64(out, c);
    append_i64(out, d);
    append_f64(out, e);
    append_field(out, f);
    ByteReader reader(out);
    RC_ASSERT(reader.u8().value() == a);
    RC_ASSERT(reader.u32().value() == b);
    RC_ASSERT(reader.u64().value() == c);
    RC_ASSERT(reader.i64().value() == d);
    RC_ASSERT(reader.f64().value() == e);
    RC_ASSERT(reader.field().value() == f);
    RC_ASSERT(reader.empty());
}

RC_GTEST_PROP(Bytes, SignedKeysSortLikeTheirNumbers, (int64_t a, int64_t b)) {
    std::string x, y;
    append_i64(x, a);
    append_i64(y, b);
    RC_ASSERT((a < b) == (x < y));
}

TEST(Bytes, RunningOutIsDataLoss) {
    EXPECT_EQ(ByteReader("abc").u32().error().code, ErrorCode::kDataLoss);
    std::string field;
    append_u32(field, 10);
    field += "short";
    EXPECT_EQ(ByteReader(field).field().error().reason, "truncated");
}

}  // namespace
}  // namespace rampart::base
