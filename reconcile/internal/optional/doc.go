// Package optional checks methods that a value may have and needn't: interfaces that are found by a type assertion,
// where a slip in a signature would go unnoticed.
package optional
