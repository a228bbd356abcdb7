// Package structs reads Go structs as the JSON documents that they encode to: which field has a key, and what the
// document would be, without encoding anything.
//
// What is known of a type is computed once and cached. The packages status and readiness use it. It never writes to its
// arguments, apart from MakeAt.
package structs
