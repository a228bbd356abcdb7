// Package applyset holds the ApplySets of the module deploy against the real kubectl, on one control plane: each goes
// on with a set where the other left off, in both directions, finds the members that the other made, and respects the
// sets of other tools.
//
// It holds tests only. What deploy does with a set by itself is tested without a cluster, in deploy.
package applyset
