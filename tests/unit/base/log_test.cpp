#include "rampart/base/log.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "rampart/base/strong_type.hpp"

namespace rampart::base {
namespace {

TEST(Log, WritesRoomLevelAndMessageFromTheSetLevelOn) {
    const Logger logger("joiner");
    set_log_level(LogLevel::kInfo);
    testing::internal::CaptureStderr();
    logger.debug("hidden={}", 1);
    logger.info("offset={}", 12);
    const std::string text = testing::internal::GetCapturedStderr();
    set_log_level(LogLevel::kWarning);
    EXPECT_EQ(text.find("hidden"), std::string::npos);
    EXPECT_NE(text.find("Z info joiner offset=12\n"), std::string::npos) << text;
}

TEST(Log, AnArgumentCannotForgeALineNorAField) {
    using Id = StrongType<std::string, struct LogTestId>;
    const Logger logger("http");
    testing::internal::CaptureStderr();
    logger.warning("path=\"{}\" id={} n={}", std::string("/x\" id=2\n2026 error http \x1b[0m\\"),
                   Id("a\nb"), 7);
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find(R"(path="/x\" id=2\n2026 error http \x1b[0m\\" id=a\nb n=7)"
                        "\n"),
              std::string::npos)
        << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(Log, WhatFailsAgainAndAgainIsWrittenOnce) {
    const Logger logger("loop");
    testing::internal::CaptureStderr();
    for (int i = 0; i < 100; ++i) {
        logger.error("msg=\"a gap\" reason=retention_gap request_id={} status=503", i);
    }
    logger.error("msg=\"a gap\" reason=no_broker request_id=1 status=503");
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 3) << text;  // one more where it was slow
    EXPECT_NE(text.find("request_id=0 "), std::string::npos);
    EXPECT_NE(text.find("no_broker"), std::string::npos);
}

}  // namespace
}  // namespace rampart::base
