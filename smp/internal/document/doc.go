// Package document holds JSON values as plain Go: nil, bool, string, int64, float64, json.Number,
// map[string]any and []any. It reads them from text and writes them, copies and compares them.
//
// Numbers keep their exact value. An integer becomes an int64. Any other number becomes a float64, if the float64 is
// written back as the same number. A number that neither can hold becomes a [encoding/json.Number]. Two numbers are
// equal if they have the same value, whatever their Go type and notation.
//
// Every function is bounded in depth, so data that contains itself causes an error and not an endless loop. No function
// changes its input. All functions may be called concurrently on the same values as long as nobody writes to the
// values.
//
// For values of Go structs, or for streams of values, use encoding/json.
package document
