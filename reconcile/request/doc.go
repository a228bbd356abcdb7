// Package request holds what passes between the engine that decides when an object is
// reconciled and whatever reconciles it: the key, the request, the result, and the errors
// that say when to try again.
//
// Both sides import it and neither imports the other, so that several styles of operator
// run on one engine. Use it to write either side. Don't use it for anything else: it does
// nothing by itself.
package request
