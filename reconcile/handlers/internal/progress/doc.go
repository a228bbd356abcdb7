// Package progress keeps account of the handlers that are called for one cause of one object: which have ended, which
// are tried again, and when. A cycle lasts until all of them have ended.
//
// It has no clock and writes nothing: a cycle is a value that is stored on the object while it lasts, so that a restart
// repeats no handler that has ended.
package progress
