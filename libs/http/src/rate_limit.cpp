#include "rate_limit.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

namespace rampart::http {

namespace ip = boost::asio::ip;

double RateLimit::most() const { return std::max(per_second_, 1.0); }

double RateLimit::left_at(const Bucket& bucket, Time now) const {
    const auto passed = std::chrono::duration<double>(now - bucket.seen).count();
    return std::min(most(), bucket.left + std::max(passed, 0.0) * per_second_);
}

std::optional<std::chrono::duration<double>> RateLimit::take(const std::string& caller, Time now) {
    if (per_second_ <= 0) return std::nullopt;
    const std::lock_guard lock(mutex_);
    auto it = buckets_.find(caller);
    if (it == buckets_.end()) {
        if (buckets_.size() >= kMostCallers) forget(now);
        it = buckets_.emplace(caller, Bucket{most(), now}).first;
    }
    auto& bucket = it->second;
    bucket.left = left_at(bucket, now);
    bucket.seen = std::max(bucket.seen, now);
    if (bucket.left < 1) return std::chrono::duration<double>((1 - bucket.left) / per_second_);
    bucket.left -= 1;
    return std::nullopt;
}

void RateLimit::forget(Time now) {
    std::erase_if(buckets_, [&](const auto& item) { return left_at(item.second, now) >= most(); });
    if (buckets_.size() < kMostCallers) return;
    buckets_.erase(std::min_element(
        buckets_.begin(), buckets_.end(),
        [](const auto& a, const auto& b) { return a.second.seen < b.second.seen; }));
}

std::string limited_address(std::string_view address) {
    boost::system::error_code ec;
    const auto parsed = ip::make_address(std::string(address), ec);
    if (ec || parsed.is_v4() || parsed.to_v6().is_v4_mapped()) return std::string(address);
    auto bytes = parsed.to_v6().to_bytes();
    std::fill(bytes.begin() + 8, bytes.end(), uint8_t{0});
    return ip::make_address_v6(bytes).to_string() + "/64";
}

}  // namespace rampart::http
