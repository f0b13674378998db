#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace rampart::http {

/// The body of a response that goes on: who answers keeps it, and sends bytes until one of both
/// sides ends it. Sending waits for no client: what a client has not taken waits here, in few
/// bytes, and a client for which more would have to wait is cut off. Thread safe.
class ResponseStream {
  public:
    /// `most_waiting`: bytes that may wait for the client; beyond, the stream is cut off.
    explicit ResponseStream(size_t most_waiting) : most_waiting_(most_waiting) {}
    ResponseStream(const ResponseStream&) = delete;
    ResponseStream& operator=(const ResponseStream&) = delete;

    /// Adds bytes; false: it has ended, and they are not sent.
    bool send(std::string_view bytes);
    /// Ends it behind the bytes that wait.
    void end();
    /// Ends it at once, without the bytes that wait.
    void cut();
    bool ended() const;
    /// Returns how many bytes wait for the client.
    size_t waiting() const;

    // For the server that sends it.
    struct Next {
        std::string bytes;   // all that wait
        bool ended = false;  // nothing follows them
        bool cut = false;    // they are not to be sent
    };
    Next take();
    /// Sets what is called when there is more to take; on any thread, so it must not wait.
    void attach(std::function<void()> on_more);

  private:
    void call_on_more();

    const size_t most_waiting_;
    mutable std::mutex mutex_;
    std::string bytes_;
    bool ended_ = false, cut_ = false;
    std::function<void()> on_more_;
};

}  // namespace rampart::http
