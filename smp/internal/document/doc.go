// Package document holds JSON values as plain Go: nil, bool, string, int64, float64, json.Number,
// map[string]any and []any. It reads them from text and writes them, copies and compares them.
//
// Numbers keep what their text says: an integer becomes an int64; another number a float64 where
// that is written back as the same number; a [encoding/json.Number] where neither can hold it. Two
// numbers are equal when they are the same number, however they are held or written.
//
// Every function is bounded in depth, so that data that contains itself is an error and no endless
// loop. None changes its input, and all may be called concurrently on the same values as long as
// nobody writes to them.
//
// For values of Go structs, or for streams of values, use encoding/json.
package document
