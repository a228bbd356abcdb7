// Package plain converts content to the plain form, in which objects are held: maps, lists, text, booleans, int64 and
// float64, as they come from a cluster.
//
// Use it where content comes from an author's code, which may hold any Go types. Content that was read from a cluster,
// or from JSON by apimachinery, is plain already.
package plain
