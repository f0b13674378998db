#include "session.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include "rampart/base/log.hpp"
#include "rampart/base/thread_name.hpp"
#include "rampart/http/reasons.hpp"

namespace rampart::http {
namespace {

constexpr base::Logger kLog("http");
// After a refusal the rest of the request is read and discarded, up to this time and size: closing
// at once would reset the connection, and the client could lose the response.
constexpr size_t kDrainBytes = 16u << 20;
constexpr auto kDrainTime = std::chrono::seconds(2);
// What may have come and not be taken, beside what a head may have. The parser takes the line of a
// chunk, and all trailers, only when they are there to their end, so this also bounds those.
constexpr size_t kReadAhead = 64 << 10;
// How much is read at once of a head, and of a body.
constexpr size_t kHeadRead = 4 << 10, kBodyRead = 64 << 10;
// Bytes that are still to come, at least, wherever the parser of a chunked body waits: "0" and two
// ends of lines. Given "0" and one of them, and then a byte more, Boost 1.81 ends the program at an
// assertion of its own (boostorg/beast#2861).
constexpr size_t kLeastOfChunks = 5;
// Time in which a connection beyond max_connections must send a request that is answered inline.
constexpr auto kSpareTime = std::chrono::seconds(2);
// A connection that has waited as long for a request may be closed for another one. An unknown
// client needs time for a few ways there and back; the shorter it is, the more new connections a
// second it takes to keep every other out.
constexpr auto kUnknownWaits = std::chrono::microseconds(std::chrono::milliseconds(100));
constexpr auto kKnownWaits = std::chrono::microseconds(std::chrono::seconds(5));

Response answer_of(const Plan& plan, const Request& request) {
    try {
        return (*plan.handler)(request);
    } catch (const std::exception& e) {
        kLog.error("msg=\"handler failed\" request_id={} what=\"{}\"", request.id, e.what());
        return handler_failed();
    }
}

std::string_view thread_name_of(Lane lane) {
    switch (lane) {
        case Lane::kBulk:
            return "http-bulk";
        case Lane::kAdministrative:
            return "http-admin";
        case Lane::kGroup:
            return "http-group";
        case Lane::kWork:
        case Lane::kInline:
            break;
    }
    return "http-work";
}

/// Returns the steady clock in microseconds.
int64_t now_micros() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

Session::Session(Shared& shared, Sessions& sessions, bool spare, std::string address)
    : buffer_(shared.options.max_header_bytes + kReadAhead),
      shared_(shared),
      sessions_(sessions),
      spare_(spare),
      address_(std::move(address)) {}

Session::~Session() {
    if (stream_) stream_->cut();
    release_body();
    count_for_none();
    sessions_.remove(this);
    shared_.traffic->closed();
}

void Session::serve() {
    asio::dispatch(socket().get_executor(), [self = shared_from_this()] {
        if (self->shared_.stopping) return self->close();
        self->waits();
        self->socket().expires_after(
            self->spare_ ? kSpareTime : chrono_of(self->shared_.options.handshake_timeout));
        self->open();
    });
}

void Session::run() {
    asio::post(shared_.pool, [self = shared_from_this()] { self->run_in_lane(); });
}

bool Session::same_group(const Session& other) const {
    return plan_.group == other.plan_.group &&
           std::max(body_bytes_, other.body_bytes_) <= kMaxGroupedBody;
}

void Session::answer_groups(Shared& shared) {
    base::name_this_thread(thread_name_of(Lane::kGroup));
    for (auto group = shared.groups.take(); !group.sessions.empty(); group = shared.groups.take()) {
        if (group.another) asio::post(shared.pool, [&shared] { answer_groups(shared); });
        answer_group(shared, group.sessions);
    }
}

void Session::stop() {
    asio::dispatch(socket().get_executor(), [self = shared_from_this()] {
        if (self->stream_) return self->end_stream();
        if (self->idle_) self->close();
    });
}

bool Session::may_close() const {
    const auto since = waits_since_.load();
    if (since == 0 || leaving_ || spare_) return false;
    return now_micros() - since >= (known_ ? kKnownWaits : kUnknownWaits).count();
}

bool Session::closes_before(const Session& other) const {
    if (known_ != other.known_) return !known_;
    return waits_since_ < other.waits_since_;
}

void Session::make_room() {
    leaving_ = true;
    asio::dispatch(socket().get_executor(), [self = shared_from_this()] {
        if (self->waits_since_ != 0) self->close();
    });
}

void Session::waits() { waits_since_ = now_micros(); }

void Session::on_open(error_code ec, HandshakeFailure why, std::string client) {
    if (!ec) {
        client_ = std::move(client);
        return read_header();
    }
    shared_.traffic->handshake_failed(why);
    if (why == HandshakeFailure::kTimeout) return close();
    if (why != HandshakeFailure::kPlainHttp) {
        // closing at once would reset the connection, and the client could lose the alert
        socket().expires_after(kDrainTime);
        return on_ended();
    }
    request_.id = shared_.ids.next();
    begun_ = std::chrono::steady_clock::now();
    write(refusal(Reason::kTlsRequired, "this port speaks TLS; ask with https://"), false);
}

void Session::read_header() {
    if (shared_.stopping) return close();
    waits();
    head_ = in_body_ = false;
    seen_ = {};
    begun_ = std::chrono::steady_clock::now();
    body_bytes_ = 0;
    request_ = {};
    request_.id = shared_.ids.next();
    plan_ = {};
    plan_.max_body_bytes = shared_.options.max_body_bytes;
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(shared_.options.max_header_bytes));
    parser_->body_limit(shared_.options.max_body_bytes);
    parser_->on_chunk_header(check_extensions_);
    idle_ = buffer_.size() == 0;
    socket().expires_after(
        spare_ ? kSpareTime
               : chrono_of(idle_ ? shared_.options.idle_timeout : shared_.options.request_timeout));
    if (!idle_) return parse_header();
    read_some(kHeadRead);
}

/// The first byte ends the idle time and starts the time limit for a whole request.
void Session::on_bytes(error_code ec, size_t bytes) {
    if (stream_) return on_bytes_of_listener(ec, bytes);
    if (ec) return close();
    buffer_.commit(bytes);
    if (idle_) {
        idle_ = false;
        begun_ = std::chrono::steady_clock::now();
        if (!spare_) socket().expires_after(chrono_of(shared_.options.request_timeout));
    }
    if (in_body_) return parse_body();
    parse_header();
}

/// Parses what has come of the line and the headers, and reads on where they do not end.
void Session::parse_header() {
    while (buffer_.size() > 0) {
        error_code ec;
        const auto bytes = buffer_.data();
        const size_t taken = parser_->put(bytes, ec);
        seen_.see({static_cast<const char*>(bytes.data()), taken});
        buffer_.consume(taken);
        if (ec == bhttp::error::need_more) break;
        if (ec) return on_bad_request(ec);
        if (parser_->is_header_done()) return on_header();
    }
    read_some(kHeadRead);
}

void Session::CheckExtensions::operator()(uint64_t, beast::string_view extensions,
                                          error_code& ec) const {
    for (const char c : extensions)
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f)
            ec = bhttp::error::bad_chunk_extension;
}

void Session::read_body() {
    in_body_ = true;
    parse_body();
}

/// Parses what has come of the body, and reads on where it does not end.
void Session::parse_body() {
    const size_t least = parser_->chunked() ? kLeastOfChunks : 1;
    while (!parser_->is_done() && buffer_.size() >= least) {
        error_code ec;
        buffer_.consume(parser_->put(buffer_.data(), ec));
        if (ec == bhttp::error::need_more) break;
        if (ec) return on_bad_request(ec);
    }
    if (parser_->is_done()) return answer();
    const size_t most = beast::read_size(buffer_, kBodyRead);
    if (most == 0) return on_bad_request(bhttp::error::buffer_overflow);
    read_some(most);
}

/// Returns the answer to a head that is refused without looking for its route.
std::optional<Response> Session::refused_by_head() {
    if (seen_.folded())
        return refusal(Reason::kFoldedHeader,
                       "a header goes on in the next line (obs-fold); write it on one line");
    return framing_error(parser_->get());
}

std::optional<Response> Session::over_the_rate() {
    if (plan_.lane == Lane::kInline && !plan_.refusal) return std::nullopt;
    const auto now = std::chrono::steady_clock::now();
    if (const auto wait = shared_.by_address.take(limited_address(address_), now))
        return too_many_requests(fmt::format("the address {}", address_), *wait);
    if (plan_.refusal || request_.principal.empty()) return std::nullopt;
    if (const auto wait = shared_.by_principal.take(request_.principal, now))
        return too_many_requests(fmt::format("the principal '{}'", request_.principal), *wait);
    return std::nullopt;
}

/// Makes this a connection of the request's principal, and no longer of the one before; false: it
/// has too many.
bool Session::count_for_principal() {
    const auto& principal = request_.principal;
    if (principal.empty() || principal == counted_for_) return true;
    if (!shared_.shares.take(principal)) return false;
    count_for_none();
    counted_for_ = principal;
    return true;
}

void Session::count_for_none() {
    if (!counted_for_.empty()) shared_.shares.give_back(std::exchange(counted_for_, {}));
}

/// Takes the bytes of the body out of what all may have; false: too many are in use.
bool Session::reserve_body() {
    const auto length = parser_->content_length();
    const size_t most = std::min<size_t>(plan_.max_body_bytes, shared_.options.max_body_bytes);
    const size_t bytes = parser_->is_done() ? 0 : length ? static_cast<size_t>(*length) : most;
    if (shared_.body_bytes.fetch_add(bytes) + bytes > shared_.options.max_body_bytes_in_flight) {
        shared_.body_bytes -= bytes;
        return false;
    }
    reserved_ = bytes;
    return true;
}

void Session::release_body() { shared_.body_bytes -= std::exchange(reserved_, 0); }

void Session::on_header() {
    const auto& head = parser_->get();
    // HEAD is GET without the body
    head_ = head.method() == bhttp::verb::head;
    if (auto error = refused_by_head()) return write(*std::move(error), false);
    // HTTP/1.0 has no 100 Continue, and keeps a connection open only by a header of its own
    const bool current = head.version() >= 11;
    // the parser, unlike the head, knows all of several Connection headers
    keep_alive_ = current && parser_->keep_alive() && !spare_;
    auto request = to_request(head);
    if (!request) return refuse(error_response(request.error()));
    request->id = std::move(request_.id);
    request->client = client_;
    request->address = address_;
    request_ = *std::move(request);
    if (auto given = given_request_id(request_.headers)) request_.id = *std::move(given);
    if (head_) request_.method = "GET";
    plan_ = (*shared_.planner.load())(request_);
    if (auto refused = over_the_rate()) return refuse(*std::move(refused));
    if (spare_ && (plan_.refusal || plan_.lane != Lane::kInline)) return refuse(overloaded());
    if (plan_.refusal) return refuse(*std::move(plan_.refusal));
    if (!count_for_principal())
        return write(
            too_many_of_principal(request_.principal, shared_.options.connections_by_principal),
            false);
    if (!request_.principal.empty()) known_ = true;
    waits_since_ = 0;
    plan_.max_body_bytes = std::min(plan_.max_body_bytes, shared_.options.max_body_bytes);
    if (parser_->content_length().value_or(0) > plan_.max_body_bytes) return refuse(too_large());
    parser_->body_limit(plan_.max_body_bytes);
    if (!reserve_body()) return refuse(too_many_bytes());
    if (current && beast::iequals(head[bhttp::field::expect], "100-continue")) {
        continue_ = {bhttp::status::continue_, 11};
        return send_continue();
    }
    read_body();
}

/// Responds from the head alone. The next request can be found only if there is no body.
void Session::refuse(Response response) {
    write(std::move(response), keep_alive_ && parser_->is_done());
}

Response Session::too_large() const {
    return refusal(Reason::kBodyTooLarge,
                   fmt::format("the body may have up to {} bytes", plan_.max_body_bytes));
}

Response Session::head_too_large() const {
    return refusal(Reason::kHeadersTooLarge, fmt::format("line and headers may have up to {} bytes",
                                                         shared_.options.max_header_bytes));
}

void Session::on_continue_sent(error_code ec) {
    if (ec) return close();
    read_body();
}

void Session::on_bad_request(error_code ec) {
    // the parser knows the method only of a whole line
    constexpr std::string_view kHead = "HEAD ";
    const std::string_view rest(static_cast<const char*>(buffer_.data().data()), buffer_.size());
    head_ = parser_->get().method() == bhttp::verb::head ||
            (seen_.size() == 0 && rest.starts_with(kHead));
    if (ec == bhttp::error::body_limit) return write(too_large(), false);
    if (ec == bhttp::error::header_limit) return write(head_too_large(), false);
    if (ec == bhttp::error::buffer_overflow)
        return write(refusal(Reason::kHeadersTooLarge,
                             fmt::format("the line of a chunk, and all trailers, may have up to {} "
                                         "bytes",
                                         buffer_.max_size())),
                     false);
    write(error_response(
              base::make_error(Reason::kBadHttp, "this is not HTTP/1.1: {}", ec.message())),
          false);
}

void Session::answer() {
    request_.body = std::move(parser_->get().body());
    body_bytes_ = request_.body.size();
    if (reserved_ > body_bytes_)  // its length was not known before
        shared_.body_bytes -= std::exchange(reserved_, body_bytes_) - body_bytes_;
    if (plan_.lane == Lane::kInline) return write(answer_of(plan_, request_), keep_alive_);
    if (plan_.lane == Lane::kGroup) return enter_group();
    switch (gate().enter(shared_from_this())) {
        case Gate::Entry::kGo:
            return run();
        case Gate::Entry::kWait:
            return;
        case Gate::Entry::kFull:
            return write(administrative_busy(), keep_alive_);
    }
}

void Session::enter_group() {
    shared_.traffic->queued();
    switch (shared_.groups.enter(shared_from_this(), std::chrono::steady_clock::now())) {
        case Groups::Entry::kWork:
            return asio::post(shared_.pool, [&shared = shared_] { answer_groups(shared); });
        case Groups::Entry::kWait:
            return;
        case Groups::Entry::kFull:
            shared_.traffic->taken(1);
            shared_.traffic->full();
            return write(waited_too_long(), keep_alive_);
    }
}

void Session::answer_group(Shared& shared, const std::vector<std::shared_ptr<Session>>& group) {
    shared.traffic->taken(group.size());
    std::vector<std::atomic<bool>> answered(group.size());
    std::vector<Grouped> requests;
    for (size_t i = 0; i < group.size(); ++i) {
        requests.push_back({group[i]->request_, [&group, &answered, i](Response response) {
                                if (!answered[i].exchange(true))
                                    group[i]->respond(std::move(response));
                            }});
    }
    try {
        (*group.front()->plan_.group)(requests);
    } catch (const std::exception& e) {
        kLog.error("msg=\"handler failed\" requests={} what=\"{}\"", group.size(), e.what());
    }
    for (size_t i = 0; i < group.size(); ++i)
        if (!answered[i]) group[i]->respond(handler_failed());
}

/// Writes the response from any thread.
void Session::respond(Response response) {
    asio::post(socket().get_executor(),
               [self = shared_from_this(), response = std::move(response)]() mutable {
                   self->write(std::move(response), self->keep_alive_);
               });
}

void Session::run_in_lane() {
    base::name_this_thread(thread_name_of(plan_.lane));
    auto response = answer_of(plan_, request_);
    const auto next = gate().leave();
    respond(std::move(response));
    if (next) next->run();
}

void Session::write(Response response, bool keep_alive) {
    if (response.stream && !head_) return begin_stream(std::move(response));
    if (response.stream) response.stream->cut();
    waits_since_ = 0;
    keep_open_ = keep_alive && !shared_.stopping && !leaving_;
    idle_ = false;
    response.headers.push_back({"X-Request-Id", request_.id});
    note(response);
    response_ = to_message(std::move(response), keep_open_, head_);
    socket().expires_after(chrono_of(shared_.options.request_timeout));
    send_response();
}

void Session::on_sent(error_code ec) {
    count();
    if (ec) return close();
    if (keep_open_) return read_header();
    drain();
}

/// Keeps what count() needs of the response, and logs a failure of the service.
void Session::note(const Response& response) {
    answered_ = {std::string(plan_.route.empty() ? kOtherRoute : plan_.route),
                 std::string(known_method(request_.method)),
                 response.status,
                 0,
                 body_bytes_,
                 response.body.size()};
    request_.body.clear();
    release_body();
    if (response.status == 401 || response.status == 403 || response.status == 429)
        kLog.warning(
            "msg=\"a caller was refused\" status={} reason={} principal={} address={} route={}",
            response.status, response.reason,
            request_.principal.empty() ? "none" : request_.principal, address_, answered_.route);
    if (response.status < 500) return;
    kLog.warning("msg=\"a request failed\" status={} reason={} method={} route={} request_id={}",
                 response.status, response.reason, answered_.method, answered_.route, request_.id);
}

void Session::count() {
    answered_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
    shared_.traffic->answered(answered_);
}

void Session::drain() {
    buffer_.clear();
    idle_ = true;  // no response is due
    known_ = false;
    waits();
    socket().expires_after(kDrainTime);
    end_sending();
}

void Session::on_ended() {
    error_code ec;
    socket().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ec);
    if (ec) return close();
    drain_some();
}

void Session::on_drained(error_code ec, size_t bytes) {
    drained_ += bytes;
    if (ec || drained_ > kDrainBytes) return close();
    drain_some();
}

}  // namespace rampart::http
