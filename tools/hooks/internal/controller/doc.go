// Package controller runs the controllers that definitions define, on package desired: a hook returns the children and
// the status of a parent, and this package applies them. A parent of a Decorator has a controller of its own; the hook
// returns what is added to it.
package controller
