// Package audit reads the audit log of an API server and counts the calls in it.
//
// Use it to assert what a program asked of the API server, and not only what state came of it: a settled operator
// makes no writes, one edit makes exactly as many as objects changed. [Log] reads a file of JSON lines
// (audit.k8s.io/v1, any level) between two positions, [Calls] filters and counts.
//
// The API server writes a request's line before the client sees the end of the answer when its audit log works in
// blocking mode. Then [Log.Await], for a request of one's own sent last, makes counting exact: everything answered
// before is in the file. A request that a client gave up may be written later.
//
// Don't use it where a program's own counter is enough, or against a cluster whose log rotates: positions are offsets
// into one file.
package audit
