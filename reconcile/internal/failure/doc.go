// Package failure recognizes errors by their types, and turns panics of a user's functions into errors.
package failure
