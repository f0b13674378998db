#include "rampart/base/log.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace rampart::base
