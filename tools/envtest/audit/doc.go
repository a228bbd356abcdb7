// Package audit reads the audit log of an API server and counts the calls in it.
//
// Use it to assert the requests of a program in addition to the resulting state: an operator without work makes no
// writes, and after an edit it makes one write for each object that has to change. [Log] reads a file of JSON lines
// (audit.k8s.io/v1, any level) between two positions. [Calls] filters and counts.
//
// When its audit log works in blocking mode, the API server writes a request's line before the client sees the end of
// the response. To count exactly, send a request of your own last and call [Log.Await] for it: afterwards the file has
// all requests that were answered before. A request that its client has cancelled may be written later.
//
// Don't use it where a program's own counter is enough, or against a cluster whose log rotates: positions are offsets
// into one file.
package audit
