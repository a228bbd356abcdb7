// Package work decides what a watcher is called for next about the object of one name: which events are left to
// deliver, which call is to be repeated, and when. It has no client, and no clock but the times that it is given.
//
// An event of the object makes a call due at once. A call that fails is repeated as the retry policy says, with the
// latest state of the object, and there is at most one repetition for a watcher and an object. Until the first call for
// an object has succeeded, every call is that first call again.
package work
