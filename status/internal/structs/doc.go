// Package structs looks at Go structs as at the JSON documents that they
// encode to: which field stands at a key, and what the document would be,
// without encoding anything.
//
// What is known of a type is worked out once and kept. It is shared by the
// packages status and readiness and never writes to what it is given, apart
// from Settle.
package structs
