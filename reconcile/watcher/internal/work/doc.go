// Package work decides what a watcher is called for next about the object of one name: which events are left to
// deliver, which call is to be repeated, and when. It has no client, and no clock but the times that it is given.
//
// An event of the object makes a call due at once. A call that fails is repeated as the retry policy says, with the
// latest state of the object, and there is at most one repetition for a watcher and an object. Until the first call for
// an object has succeeded, every call is that first call again.
//
// # States
//
// The fields of a Work that tell its states apart:
//
//	state                               called  handled  over        gone   next call
//	no object of the name               false   false    nil         false  none
//	created, and not called yet         false   false    nil         false  Create
//	Create runs, or has failed          true    false    nil         false  Create, for an event or as retry says
//	handled                             true    true     nil         false  Update or Resync, for an event or as retry says
//	gone after a call                   false   false    last state  true   Delete, at once
//	Delete runs, or has failed          false   false    last state  false  Delete, as retry says
//
// In the last two states, called and handled are already about the next object of the name, which waits until Delete
// has ended. In any state, runs is true while a call is being made, and life is the number of the present object, by
// which a call that ends recognizes that its object is gone.
package work
