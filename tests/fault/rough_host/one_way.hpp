#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace rampart::rough_host {

/// Relays the TCP connections of one process to a port of the loopback, on a thread of its own,
/// and holds back one direction for a while, as a network that loses it: connections stay open,
/// and what was sent arrives late or, if they break, not at all. Functions of the main thread.
class OneWay {
  public:
    enum class Held {
        kNothing,
        kRequests,  // what the process sends does not arrive
        kAnswers,   // what it asked for arrives, and it does not see the answers
    };
    /// Relays to 127.0.0.1:`to`. Throws std::runtime_error if no port is free.
    explicit OneWay(uint16_t to);
    ~OneWay();
    OneWay(const OneWay&) = delete;
    OneWay& operator=(const OneWay&) = delete;

    uint16_t port() const;
    void hold(Held held);
    /// Ends it. `breaks`: connections on which something was held back are reset.
    void release(bool breaks);
    /// Bytes that were held back so far.
    uint64_t held_back() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::rough_host
