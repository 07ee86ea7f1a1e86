#include "index/database_label.hpp"

#include "index/engine_error.hpp"

namespace hedgerow {

namespace {

constexpr const char* metadata_key = "hedgerow";

std::string to_text(const DatabaseLabel& label) {
  return label.kind + " " + std::to_string(label.number) + ", generation " + std::to_string(label.generation.value) +
         ", " + std::to_string(label.documents) + " documents";
}

}  // namespace

void write_label(Xapian::WritableDatabase& database, const DatabaseLabel& label) {
  database.set_metadata(metadata_key, to_text(label));
}

result<Xapian::Database> open_labelled(const std::filesystem::path& file, const DatabaseLabel& expected) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return Error{Errc::not_found, file.string() + ": no such file"};
  return translating_exceptions(file.string(), [&]() -> result<Xapian::Database> {
    Xapian::Database database(file.string());
    const std::string found = database.get_metadata(metadata_key);
    if (found != to_text(expected)) {
      return Error{Errc::corrupt, file.string() + ": holds '" + found + "', expected is '" + to_text(expected) + "'"};
    }
    return database;
  });
}

}  // namespace hedgerow
