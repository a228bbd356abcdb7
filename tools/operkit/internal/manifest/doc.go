// Package manifest writes the YAML of an operator's folder config: definitions as controller-gen writes them, and lines
// that are added to files which people edit.
//
// A line is inserted as text, and only if parsing the file afterwards gives its former content plus that line.
// Otherwise the file stays as it is, and the error is ErrNoPlace.
package manifest
