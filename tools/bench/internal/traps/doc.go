// Package traps checks whether operators behave correctly in situations in which operators often make mistakes. Each
// situation, a trap, has a Bundle of its own, and each result has its evidence.
//
// An operator is judged by the objects in the cluster and by the audit log. If it doesn't reach the expected state in
// time, that is a result, too. An error means that a trap couldn't be set up.
package traps
