#pragma once

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "exact_json.hpp"
#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/certification/reasons.hpp"

namespace rampart::certification {

/// One description of a record's members serves to write and to read it:
///     template <class A> void members(A& a, Point& p) { a("x", p.x); a("y", p.y); }
/// Canonical: members in the order described, no spaces, numbers in shortest form. A reader
/// therefore checks the form by writing what it read and comparing. A member that came later is
/// written `unless_default`, so that what was stored before it still reads and writes the same.

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsArray : std::false_type {};
template <class T, size_t N>
struct IsArray<std::array<T, N>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// Values of an enumeration, each with a to_string. Specialised where the enumerations are known.
template <class E>
struct EnumValues;

class JsonWriter {
  public:
    template <class T>
    static std::string write(const T& value) {
        JsonWriter writer;
        writer.put(value);
        return std::move(writer.out_);
    }

    template <class T>
    void operator()(std::string_view name, const T& value) {
        out_ += first_ ? '{' : ',';
        first_ = false;
        put_string(name);
        out_ += ':';
        put(value);
    }

    template <class T>
    void unless_default(std::string_view name, const T& value) {
        if constexpr (IsVector<T>::value) {
            if (!value.empty()) (*this)(name, value);
        } else {
            if (value != T{}) (*this)(name, value);
        }
    }

  private:
    template <class T>
    void put(const T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            out_ += value ? "true" : "false";
        } else if constexpr (std::is_arithmetic_v<T>) {
            put_number(value);
        } else if constexpr (std::is_enum_v<T>) {
            put_string(to_string(value));
        } else if constexpr (std::is_same_v<T, std::string>) {
            put_string(value);
        } else if constexpr (std::is_same_v<T, base::TimePoint>) {
            put_string(base::to_iso8601(value));
        } else if constexpr (std::is_same_v<T, base::Digest>) {
            put_string(value.hex());
        } else if constexpr (IsOptional<T>::value) {
            value ? put(*value) : void(out_ += "null");
        } else if constexpr (IsVector<T>::value || IsArray<T>::value) {
            out_ += '[';
            for (size_t i = 0; i < value.size(); ++i) {
                if (i > 0) out_ += ',';
                put(value[i]);
            }
            out_ += ']';
        } else {
            first_ = true;
            members(*this, const_cast<T&>(value));  // only reads
            out_ += '}';
            first_ = false;
        }
    }

    template <class T>
    void put_number(T value) {
        if constexpr (std::is_floating_point_v<T>) {
            if (!std::isfinite(value)) {
                out_ += "null";  // minus infinity: no bound
                return;
            }
            if (value == 0) value = 0;  // "-0" would be read back as the integer 0
        }
        char text[40];
        out_.append(text, std::to_chars(text, text + sizeof text, value).ptr);
    }

    void put_string(std::string_view text) {
        static constexpr char kHex[] = "0123456789abcdef";
        out_ += '"';
        for (const char c : text) {
            if (c == '"' || c == '\\') {
                out_ += '\\';
                out_ += c;
            } else if (static_cast<unsigned char>(c) < 0x20) {
                out_ += "\\u00";
                out_ += kHex[c >> 4];
                out_ += kHex[c & 15];
            } else {
                out_ += c;
            }
        }
        out_ += '"';
    }

    std::string out_;
    bool first_ = true;
};

class JsonReader {
  public:
    /// Reads a value. Errors: data_loss naming the member; also when the text is not JsonWriter's
    /// for the value.
    template <class T>
    static base::Result<T> read(std::string_view text) {
        RAMPART_TRY(const boost::json::value parsed, parse_exactly(text));
        JsonReader reader;
        T value{};
        reader.get(parsed, value);
        if (!reader.error_.empty()) {
            return base::make_error(Reason::kBadMember, "member '{}': {}", reader.path_,
                                    reader.error_);
        }
        if (JsonWriter::write(value) != text) {
            return base::make_error(
                Reason::kNotCanonical,
                "the text is not in canonical form (unknown, repeated or reordered "
                "members, spaces, or another form of a number)");
        }
        return value;
    }

    template <class T>
    void operator()(std::string_view name, T& value) {
        if (!error_.empty()) return;
        const size_t length = path_.size();
        path_.append(path_.empty() ? "" : ".").append(name);
        const boost::json::value* found = object_->if_contains(name);
        found != nullptr ? get(*found, value) : fail("is missing");
        if (error_.empty()) path_.resize(length);
    }

    template <class T>
    void unless_default(std::string_view name, T& value) {
        if (object_->if_contains(name) != nullptr) (*this)(name, value);
    }

  private:
    void fail(std::string_view why) {
        if (error_.empty()) error_ = why;
    }

    template <class T>
    void get(const boost::json::value& json, T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            json.is_bool() ? void(value = json.get_bool()) : fail("is not true or false");
        } else if constexpr (std::is_floating_point_v<T>) {
            get_double(json, value);
        } else if constexpr (std::is_integral_v<T>) {
            const bool fits =
                json.is_int64() && json.get_int64() >= 0 &&
                static_cast<uint64_t>(json.get_int64()) <= std::numeric_limits<T>::max();
            fits ? void(value = static_cast<T>(json.get_int64())) : fail("is not a count in range");
        } else if constexpr (IsOptional<T>::value) {
            if (json.is_null()) return;
            get(json, value.emplace());
        } else if constexpr (IsVector<T>::value || IsArray<T>::value) {
            get_sequence(json, value);
        } else if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string> &&
                             !std::is_same_v<T, base::TimePoint> &&
                             !std::is_same_v<T, base::Digest>) {
            if (!json.is_object()) return fail("is not an object");
            const boost::json::object* outer = object_;
            object_ = &json.get_object();
            members(*this, value);
            object_ = outer;
        } else {
            json.is_string() ? get_text(std::string_view(json.get_string()), value)
                             : fail("is not a string");
        }
    }

    static constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

    void get_double(const boost::json::value& json, double& value) {
        if (json.is_null())
            value = kMinusInfinity;
        else if (json.is_double())
            value = json.get_double();
        else if (json.is_int64())
            value = static_cast<double>(json.get_int64());
        else if (json.is_uint64())
            value = static_cast<double>(json.get_uint64());
        else
            fail("is not a number");
    }

    template <class T>
    void get_sequence(const boost::json::value& json, T& value) {
        if (!json.is_array()) return fail("is not an array");
        const auto& array = json.get_array();
        if constexpr (IsVector<T>::value) value.resize(array.size());
        if (array.size() != value.size()) return fail("has another length");
        for (size_t i = 0; i < array.size() && error_.empty(); ++i) get(array[i], value[i]);
    }

    template <class T>
    void get_text(std::string_view text, T& value) {
        if constexpr (std::is_same_v<T, std::string>) {
            value = text;
        } else if constexpr (std::is_enum_v<T>) {
            for (const T candidate : EnumValues<T>::kAll) {
                if (to_string(candidate) == text) return void(value = candidate);
            }
            fail("is not one of the known words");
        } else if constexpr (std::is_same_v<T, base::TimePoint>) {
            const auto time = base::parse_iso8601(text);
            time ? void(value = *time) : fail("is not a time");
        } else {
            const auto digest = base::Digest::from_hex(text);
            digest ? void(value = *digest) : fail("is not a SHA-256");
        }
    }

    const boost::json::object* object_ = nullptr;
    std::string path_, error_;
};

}  // namespace rampart::certification
