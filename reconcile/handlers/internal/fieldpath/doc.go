// Package fieldpath reads and writes the paths of fields: spec.size, or metadata.annotations['example.dev/a'] for a key
// that has a dot or a slash.
package fieldpath
