#include "rampart/http/response_stream.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace rampart::http {
namespace {

TEST(ResponseStream, GivesWhatWasSentOnceAndInOrder) {
    ResponseStream stream(100);
    EXPECT_TRUE(stream.send("a"));
    EXPECT_TRUE(stream.send("bc"));
    EXPECT_EQ(stream.waiting(), 3u);
    const auto next = stream.take();
    EXPECT_EQ(next.bytes, "abc");
    EXPECT_FALSE(next.ended);
    EXPECT_EQ(stream.waiting(), 0u);
    EXPECT_TRUE(stream.take().bytes.empty());
}

TEST(ResponseStream, AnEndComesBehindWhatWaits) {
    ResponseStream stream(100);
    stream.send("a");
    stream.end();
    EXPECT_TRUE(stream.ended());
    EXPECT_FALSE(stream.send("b"));
    const auto next = stream.take();
    EXPECT_EQ(next.bytes, "a");
    EXPECT_TRUE(next.ended);
    EXPECT_FALSE(next.cut);
}

TEST(ResponseStream, IsCutOffWhereMoreWouldWaitThanMay) {
    ResponseStream stream(4);
    EXPECT_TRUE(stream.send("1234"));
    EXPECT_FALSE(stream.send("5"));
    EXPECT_TRUE(stream.ended());
    EXPECT_TRUE(stream.take().cut);
    EXPECT_FALSE(stream.send("")) << "it stays ended";
    ResponseStream taken(4);
    EXPECT_TRUE(taken.send("1234"));
    taken.take();
    EXPECT_TRUE(taken.send("5678")) << "what was taken waits no more";
    EXPECT_FALSE(ResponseStream(4).send("12345"));
}

TEST(ResponseStream, CallsForWhatWaitedBeforeItWasAttached) {
    ResponseStream stream(100);
    stream.send("a");
    size_t calls = 0;
    stream.attach([&] {
        ++calls;
        stream.take();  // no lock is held
    });
    EXPECT_EQ(calls, 1u);
    stream.send("b");
    stream.end();
    stream.cut();
    EXPECT_EQ(calls, 4u);
    EXPECT_TRUE(stream.take().cut);
}

TEST(ResponseStream, LosesNothingOfManyThreads) {
    ResponseStream stream(1 << 20);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int n = 0; n < 1000; ++n) stream.send("x");
        });
    size_t taken = 0;
    while (taken < 4000) taken += stream.take().bytes.size();
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(taken, 4000u);
    EXPECT_TRUE(stream.take().bytes.empty());
}

}  // namespace
}  // namespace rampart::http
