#include "root/recording_file.hpp"

#include "base/log.hpp"

namespace hedgerow::root {

namespace {

constexpr std::size_t written_at_once = 64 << 10;

}  // namespace

result<std::unique_ptr<RecordingFile>> RecordingFile::create(const std::filesystem::path& path, std::uint64_t most_bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) return Error{Errc::io, "cannot write " + path.string()};
  return std::unique_ptr<RecordingFile>(new RecordingFile(std::move(file), path.string(), most_bytes));
}

RecordingFile::RecordingFile(std::ofstream file, std::string name, std::uint64_t most_bytes)
    : file_(std::move(file)), name_(std::move(name)), room_(most_bytes) {}

RecordingFile::~RecordingFile() {
  if (!ended_) write();
}

void RecordingFile::add(std::string_view line) {
  if (ended_) return;
  if (line.size() + 1 > room_) return end("full");
  room_ -= line.size() + 1;
  lines_ += line;
  lines_ += '\n';
  if (lines_.size() >= written_at_once) write();
}

void RecordingFile::write() {
  file_.write(lines_.data(), static_cast<std::streamsize>(lines_.size()));
  file_.flush();
  lines_.clear();
  if (!file_ && !ended_) end("cannot be written");
}

void RecordingFile::end(std::string_view why) {
  ended_ = true;
  if (file_) write();
  file_.close();
  log_event(LogLevel::warning, "recording_ended", {{"file", name_}, {"reason", why}});
}

}  // namespace hedgerow::root
