// Package gotype reads the types of documents from Go structs, by the rules of encoding/json and
// the struct tags patchStrategy and patchMergeKey.
//
// Use it for typed objects of a user and for generating the table of the built-in kinds. Kinds
// without a Go type are read by package openapi.
package gotype
