// Package value compares single values of objects.
package value
