// Package applyset tests that the ApplySets of module deploy are compatible with the real kubectl, on one control
// plane. Each side continues a set of the other, finds the members that the other one has created, and respects the
// sets of other tools.
//
// It holds tests only. Tests of deploy's ApplySets that need no kubectl and no cluster are in deploy.
package applyset
