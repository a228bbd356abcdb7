// Package structs reads Go structs as the JSON documents that they encode to, without encoding them: it finds the field
// of a key, and converts a value to its document.
//
// The fields of a type are computed once and cached. The packages status and readiness use this package. Only MakeAt
// writes to its argument.
package structs
