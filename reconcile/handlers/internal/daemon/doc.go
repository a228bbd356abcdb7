// Package daemon keeps the daemons of objects: functions that run in the background, one goroutine for each daemon of
// an object, until the object no longer wants them.
//
// Each pass over an object calls Keep with the daemons that the object is to have, or Stop with the reason why it is to
// have none. Between the passes the Keeper does only what can't wait: it stops daemons when the operator ends or loses
// its leadership, or when their time is over, and abandons those that don't return. Whenever a daemon has returned or
// is abandoned, the Keeper brings its object to reconcile, and the next pass decides what follows: there are no timers
// for restarts.
//
//	waiting ──► running ──► stopping ──► (none)
//	   ▲          │  │         │
//	   └── error ─┘  │         └──► abandoned ──► (none)
//	                 └──► ended, failed
//
// An object has at most one goroutine for each id. A daemon that was abandoned keeps its place until it returns, so the
// object gets no other daemon of the same id before that. The package uses no client and writes nothing.
package daemon
