// Package diff compares two values as they are in objects: maps, lists, text, booleans, numbers and nil.
//
// Nil and an absent field are the same. Maps are compared key by key, and lists as a whole. Numbers are equal if their
// values are, whatever their types; a boolean is no number.
package diff
