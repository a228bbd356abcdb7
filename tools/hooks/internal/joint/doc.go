// Package joint runs several reconcilers of one kind as one. An engine has one reconciler for each kind, and several
// definitions may have the same kind of parents.
package joint
