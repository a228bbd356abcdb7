// Package composite runs the controllers that a CompositeController of metacontroller defines, on package desired: a
// hook returns the children and the status of a parent, and this package applies them.
package composite
