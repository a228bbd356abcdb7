// Package version says which version comes after another one, by what has changed.
package version
