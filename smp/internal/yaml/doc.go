// Package yaml reads and writes the values of package document as YAML.
//
// Texts are read as kubectl reads them (YAML 1.1, where an unquoted yes is true), and strictly: a key that a map has
// twice, a second document, and a number that can't be kept exactly are errors. A written text is read back as the same
// value. It is written in blocks, and a string of several lines is written on several lines.
//
// For reading into Go structs use sigs.k8s.io/yaml.
package yaml
