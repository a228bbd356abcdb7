// Package engine has no code: its tests run an operator, made of reconcile, reconcile/watch and deploy/cluster, as a
// separate process. Its control plane stops and starts again. The tests check the operator's requests, its log and its
// memory.
package engine
