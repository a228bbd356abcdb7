// Package render converts what a controller describes into the objects that are deployed: the forms of objects that it
// may pass, layers of values, and the order of objects.
package render
