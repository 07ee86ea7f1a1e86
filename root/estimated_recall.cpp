#include "root/estimated_recall.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "index/fields.hpp"
#include "index/scoring.hpp"

namespace hedgerow::root {

namespace {

constexpr std::size_t most_words_of_kinds = 4;  // 3^4 kinds
// How far scores of one kind lie around their middle, in idf of each word (by a sweep over two collections).
constexpr double spread_of_scores = 0.3;
// One hit stands for at most so many times as many unseen ones as it would by the share of documents alone.
constexpr double most_unseen = 5;
// Of the tilt: beyond it only documents with the heaviest word count.
constexpr double steepest = 14;
// Long queries: the score that a word gives at most, in idf; and no document is expected to have all of all words.
constexpr double long_text_score = 2.4, long_title_score = 3.2, reachable = 0.95;

struct Totals {
  double documents = 0;
  double answered = 0;
};

Totals totals_of(const RecallQuestion& question) {
  Totals totals;
  for (std::size_t p = 0; p < question.answered.size(); ++p) {
    const auto documents = static_cast<double>(question.partition_documents[p]);
    totals.documents += documents;
    if (question.answered[p]) totals.answered += documents;
  }
  return totals;
}

double sum(const std::vector<std::uint32_t>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// The share of weight that lies in partitions which answered; `otherwise` where nothing weighs anything.
template <class WeightOf>
double answered_share(const RecallQuestion& question, double otherwise, WeightOf weight_of) {
  double all = 0, answered = 0;
  for (std::size_t p = 0; p < question.answered.size(); ++p) {
    if (question.partition_documents[p] == 0) continue;
    const double weight = weight_of(p, static_cast<double>(question.partition_documents[p]));
    all += weight;
    if (question.answered[p]) answered += weight;
  }
  return all > 0 ? answered / all : otherwise;
}

double in_text(const WordSpread& word, std::size_t partition, double documents) {
  return static_cast<double>(word.documents[partition] - std::min(word.documents[partition], word.titles[partition])) / documents;
}
double in_title(const WordSpread& word, std::size_t partition, double documents) {
  return std::min<double>(word.documents[partition], word.titles[partition]) / documents;
}

// Everything that matches is wanted: documents with any of the words.
double share_of_matches(const RecallQuestion& question, double otherwise) {
  return answered_share(question, otherwise, [&](std::size_t p, double documents) {
    double none = 1;
    for (const auto& word : question.words) none *= 1 - static_cast<double>(word.documents[p]) / documents;
    return documents * (1 - none);
  });
}

// One kind of document: how many there are, the share of them in partitions that answered, and where their scores lie.
struct Kind {
  double count, share, middle, spread;
};

std::vector<Kind> kinds_of(const RecallQuestion& question) {
  enum : std::size_t { absent, text, title, states };
  std::size_t number = 1;
  for (std::size_t i = 0; i < question.words.size(); ++i) number *= states;
  std::vector<Kind> kinds;
  for (std::size_t code = 1; code < number; ++code) {  // 0: holds no word at all
    Kind kind{0, 0, 0, 0};
    std::size_t rest = code;
    for (const auto& word : question.words) {
      const auto state = rest % states;
      rest /= states;
      if (state == absent) continue;
      kind.middle += word.idf * (state == title ? question.title_score : question.text_score);
      kind.spread += word.idf * word.idf;
    }
    kind.spread = spread_of_scores * std::sqrt(kind.spread);
    kind.share = answered_share(question, 0, [&](std::size_t p, double documents) {
      double here = documents;
      for (std::size_t i = 0, left = code; i < question.words.size(); ++i, left /= states) {
        const double in_p_text = in_text(question.words[i], p, documents), in_p_title = in_title(question.words[i], p, documents);
        here *= left % states == absent ? 1 - in_p_text - in_p_title : left % states == text ? in_p_text : in_p_title;
      }
      kind.count += here;
      return here;
    });
    if (kind.count > 1e-12 && kind.spread > 0) kinds.push_back(kind);
  }
  return kinds;
}

// How many documents the whole collection has for each one like this that was seen.
double stands_for(double score, const std::vector<Kind>& kinds, double share_of_documents) {
  double seen = 0, in_all = 0;
  for (const Kind& kind : kinds) {
    const double off = (score - kind.middle) / kind.spread;
    const double density = kind.count * std::exp(-off * off / 2) / kind.spread;
    seen += density * kind.share;
    if (kind.share > 0) in_all += density;  // of kinds that are nowhere here it cannot be
  }
  return seen > 0 ? std::min(in_all / seen, most_unseen / share_of_documents) : 1 / share_of_documents;
}

// How many documents that score more are expected of kinds of which no partition that answered holds any.
double hidden_above(double score, const std::vector<Kind>& kinds) {
  double hidden = 0;
  for (const Kind& kind : kinds) {
    if (kind.share == 0) hidden += kind.count * std::erfc((score - kind.middle) / kind.spread / std::sqrt(2)) / 2;
  }
  return hidden;
}

double by_kinds(const RecallQuestion& question, double share_of_documents) {
  const auto kinds = kinds_of(question);
  const auto k = static_cast<double>(question.k);
  double unhidden = 0, seen = 0, in_all = 0;
  for (const double score : question.scores) {
    const double before = in_all;
    unhidden += stands_for(score, kinds, share_of_documents);
    in_all = unhidden + hidden_above(score, kinds);
    if (in_all >= k) return (seen + std::max(0.0, (k - before) / (in_all - before))) / k;
    ++seen;
  }
  return seen / in_all;
}

double by_tilt(const RecallQuestion& question, double documents, double share_of_documents) {
  struct Word {
    double text_score, title_score, text_share, title_share;
  };
  std::vector<Word> words;
  double highest = 0, heaviest = 0;
  for (const auto& word : question.words) {
    const double titles = std::min(sum(word.titles), sum(word.documents));
    words.push_back({long_text_score * word.idf, long_title_score * word.idf, (sum(word.documents) - titles) / documents,
                     titles / documents});
    const double most = titles > 0 ? words.back().title_score : words.back().text_score;
    highest += most;
    heaviest = std::max(heaviest, words.back().title_score);
  }
  // The hit that will be about the last of the true top k.
  const auto rank = static_cast<std::size_t>(std::ceil(static_cast<double>(question.k) * share_of_documents));
  const double wanted = std::min(question.scores[std::clamp<std::size_t>(rank, 1, question.scores.size()) - 1], reachable * highest);
  const auto mean_score = [&](double tilt) {
    double mean = 0;
    for (const Word& word : words) {
      const double text = word.text_share * std::exp(tilt * word.text_score), title = word.title_share * std::exp(tilt * word.title_score);
      mean += (text * word.text_score + title * word.title_score) / (1 - word.text_share - word.title_share + text + title);
    }
    return mean;
  };
  double low = 0, tilt = steepest / heaviest;
  for (int step = 0; step < 24; ++step) {
    const double middle = (low + tilt) / 2;
    (mean_score(middle) < wanted ? low : tilt) = middle;
  }
  return answered_share(question, share_of_documents, [&](std::size_t p, double in_partition) {
    double logarithm = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      logarithm += std::log1p(in_text(question.words[i], p, in_partition) * std::expm1(tilt * words[i].text_score) +
                              in_title(question.words[i], p, in_partition) * std::expm1(tilt * words[i].title_score));
    }
    return in_partition * std::expm1(logarithm);
  });
}

}  // namespace

double estimated_recall(const RecallQuestion& asked) {
  RecallQuestion question = asked;
  std::erase_if(question.words, [](const WordSpread& word) { return sum(word.documents) == 0 || word.idf <= 0; });
  const Totals totals = totals_of(question);
  if (totals.answered >= totals.documents) return 1;
  if (totals.answered == 0) return 0;
  const double share_of_documents = totals.answered / totals.documents;
  if (question.words.empty()) return share_of_documents;
  double recall;
  if (question.scores.size() < question.k) {
    recall = share_of_matches(question, share_of_documents);
  } else if (question.words.size() <= most_words_of_kinds) {
    recall = by_kinds(question, share_of_documents);
  } else {
    recall = by_tilt(question, totals.documents, share_of_documents);
  }
  return std::clamp(recall, 0.0, 1.0);
}

RecallQuestion recall_question(const QueryPlan& plan, const CollectionStatistics& statistics, const Manifest& manifest,
                               const Completeness& completeness, const std::vector<MergedHit>& hits, std::size_t k) {
  RecallQuestion question;
  question.k = k;
  for (const auto& partition : manifest.partitions) question.partition_documents.push_back(partition.documents);
  question.answered.assign(manifest.partitions.size(), true);
  if (completeness.missing.empty()) return question;
  for (const auto& missing : completeness.missing) question.answered[missing.partition.value] = false;
  for (const auto& hit : hits) {
    if (question.answered[hit.partition.value]) question.scores.push_back(hit.hit.score);
  }
  const auto spread = [&](const std::string& term) {
    std::vector<std::uint32_t> by_partition(manifest.partitions.size(), 0);
    for (const auto& [partition, documents] : statistics.partitions_of(term)) by_partition[partition.value] = documents;
    return by_partition;
  };
  for (const auto& term : plan.terms) {
    const auto title_term = fields::title_term_of(term.term);
    if (!title_term) continue;  // a filter, an id, a name: scores nothing, or stands for one document
    question.words.push_back({inverse_document_frequency(plan.collection_documents, term.document_frequency), spread(term.term),
                              spread(*title_term)});
  }
  const auto& bm25 = manifest.bm25;
  const auto score_of = [&](double occurrences) { return (bm25.k1 + 1) * occurrences / (bm25.k1 + occurrences); };
  question.text_score = score_of(1);
  question.title_score = score_of(1 + manifest.title_weight);
  return question;
}

}  // namespace hedgerow::root
