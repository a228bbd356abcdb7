// Package yaml reads and writes the values of package document as YAML.
//
// Texts are read as kubectl reads them (YAML 1.1, where an unquoted yes is true), and strictly: a key
// that a map has twice, a second document, and a number that couldn't be held exactly are errors.
// They are written so that they read back as the same value, and so that people like to read them:
// in blocks, with texts of several lines as lines.
//
// For reading into Go structs use sigs.k8s.io/yaml.
package yaml
