// Package yaml reads and writes the values of package document as YAML.
//
// Texts are read as kubectl reads them (YAML 1.1, where an unquoted yes is true), and strictly: a key that a map has
// twice, a second document, and a number that can't be kept exactly are errors. Written texts read back as the same
// value, and are easy to read: in blocks, with strings of several lines as lines.
//
// For reading into Go structs use sigs.k8s.io/yaml.
package yaml
