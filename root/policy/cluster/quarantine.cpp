#include "root/policy/cluster/quarantine.hpp"

#include <algorithm>

namespace hedgerow::policy {

namespace {

// So many bytes at most that no character of UTF-8 is cut.
std::size_t whole_characters(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text.size();
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return most;
}

}  // namespace

const Quarantine::Entry* Quarantine::refuse(const std::string& fingerprint, Instant now) {
  if (!find_quarantined(fingerprint, now)) return nullptr;
  Record& record = *record_by_fingerprint_.at(fingerprint);
  ++record.entry.refused;
  return &record.entry;
}

const Quarantine::Entry* Quarantine::find_quarantined(const std::string& fingerprint, Instant now) {
  const auto found = find(fingerprint, now);
  return found == records_.end() || !holds(*found, now) ? nullptr : &found->entry;
}

bool Quarantine::is_safe(const std::string& fingerprint) {
  const auto found = safe_by_fingerprint_.find(fingerprint);
  if (found == safe_by_fingerprint_.end()) return false;
  safe_.splice(safe_.begin(), safe_, found->second);
  return true;
}

std::uint32_t Quarantine::suspicions(const std::string& fingerprint, Instant now) {
  const auto found = find(fingerprint, now);
  if (found == records_.end()) return 0;
  const std::uint32_t parole = found->convictions > 0 ? suspicions_for_conviction - 1 : 0;
  return std::max(found->suspicions, parole);
}

void Quarantine::on_safe(const std::string& fingerprint) {
  if (const auto found = record_by_fingerprint_.find(fingerprint); found != record_by_fingerprint_.end()) {
    Record& record = *found->second;
    record.suspicions = record.convictions = 0;
    record.quarantined = false;
    if (record.losses == 0) erase(found->second);
  }
  if (is_safe(fingerprint)) return;
  if (settings_.most_safe == 0 || fingerprint.size() > settings_.most_safe_bytes) return;
  while (safe_.size() >= settings_.most_safe || safe_bytes_ + fingerprint.size() > settings_.most_safe_bytes) {
    forget_safe(std::string(safe_.back()));
  }
  safe_.push_front(fingerprint);
  safe_by_fingerprint_.emplace(safe_.front(), safe_.begin());
  safe_bytes_ += fingerprint.size();
}

void Quarantine::on_undecided(const std::string& fingerprint, std::uint32_t suspicions, Instant now) {
  if (suspicions <= this->suspicions(fingerprint, now)) return;
  record(fingerprint, now).suspicions = suspicions;
}

void Quarantine::on_guilty(const std::string& fingerprint, std::string_view shown, QuarantineReason reason,
                           std::vector<LeafId> leaves, Instant now) {
  forget_safe(fingerprint);
  convict(record(fingerprint, now), reason, std::move(leaves), shown, now);
}

void Quarantine::lift(const std::string& fingerprint, std::uint32_t suspicions, Instant now) {
  const auto found = find(fingerprint, now);
  if (found == records_.end() || !found->quarantined) return;
  found->quarantined = false;
  if (found->convictions > 0) --found->convictions;
  found->suspicions = suspicions;
  if (found->suspicions + found->losses + found->convictions == 0) erase(found);
}

void Quarantine::on_leaves_lost(const std::string& fingerprint, std::string_view shown, std::vector<LeafId> leaves,
                                Instant began, Instant now) {
  forget_safe(fingerprint);
  Record& held = record(fingerprint, now);
  if (held.last_loss && began <= *held.last_loss) return;
  held.last_loss = now;
  if (++held.losses < losses_for_conviction) return;
  held.losses = 0;
  convict(held, QuarantineReason::lost_leaves, std::move(leaves), shown, now);
}

void Quarantine::on_answered_whole(const std::string& fingerprint) {
  const auto found = record_by_fingerprint_.find(fingerprint);
  if (found == record_by_fingerprint_.end()) return;
  Record& record = *found->second;
  record.losses = 0;
  if (record.suspicions + record.convictions == 0 && !record.quarantined) erase(found->second);
}

void Quarantine::convict(Record& record, QuarantineReason reason, std::vector<LeafId> leaves, std::string_view shown,
                         Instant now) {
  Duration time = settings_.time;
  for (std::uint32_t i = 0; i < record.convictions && time < settings_.longest_time; ++i) time *= 2;
  ++record.convictions;
  record.suspicions = 0;
  record.quarantined = time > Duration::zero();
  record.entry.id = ++last_id_;
  record.entry.shown = shown.substr(0, whole_characters(shown, longest_shown));
  record.entry.reason = reason;
  record.entry.leaves = std::move(leaves);
  record.entry.since = now;
  record.entry.until = now + std::min(time, std::max(settings_.longest_time, settings_.time));
  record.entry.refused = 0;
}

std::vector<Quarantine::Entry> Quarantine::entries(Instant now) {
  std::vector<Entry> out;
  for (const Record& record : records_) {
    if (holds(record, now)) out.push_back(record.entry);
  }
  return out;
}

std::size_t Quarantine::quarantined(Instant now) const {
  return static_cast<std::size_t>(
      std::count_if(records_.begin(), records_.end(), [&](const Record& record) { return holds(record, now); }));
}

std::size_t Quarantine::clear(Instant now) {
  const std::size_t count = quarantined(now);
  record_by_fingerprint_.clear();
  records_.clear();
  return count;
}

bool Quarantine::clear(std::uint64_t id, Instant now) {
  const auto found = std::find_if(records_.begin(), records_.end(),
                                  [&](const Record& record) { return record.entry.id == id && holds(record, now); });
  if (found == records_.end()) return false;
  erase(found);
  return true;
}

Quarantine::Records::iterator Quarantine::find(const std::string& fingerprint, Instant now) {
  const auto found = record_by_fingerprint_.find(fingerprint);
  if (found == record_by_fingerprint_.end()) return records_.end();
  const Record& record = *found->second;
  const Instant counts_from = record.convictions > 0 ? std::max(record.changed, record.entry.until) : record.changed;
  if (now - counts_from <= settings_.memory) return found->second;
  erase(found->second);
  return records_.end();
}

Quarantine::Record& Quarantine::record(const std::string& fingerprint, Instant now) {
  auto found = find(fingerprint, now);
  if (found == records_.end()) {
    if (records_.size() >= std::max<std::size_t>(settings_.most_records, 1)) {
      const auto idle = std::find_if(records_.rbegin(), records_.rend(), [&](const Record& r) { return !holds(r, now); });
      erase(idle == records_.rend() ? std::prev(records_.end()) : std::prev(idle.base()));
    }
    records_.emplace_front();
    records_.front().entry.fingerprint = fingerprint;
    found = records_.begin();
    record_by_fingerprint_.emplace(found->entry.fingerprint, found);
  }
  records_.splice(records_.begin(), records_, found);
  found->changed = now;
  return *found;
}

void Quarantine::erase(Records::iterator record) {
  record_by_fingerprint_.erase(record->entry.fingerprint);
  records_.erase(record);
}

void Quarantine::forget_safe(const std::string& fingerprint) {
  const auto found = safe_by_fingerprint_.find(fingerprint);
  if (found == safe_by_fingerprint_.end()) return;
  const auto place = found->second;
  safe_bytes_ -= place->size();
  safe_by_fingerprint_.erase(found);
  safe_.erase(place);
}

}  // namespace hedgerow::policy
