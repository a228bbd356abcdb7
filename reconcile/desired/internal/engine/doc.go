// Package engine brings parents and their children to what the functions of a user want. It knows nothing of the types
// of users; package desired puts them above it. What is to be done is decided by the pure packages answer and plan.
//
// One pass over a parent goes through the files in this order: reconciler, pass (finalizer and rounds), observe and
// adopt (what a function gets), compare (which children differ), carryout (the writes), report (the status).
package engine
