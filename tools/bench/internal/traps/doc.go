// Package traps asks of an operator what is right, not what is quick: it is led where operators often go wrong, each
// time with a Bundle of its own, and what comes of it is told with the evidence.
//
// An operator is judged by what it leaves in the cluster and by the audit log. That it doesn't get where it should in
// time is an answer, too; an error is what keeps a trap from being set.
package traps
