#include "base/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

namespace hedgerow {

namespace {

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }
  void add(const char* bytes, std::size_t count) { EVP_DigestUpdate(context_.get(), bytes, count); }
  std::string finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int length = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &length);
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (unsigned int i = 0; i < length; ++i) {
      text += digits[digest[i] >> 4];
      text += digits[digest[i] & 15];
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256_of(std::string_view bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.finish();
}

result<std::string> sha256_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{Errc::io, path.string() + ": " + std::strerror(errno)};

  Digest digest;
  std::vector<char> buffer(1 << 18);
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    digest.add(buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) return Error{Errc::io, path.string() + ": " + std::strerror(errno)};
  return digest.finish();
}

}  // namespace hedgerow
