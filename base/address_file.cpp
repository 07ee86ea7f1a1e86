#include "base/address_file.hpp"

#include <fstream>
#include <system_error>

namespace hedgerow {

result<void> write_address_file(const std::filesystem::path& path, const std::string& address, std::uint16_t port) {
  if (path.empty()) return {};
  const std::filesystem::path draft = path.string() + ".tmp";
  std::ofstream file(draft);
  file << address << ":" << port << "\n";
  file.close();
  if (!file) return Error{Errc::io, draft.string() + ": cannot be written"};
  std::error_code error;
  std::filesystem::rename(draft, path, error);
  if (error) return Error{Errc::io, path.string() + ": " + error.message()};
  return {};
}

}  // namespace hedgerow
