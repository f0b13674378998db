#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <exception>
#include <sstream>

#include "session.hpp"

/// The part of a session that sends a response which goes on.
namespace rampart::http {
namespace {

// How often it is looked whether the caller still may have what it receives.
constexpr auto kLookAgain = std::chrono::seconds(1);
// What a client may send meanwhile, which is discarded: it has nothing to say.
constexpr size_t kMostFromClient = 64 << 10;
constexpr size_t kReadAtOnce = 4 << 10;

}  // namespace

void Session::begin_stream(Response response) {
    waits_since_ = 0;
    idle_ = keep_open_ = false;
    stream_ = std::move(response.stream);
    response.headers.push_back({"X-Request-Id", request_.id});
    note(response);
    auto head = to_message(std::move(response), false, true);
    head.erase(bhttp::field::content_length);
    chunked_ = parser_->get().version() >= 11;
    if (chunked_) head.chunked(true);
    std::ostringstream text;
    text << head.base();
    out_ = text.str();
    buffer_.clear();
    drained_ = 0;
    stream_->attach([weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        asio::post(self->socket().get_executor(), [self] { self->send_more(); });
    });
    look_again_.emplace(socket().get_executor());
    look_again_later();
    // the client's end is seen by reading; what it sends has no time limit, what is sent has
    socket().expires_never();
    read_some(kReadAtOnce);
    send_out();
    count();
    if (shared_.stopping) stream_->end();  // stop() has passed this session by
}

void Session::send_out() {
    sending_ = true;
    socket().expires_after(chrono_of(shared_.options.request_timeout));
    send_bytes();
}

void Session::on_bytes_sent(error_code ec) {
    sending_ = false;
    if (ec) return cut_stream();
    if (last_sent_) return cut_stream();  // all of it is on its way
    send_more();
}

/// Sends what waits, unless something is being sent.
void Session::send_more() {
    if (sending_ || last_sent_) return;
    const auto next = stream_->take();
    if (next.cut) return cut_stream();
    if (next.bytes.empty() && !next.ended) return;
    if (next.bytes.empty()) {
        out_.clear();
    } else {
        out_ = chunked_ ? fmt::format("{:x}\r\n{}\r\n", next.bytes.size(), next.bytes) : next.bytes;
    }
    last_sent_ = next.ended;
    if (next.ended && chunked_) out_ += "0\r\n\r\n";
    if (out_.empty()) return cut_stream();
    send_out();
}

void Session::on_bytes_of_listener(error_code ec, size_t bytes) {
    drained_ += bytes;
    if (ec || drained_ > kMostFromClient) return cut_stream();
    buffer_.clear();
    read_some(kReadAtOnce);
}

void Session::look_again_later() {
    look_again_->expires_after(kLookAgain);
    look_again_->async_wait([self = shared_from_this()](error_code cancelled) {
        if (!cancelled) self->look_again();
    });
}

/// Ends the stream where the router would refuse its request now, or the caller's scopes are
/// others; at the server's end, also where the client does not take what waits.
void Session::look_again() {
    if (stream_->ended()) {
        if (ends_late_) return cut_stream();
        ends_late_ = true;
    } else {
        try {
            Request again = request_;
            const auto plan = (*shared_.planner.load())(again);
            if (plan.refusal || again.principal != request_.principal ||
                again.scopes != request_.scopes)
                stream_->end();
        } catch (const std::exception&) {
            return cut_stream();  // nothing says that it may go on
        }
    }
    look_again_later();
}

void Session::end_stream() {
    stream_->end();
    send_more();
}

void Session::cut_stream() {
    last_sent_ = true;
    stream_->cut();
    look_again_->cancel();
    close();
}

}  // namespace rampart::http
