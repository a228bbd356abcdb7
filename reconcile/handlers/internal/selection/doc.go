// Package selection decides which handlers are called for an object, by their causes and filters.
package selection
