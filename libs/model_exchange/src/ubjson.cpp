#include "ubjson.hpp"

#include <bit>
#include <boost/json.hpp>
#include <cctype>
#include <cstdint>

#include "rampart/base/utf8.hpp"
#include "rampart/model_exchange/reasons.hpp"

namespace rampart::model_exchange {
namespace {

namespace json = boost::json;
using base::Result;

constexpr size_t kMostDepth = 32;
constexpr std::string_view kIntegers = "iUIlL";

/// Returns the size of a number of the type, in bytes; 0 for what is no number.
size_t size_of(char type) {
    switch (type) {
        case 'i':
        case 'U':
            return 1;
        case 'I':
            return 2;
        case 'l':
        case 'd':
            return 4;
        case 'L':
        case 'D':
            return 8;
        default:
            return 0;
    }
}

class UbjsonReader {
  public:
    explicit UbjsonReader(std::string_view bytes) : bytes_(bytes) {}

    Result<json::value> read() {
        RAMPART_RETURN_IF_ERROR(expect('{', "an object"));
        RAMPART_TRY(auto root, object(1));
        if (at_ == bytes_.size()) return root;
        return wrong(at_, "the end of the file");
    }

  private:
    /// Says what stands at a byte instead of what is expected.
    base::Error wrong(size_t at, std::string_view expected) const {
        const auto found =
            at >= bytes_.size() ? std::string("the end of the file")
            : std::isgraph(static_cast<unsigned char>(bytes_[at])) != 0
                ? fmt::format("'{}'", bytes_[at])
                : fmt::format("0x{:02x}",
                              static_cast<unsigned>(static_cast<unsigned char>(bytes_[at])));
        return base::make_error(Reason::kBadUbjson,
                                "Universal Binary JSON, byte {}: expected {}, found {}; copy the "
                                "file again, or save the model as .json",
                                at, expected, found);
    }

    size_t left() const { return bytes_.size() - at_; }
    bool next_is(char marker) const { return left() > 0 && bytes_[at_] == marker; }

    base::Status expect(char marker, std::string_view what) {
        if (!next_is(marker)) return wrong(at_, fmt::format("{} ('{}')", what, marker));
        ++at_;
        return base::ok();
    }

    /// Reads a number whose bytes are known to be there.
    json::value number(char type) {
        const size_t size = size_of(type);
        uint64_t bits = 0;
        for (size_t i = 0; i < size; ++i)
            bits = bits << 8 | static_cast<unsigned char>(bytes_[at_ + i]);
        at_ += size;
        switch (type) {
            case 'U':
                return bits;
            case 'i':
                return int64_t{static_cast<int8_t>(bits)};
            case 'I':
                return int64_t{static_cast<int16_t>(bits)};
            case 'l':
                return int64_t{static_cast<int32_t>(bits)};
            case 'd':
                return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
            case 'D':
                return std::bit_cast<double>(bits);
            default:
                return static_cast<int64_t>(bits);
        }
    }

    Result<json::value> checked_number(char type) {
        if (left() < size_of(type))
            return wrong(bytes_.size(), fmt::format("the {} bytes of a number '{}' at byte {}",
                                                    size_of(type), type, at_));
        return number(type);
    }

    /// Reads a length or a count that the bytes left can hold, at `each` bytes at least.
    Result<size_t> length(std::string_view what, size_t each) {
        const size_t from = at_;
        if (left() == 0 || kIntegers.find(bytes_[at_]) == std::string_view::npos)
            return wrong(at_, fmt::format("the type of {}, one of i U I l L", what));
        const char type = bytes_[at_++];
        RAMPART_TRY(const auto value, checked_number(type));
        const auto count =
            value.is_uint64() ? static_cast<int64_t>(value.get_uint64()) : value.get_int64();
        if (count >= 0 && static_cast<uint64_t>(count) <= left() / each)
            return static_cast<size_t>(count);
        return base::make_error(Reason::kBadUbjson,
                                "Universal Binary JSON, byte {}: {} is {}, and the file has {} "
                                "more bytes; copy the file again, or save the model as .json",
                                from, what, count, left());
    }

    Result<std::string_view> text(std::string_view what) {
        RAMPART_TRY(const size_t size, length(fmt::format("the length of {}", what), 1));
        const auto out = bytes_.substr(at_, size);
        if (!base::is_utf8(out)) return wrong(at_, fmt::format("{} in UTF-8", what));
        at_ += size;
        return out;
    }

    Result<json::value> value(size_t depth) {
        if (left() == 0) return wrong(at_, "a value");
        const char type = bytes_[at_++];
        switch (type) {
            case '{':
            case '[':
                if (depth >= kMostDepth)
                    return wrong(at_ - 1, fmt::format("a value of at most {} levels", kMostDepth));
                return type == '{' ? object(depth + 1) : array(depth + 1);
            case 'S': {
                RAMPART_TRY(const auto out, text("a text"));
                return json::value(out);
            }
            case 'T':
                return json::value(true);
            case 'F':
                return json::value(false);
            case 'Z':
                return json::value(nullptr);
            default:
                if (size_of(type) > 0) return checked_number(type);
                return wrong(at_ - 1, "a value, one of { [ S T F Z i U I l L d D");
        }
    }

    /// Reads an object behind its brace. XGBoost declares neither its type nor its count.
    Result<json::value> object(size_t depth) {
        json::object out;
        while (!next_is('}')) {
            const size_t from = at_;
            RAMPART_TRY(const auto name, text("a name, or the end of the object ('}')"));
            if (out.contains(name)) return wrong(from, "a name that the object does not have yet");
            RAMPART_TRY(auto one, value(depth));
            out.emplace(name, std::move(one));
        }
        ++at_;
        return json::value(std::move(out));
    }

    /// Reads an array behind its bracket: to its end, of a count, or of a type and a count.
    Result<json::value> array(size_t depth) {
        if (next_is('$')) return numbers();
        json::array out;
        if (next_is('#')) {
            ++at_;
            RAMPART_TRY(const size_t count, length("the count of an array", 1));
            for (size_t i = 0; i < count; ++i) {
                RAMPART_TRY(auto one, value(depth));
                out.push_back(std::move(one));
            }
            return json::value(std::move(out));
        }
        while (!next_is(']')) {
            RAMPART_TRY(auto one, value(depth));
            out.push_back(std::move(one));
        }
        ++at_;
        return json::value(std::move(out));
    }

    /// Reads an array of one type. Only numbers: an array of nulls could be of any count in a few
    /// bytes.
    Result<json::value> numbers() {
        ++at_;
        if (left() == 0 || size_of(bytes_[at_]) == 0)
            return wrong(at_, "the type of an array's numbers, one of i U I l L d D");
        const char type = bytes_[at_++];
        RAMPART_RETURN_IF_ERROR(expect('#', "the count of an array"));
        RAMPART_TRY(const size_t count, length("the count of an array", size_of(type)));
        json::array out;
        out.reserve(count);
        for (size_t i = 0; i < count; ++i) out.push_back(number(type));
        return json::value(std::move(out));
    }

    std::string_view bytes_;
    size_t at_ = 0;
};

}  // namespace

bool is_ubjson(std::string_view bytes) {
    return bytes.size() > 1 && bytes[0] == '{' &&
           (kIntegers.find(bytes[1]) != std::string_view::npos || bytes[1] == '$' ||
            bytes[1] == '#');
}

base::Result<json::value> read_ubjson(std::string_view bytes) { return UbjsonReader(bytes).read(); }

}  // namespace rampart::model_exchange
