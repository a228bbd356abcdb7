// Package objects holds observed objects by kind, sorted by namespace and name.
package objects
