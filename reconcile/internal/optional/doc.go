// Package optional handles what a caller may leave out: options, and optional methods of a value. The interfaces of such
// methods are found by type assertions, so a mistake in a signature would otherwise go unnoticed.
package optional
