// Package optional checks optional methods of a value. Their interfaces are found by type assertions, so a mistake in a
// signature would otherwise go unnoticed.
package optional
