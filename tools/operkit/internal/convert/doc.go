// Package convert writes the Go functions that convert a kind between two versions, from the Go types of both: they copy
// each field that both versions have with the same name and an equal type. A comment stands for each other field.
//
// Types are compared as source text, and no package is loaded: a type of another package is equal to itself only, and
// generic types and interfaces with methods count as different.
package convert
