#include "rampart/http/response_stream.hpp"

#include <utility>

namespace rampart::http {

bool ResponseStream::send(std::string_view bytes) {
    bool sent = false;
    {
        const std::lock_guard lock(mutex_);
        if (ended_) return false;
        sent = bytes.size() <= most_waiting_ - bytes_.size();
        if (sent) {
            bytes_ += bytes;
        } else {
            ended_ = cut_ = true;
        }
    }
    call_on_more();
    return sent;
}

void ResponseStream::end() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    call_on_more();
}

void ResponseStream::cut() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = cut_ = true;
    }
    call_on_more();
}

bool ResponseStream::ended() const {
    const std::lock_guard lock(mutex_);
    return ended_;
}

size_t ResponseStream::waiting() const {
    const std::lock_guard lock(mutex_);
    return bytes_.size();
}

ResponseStream::Next ResponseStream::take() {
    const std::lock_guard lock(mutex_);
    return {std::exchange(bytes_, {}), ended_, cut_};
}

void ResponseStream::attach(std::function<void()> on_more) {
    {
        const std::lock_guard lock(mutex_);
        on_more_ = std::move(on_more);
    }
    call_on_more();
}

/// Calls without the lock: what is called may take.
void ResponseStream::call_on_more() {
    std::function<void()> call;
    {
        const std::lock_guard lock(mutex_);
        call = on_more_;
    }
    if (call) call();
}

}  // namespace rampart::http
