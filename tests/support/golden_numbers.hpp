#pragma once

#include <gtest/gtest.h>

#include <charconv>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "support/places.hpp"

namespace rampart::test {

/// Reads numbers from a JSON file of golden figures, by following keys from left to right:
/// number({"bounds", "lcb_t"}), array({"Z", "ips"}). Only for files of this project: not a general
/// JSON reader.
class GoldenNumbers {
  public:
    explicit GoldenNumbers(const std::string& file) {
        std::ifstream in(test_support::source_dir() + "/tests/golden/" + file);
        std::stringstream text;
        text << in.rdbuf();
        text_ = text.str();
        EXPECT_FALSE(text_.empty()) << file;
    }

    double number(std::initializer_list<std::string> keys) const {
        size_t at = find(keys);
        return read(at);
    }

    std::vector<double> array(std::initializer_list<std::string> keys) const {
        size_t at = find(keys);
        std::vector<double> values;
        while (at < text_.size() && text_[at] != ']') values.push_back(read(at));
        return values;
    }

  private:
    size_t find(std::initializer_list<std::string> keys) const {
        size_t at = 0;
        for (const std::string& key : keys) {
            at = text_.find("\"" + key + "\":", at);
            EXPECT_NE(at, std::string::npos) << key;
            if (at == std::string::npos) return text_.size();
            at += key.size() + 3;
        }
        return at;
    }
    /// Returns the next number; `at` is then at the character that ends it.
    double read(size_t& at) const {
        at = text_.find_first_of("-0123456789", at);
        double value = 0;
        if (at == std::string::npos) {
            ADD_FAILURE() << "no number";
            at = text_.size();
            return value;
        }
        const auto end = std::from_chars(text_.data() + at, text_.data() + text_.size(), value);
        at = text_.find_first_of(",]}", static_cast<size_t>(end.ptr - text_.data()));
        return value;
    }
    std::string text_;
};

}  // namespace rampart::test
