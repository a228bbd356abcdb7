// Package engine has no code: its tests let an operator of reconcile, reconcile/watch and deploy/cluster run in a
// process of its own, against a control plane that goes away and comes back, and look at what it asks for, says and
// keeps in memory.
package engine
