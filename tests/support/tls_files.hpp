#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>

#include "rampart/base/file.hpp"
#include "rampart/http/tls.hpp"
#include "support/program.hpp"

namespace rampart::test_support {

/// Certificates of an authority of its own, made by the program openssl, in a folder that ends with
/// it.
class TlsFolder {
  public:
    TlsFolder() {
        static std::atomic<int> made{0};
        folder_ = std::filesystem::path(testing::TempDir()) /
                  fmt::format("tls.{}.{}", ::getpid(), made++);
        std::filesystem::create_directories(folder_);
        authority("ca");
    }
    ~TlsFolder() { std::filesystem::remove_all(folder_); }
    TlsFolder(const TlsFolder&) = delete;
    TlsFolder& operator=(const TlsFolder&) = delete;

    std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

    /// Makes NAME.pem and NAME.key of an authority.
    void authority(const std::string& name) {
        openssl("req -x509 -days 30 " + kNewKey + "-keyout " + name + ".key -out " + name +
                ".pem -subj '/CN=authority " + name + "'");
    }
    /// Makes NAME.pem and NAME.key, signed by an authority. `names`: "IP:127.0.0.1,DNS:a".
    void certificate(const std::string& name, const std::string& names = "IP:127.0.0.1",
                     int days = 30, const std::string& by = "ca") {
        request(name);
        write("names", "subjectAltName=" + names + "\n");
        openssl(
            fmt::format("x509 -req -in {0}.csr -CA {1}.pem -CAkey {1}.key -CAcreateserial "
                        "-days {2} -extfile names -out {0}.pem",
                        name, by, days));
    }
    /// Makes NAME.pem and NAME.key of a certificate that begins in the year 2090.
    void certificate_of_the_future(const std::string& name) {
        request(name);
        write("index", "");
        write("ca.cnf",
              "[ca]\ndefault_ca=d\n[d]\ndatabase=index\nnew_certs_dir=.\nserial=serial\ndefault_md="
              "sha256\n"
              "policy=p\n[p]\ncommonName=supplied\n");
        openssl(
            fmt::format("ca -batch -notext -rand_serial -config ca.cnf -cert ca.pem -keyfile "
                        "ca.key -startdate 20900101000000Z -enddate 20910101000000Z -in "
                        "{0}.csr -out {0}.pem",
                        name));
    }
    void write(const std::string& name, const std::string& text) const {
        EXPECT_TRUE(base::write_file_atomically(folder_ / name, text));
    }
    /// Puts a certificate and its key where others were.
    void replace(const std::string& name, const std::string& by) const {
        for (const char* kind : {".pem", ".key"}) {
            std::filesystem::copy_file(folder_ / (by + kind), folder_ / (name + kind),
                                       std::filesystem::copy_options::overwrite_existing);
        }
    }
    void openssl(const std::string& arguments) const {
        const auto ran = run_program("cd " + folder_.string() + " && openssl " + arguments);
        EXPECT_EQ(ran.exit_code, 0) << arguments << "\n" << ran.output;
    }
    http::TlsFiles server(const std::string& name) const {
        http::TlsFiles files;
        files.certificate = folder_ / (name + ".pem");
        files.key = folder_ / (name + ".key");
        return files;
    }
    http::ClientTls client(const std::string& name = {}) const {
        http::ClientTls tls;
        tls.ca = folder_ / "ca.pem";
        if (name.empty()) return tls;
        tls.certificate = folder_ / (name + ".pem");
        tls.key = folder_ / (name + ".key");
        return tls;
    }

  private:
    void request(const std::string& name) const {
        openssl("req " + kNewKey + "-keyout " + name + ".key -out " + name +
                ".csr -subj /CN=" + name);
    }

    const std::string kNewKey = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes ";
    std::filesystem::path folder_;
};

}  // namespace rampart::test_support
