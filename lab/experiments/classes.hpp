// `hedgerow-lab experiment classes`: interactive queries beside batch queries of many partitions.
//
// Question: how long do interactive queries wait on a leaf beside batch work, with one class for all, with two classes,
// and with two classes whose work is cut into partitions that interleave?
// Expected: hardly at all with the last. By classes alone an interactive query still waits for the batch call that runs;
// cut into partitions, for one partition of it.
// Source: "The Tail at Scale" (Dean and Barroso, 2013), "Differentiating service classes" and "Reducing head-of-line
// blocking" (which give no figures); the mean waits have closed forms:
//   one class, whole calls     Pollaczek and Khinchine: W = R / (1 - rho), R = sum of lambda E[S^2] / 2 over all calls
//   two classes, whole calls   Cobham (1954), work is not interrupted: W = R / (1 - rho of the interactive)
//   two classes, interleaved   the same, with R of the partitions: what runs is never more than one partition
#pragma once

#include "lab/experiments/experiment.hpp"

namespace hedgerow::lab {

// One worker; interactive queries of one partition, batch calls of many; both arrive by Poisson processes, and a partition
// always takes the same time.
struct ClassesModel {
  double partition_ms;
  double batch_partitions;             // of a call
  double interactive_load, batch_load; // utilisation by each
};
// Mean waits of interactive queries, in milliseconds.
double wait_alone_ms(const ClassesModel& model);
double wait_in_one_class_ms(const ClassesModel& model);
double wait_by_class_ms(const ClassesModel& model);
double wait_interleaved_ms(const ClassesModel& model);

Experiment classes_experiment();

}  // namespace hedgerow::lab
