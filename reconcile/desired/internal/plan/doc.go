// Package plan decides what has to be done so that the children of a parent become the wanted ones. It is pure: it
// knows no client and no clock, and remembers nothing, so that a restart changes no decision.
package plan
