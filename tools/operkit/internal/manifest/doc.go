// Package manifest writes the YAML of an operator's folder config: definitions as controller-gen writes them, and lines
// that are added to files which people edit.
//
// A line is added as text, and only if the file then says what it said before and that line: else the file is left as
// it is, and the error is ErrNoPlace.
package manifest
